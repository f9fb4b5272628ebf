/** The report on a case, part by part, treatment by discipline. */

import { h } from "./dom.js";
import { lineView } from "./statements.js";

/** @typedef {import("./types.js").Part} Part */
/** @typedef {import("./types.js").Translate} Translate */

/**
 * @param {Part[]} report
 * @param {import("./statements.js").Sources} sources
 * @param {Translate} t
 */
export function reportView(report, sources, t) {
  const parts = report.map((part) => {
    const groups = part.groups.map(([discipline, lines]) => [
      discipline ? h("h5", {}, discipline) : null,
      lines.map((line) => lineView(line, sources, t)),
    ]);
    return [h("h4", {}, part.title), part.unknown ? h("p", { class: "muted" }, part.unknown) : groups];
  });
  return h("details", { class: "report", open: true }, h("summary", {}, h("strong", {}, t("report"))), parts);
}
