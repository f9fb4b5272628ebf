/** An answer, in the order in which it must be read: emergency, review, answer, differential, question, sources. */

import { h } from "./dom.js";
import { DifferentialTable } from "./differential.js";
import { emergencyBox } from "./emergency.js";
import { card, originBadge } from "./evidence.js";
import { units, verdict } from "./gate.js";
import { followUps } from "./questions.js";
import { reportView } from "./report.js";
import { asksReview, reviewBox, REVIEW_NOTICE } from "./review.js";
import { Sources, statementView } from "./statements.js";
import { words } from "./words.js";

/** @typedef {import("./types.js").Answer} Answer */
/** @typedef {import("./types.js").Ranked} Ranked */
/** @typedef {import("./types.js").Translate} Translate */

/**
 * @typedef {object} Around What an answer needs to know of where it stands.
 * @property {import("./types.js").Review | null} review
 * @property {((verdict: string, correction: string) => Promise<import("./types.js").Review>) | null} onReview null where
 *   the key may not
 * @property {((message: string) => void) | null} say null where the turn is not the last
 * @property {Ranked[]} before the differential of the turn before
 * @property {boolean} loud an emergency is to be spoken at once
 */

/**
 * @param {Answer} answer
 * @param {Around} around
 */
export function answerView(answer, around) {
  const t = words(answer.language);
  const sources = new Sources(answer);
  const review = reviewBox(answer, around.review, around.onReview, t);
  const first = asksReview(answer) || around.review;
  return h(
    "div",
    { class: "answer", lang: answer.language },
    answer.emergency.length ? emergencyBox(answer.emergency, t, around.loud) : null,
    first ? review : null,
    ...dangers(answer).map((n) => h("p", { class: "notice danger", role: "alert" }, h("strong", {}, "⚠ ", n.text))),
    verdictView(answer, t),
    answer.outside ? h("p", { class: "outside", role: "note" }, h("strong", {}, t("outside"))) : null,
    choiceView(answer, t),
    statementsView(answer, sources, t),
    answer.differential.length ? differentialOf(answer, around.before, t) : null,
    ...leftOver(answer, t),
    answer.follow_up_questions.length ? followUps(answer.follow_up_questions, around.say, t) : null,
    answer.report ? reportView(answer.report, sources, t) : null,
    noticesView(answer, t),
    sourcesView(sources, t),
    gateView(answer, t),
    asideView(answer, t),
    first ? null : review,
    usageLine(answer, t),
  );
}

/**
 * What the leading disease leaves unexplained, what was not read, and what was read and not counted: a line each.
 * @param {Answer} answer
 * @param {Translate} t
 */
function leftOver(answer, t) {
  const left = { unexplained: answer.unexplained, unread: answer.unread, asides: answer.asides };
  return Object.entries(left).map(([name, said]) => said?.length ? h("p", { class: "unexplained" }, `${t(name)}: ${said.join("; ")}`) : null);
}

/** @param {Answer} answer @param {Sources} sources @param {Translate} t */
function statementsView(answer, sources, t) {
  if (!answer.statements.length) return answer.abstained ? h("p", {}, h("strong", {}, t("noAnswer"))) : null;
  return [h("h3", { class: "unseen" }, t("statements")), answer.statements.map((s) => statementView(s, sources, t))];
}

/** What the cited statements entail, its size, who was studied and how sure. @param {Answer} answer @param {Translate} t */
function verdictView(answer, t) {
  const verdict = answer.verdict;
  if (!verdict) return null;
  const facts = [
    ["effect", verdict.effect],
    ["population", verdict.population],
    ["certainty", t(`certainty_${verdict.certainty}`)],
    ["reason", verdict.reason],
  ].filter(([, told]) => told);
  return h(
    "section",
    { class: "choice", "aria-label": t("verdict") },
    h("h3", {}, `${t("verdict")}: ${t(`verdict_${verdict.value}`)}`),
    facts.map(([key, told]) => h("p", {}, `${t(`verdict_${key}`)}: ${told}`)),
  );
}

/** @param {Answer} answer @param {Translate} t */
function choiceView(answer, t) {
  const choice = answer.choice;
  if (!choice) return null;
  const label = choice.text === choice.label ? choice.label : `${choice.label}: ${choice.text}`;
  return h(
    "section",
    { class: "choice", "aria-label": t("choice") },
    h("h3", {}, t(choice.parametric ? "choiceUnsupported" : "choice")),
    h("p", {}, h("strong", {}, label)),
    choice.parametric ? originBadge("parametric", t) : null,
    choice.reason ? h("p", {}, choice.reason) : null,
  );
}

/** @param {Answer} answer @param {Ranked[]} before @param {Translate} t */
function differentialOf(answer, before, t) {
  const table = new DifferentialTable(answer.outside ? "closest" : "differential", answer.language, t, before);
  table.update(answer.differential);
  return table.view;
}

/** What must not be given: it leads the answer. @param {Answer} answer */
const dangers = (answer) => answer.notices.filter((n) => n.severity === "danger");

/** @param {Answer} answer @param {Translate} t */
function noticesView(answer, t) {
  const notices = answer.notices.filter((n) => n.code !== REVIEW_NOTICE && n.severity !== "danger"); // these stand above
  if (!notices.length) return null;
  const items = notices.map((n) =>
    h(
      "li",
      { class: `notice ${["warning", "danger"].includes(n.severity) ? n.severity : "info"}` },
      h("strong", {}, n.severity === "info" ? "ⓘ " : "⚠ ", t(`severity_${n.severity}`), ": "),
      n.text,
    ),
  );
  return h("section", { class: "notices", "aria-label": t("notices") }, h("ul", {}, items));
}

/** @param {Sources} sources @param {Translate} t */
function sourcesView(sources, t) {
  if (!sources.cited.length && !sources.beside.length) return null;
  const cited = sources.cited.map((item) =>
    card(item, { number: sources.numbers.get(item.id), quotes: sources.quotes.get(item.id), t }),
  );
  const beside = sources.beside.map((item) => card(item, { t }));
  return h(
    "section",
    { class: "sources", "aria-label": t("sources") },
    h("h3", {}, t("sources")),
    cited.length ? h("ul", { class: "cards" }, cited) : null,
    beside.length
      ? h("details", {}, h("summary", {}, t("alsoRead", { n: beside.length })), h("ul", { class: "cards" }, beside))
      : null,
  );
}

/** @param {Answer} answer @param {Translate} t */
function gateView(answer, t) {
  if (!answer.gate) return null;
  const summary = h("summary", {}, h("strong", {}, `${t("gate")}: `), verdict(answer.gate, t));
  return h("details", { class: "gate" }, summary, units(answer.gate, t));
}

/** Contrasts, similar records and rare diseases: whole, folded away. @param {Answer} answer @param {Translate} t */
function asideView(answer, t) {
  const rare = answer.rare_diseases.map((d) => h("li", {}, `${d.name} (${d.disease}) ${(d.score * 100).toFixed(1)}%`));
  const similar = answer.similar_records.map((r) => h("li", {}, h("code", {}, r.id), ` (${r.similarity.toFixed(2)}) ${r.diagnosis}: ${r.text}`));
  const contrasts = answer.contrasts.map((text) => h("li", {}, text));
  return [listed("rare", rare, t), listed("similar", similar, t), listed("contrasts", contrasts, t)];
}

/** @param {string} title @param {HTMLElement[]} items @param {Translate} t */
function listed(title, items, t) {
  return items.length ? h("details", {}, h("summary", {}, t(title)), h("ul", { class: "small" }, items)) : null;
}

/** @param {Answer} answer @param {Translate} t */
function usageLine(answer, t) {
  const seconds = Object.values(answer.usage.seconds).reduce((sum, s) => sum + s, 0).toFixed(2);
  const model = answer.usage.model_calls
    ? `; ${t("usageModel", { calls: answer.usage.model_calls, cost: answer.usage.cost.toFixed(4) })}`
    : "";
  return h("p", { class: "small muted" }, t("usage", { tools: answer.usage.tool_calls, seconds }), model);
}
