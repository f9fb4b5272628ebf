/** The completeness gate's decision: the verdict, then every sentence with its label as letter, word and colour. */

import { h } from "./dom.js";

/** @typedef {import("./types.js").Gate} Gate */
/** @typedef {import("./types.js").Translate} Translate */

/**
 * The verdict in one line.
 *
 * @param {Gate} gate
 * @param {Translate} t
 */
export function verdict(gate, t) {
  const values = { score: figure(gate.score, gate), theta1: figure(gate.theta1, gate), theta2: figure(gate.theta2, gate) };
  const why = byScore(gate) ? t("gateScore", values) : t(gate.reason);
  return `${t(`gate_${gate.decision}`)} (${why})`;
}

/**
 * The sentences and what the decision hangs on.
 *
 * @param {Gate} gate
 * @param {Translate} t
 */
export function units(gate, t) {
  const rows = gate.units.map((unit, place) => {
    const turning = gate.turning && gate.turning.unit === place ? gate.turning : null;
    return h(
      "li",
      { class: `unit label-${/^[ABC]$/.test(unit.label) ? unit.label : "C"}` },
      h("span", { class: "badge label" }, t(`label_${unit.label}`)),
      " ",
      h("span", { class: "unit-text" }, unit.text),
      " ",
      h("span", { class: "small muted" }, unit.reason),
      turning ? h("p", { class: "small" }, "★ ", t("turning", { decision: t(`short_${turning.decision}`) })) : null,
    );
  });
  return h(
    "div",
    {},
    h("ol", { class: "units" }, rows),
    gate.missing.length ? h("p", {}, t("missing", { missing: gate.missing.join(", ") })) : null,
    gate.question ? h("p", {}, t("supply", { question: gate.question })) : null,
  );
}

/** Whether the score against the thresholds made the decision. @param {Gate} gate */
function byScore(gate) {
  const same = gate.score > gate.theta1 ? "direct" : gate.score < gate.theta2 ? "retrieve_with_warning" : "retrieve";
  return same === gate.decision && !MADE_WITHOUT.has(gate.reason);
}

// reasons of decisions that no score made, as the gate writes them
const MADE_WITHOUT = new Set([
  "a question about no particular patient is answered from evidence",
  "no disease that the graph holds explains these findings well, so evidence is retrieved",
  "it is not likely enough that a disease that the graph holds explains these findings, so evidence is retrieved",
  "too much of the case was not understood, so evidence is retrieved",
  "the gate is switched off: every question is retrieved for",
  "the gate is switched off: nothing is retrieved",
]);

/** As many digits as tell score and thresholds apart, two at least. @param {number} value @param {Gate} gate */
function figure(value, gate) {
  const all = [gate.score, gate.theta1, gate.theta2];
  const digits = [2, 3, 4].find((n) => new Set(all.map((v) => v.toFixed(n))).size === new Set(all).size) ?? 4;
  return value.toFixed(digits);
}
