/** The report on a case, part by part, treatment by discipline. */

import { h } from "./dom.js";
import { statementView } from "./statements.js";

/** @typedef {import("./types.js").Report} Report */
/** @typedef {import("./types.js").ReportStatement} ReportStatement */
/** @typedef {import("./types.js").Translate} Translate */

const PARTS = ["diagnoses", "explanation", "treatment", "evaluations"];
const DISCIPLINES = ["medicines", "procedures", "physiotherapy", "psychology", "self_care", "general"];

/**
 * @param {Report} report
 * @param {import("./statements.js").Sources} sources
 * @param {Translate} t
 */
export function reportView(report, sources, t) {
  const parts = PARTS.map((part) => {
    const told = report.statements.filter((s) => s.part === part);
    const groups = [null, ...DISCIPLINES].map((discipline) => {
      const group = told.filter((s) => s.discipline === discipline);
      const title = discipline && group.length ? h("h5", {}, t(`discipline_${discipline}`)) : null;
      return [title, group.map((s) => statementView(s.statement, sources, t))];
    });
    return [h("h4", {}, t(`part_${part}`)), told.length ? groups : h("p", { class: "muted" }, t("nothingOnPart"))];
  });
  return h("details", { class: "report", open: true }, h("summary", {}, h("strong", {}, t("report"))), parts);
}
