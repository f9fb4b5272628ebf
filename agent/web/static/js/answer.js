/**
 * An answer as the server presents it (`view`): what to do now, the direct answer, what it rests on, what to ask next,
 * sources, and folded how it was found.
 */

import { changesOf } from "./changes.js";
import { copyButton } from "./copying.js";
import { DifferentialTable } from "./differential.js";
import { h } from "./dom.js";
import { emergencyBox } from "./emergency.js";
import { originBadge } from "./evidence.js";
import { feedbackForm } from "./feedback.js";
import { foundView } from "./found.js";
import { units, verdict } from "./gate.js";
import { print } from "./printing.js";
import { followUps, suggestions } from "./questions.js";
import { reportView } from "./report.js";
import { reviewBox, REVIEW_NOTICE } from "./review.js";
import { citationButtons, lineView, Sources } from "./statements.js";
import { sourcesView } from "./sources.js";
import { studiesView } from "./studies.js";
import { words } from "./words.js";

/** @typedef {import("./types.js").Answer} Answer */
/** @typedef {import("./types.js").View} View */
/** @typedef {import("./types.js").Ranked} Ranked */
/** @typedef {import("./types.js").Translate} Translate */

const STOPPED = "stopped"; // the notice of a turn that was stopped

/**
 * @typedef {object} Around What an answer needs to know of where it stands.
 * @property {import("./types.js").Review | null} review
 * @property {((verdict: string, correction: string) => Promise<import("./types.js").Review>) | null} onReview null where
 *   the key may not
 * @property {import("./types.js").Feedback | null} feedback
 * @property {(helpful: boolean, reason: string) => Promise<import("./types.js").Feedback>} onFeedback
 * @property {(t: Translate) => HTMLElement[]} files links to the turn as a file
 * @property {string} path of the turn, below api/
 * @property {((message: string) => void) | null} say null where the turn is not the last
 * @property {Ranked[]} before the differential of the turn before
 * @property {boolean} loud an emergency is to be spoken at once
 * @property {() => Promise<import("./found.js").HowFound>} found fetches how it was found
 * @property {HTMLElement | null} trace null where the key may not see it
 */

/**
 * @param {Answer} answer
 * @param {View} view
 * @param {Around} around
 */
export function answerView(answer, view, around) {
  const t = words(answer.language);
  if (answer.notices.some((n) => n.code === STOPPED)) return h("div", { class: "answer stopped", lang: answer.language }, h("p", {}, h("strong", {}, "■ ", view.lead.head)));
  const sources = new Sources(answer, view);
  const lines = view.lines.map((line) => lineView(line, sources, t));
  const asking = answer.notices.find((n) => n.code === REVIEW_NOTICE)?.text;
  const review = reviewBox(answer, around.review, around.onReview, t);
  const first = asking || around.review;
  const changes = changesOf(around.path, t);
  return h(
    "div",
    { class: "answer", lang: answer.language },
    view.alerts.length ? emergencyBox(answer.emergency, t, around.loud) : null,
    dangersView(view),
    leadView(view, sources, Boolean(answer.verdict ?? answer.choice), t),
    boxView(view.box.filter((text) => text !== asking), first ? review : null, t),
    view.on_lead ? null : lines,
    view.ranking.rows.length ? rankingView(answer, view, sources, around.before, t) : null,
    view.ranking.left.map((text) => h("p", { class: "unexplained" }, text)),
    view.on_lead ? [h("h3", {}, view.on_lead), lines] : null,
    studiesView(view.studies, t),
    view.next.length ? followUps(view.next, around.say, t) : null,
    suggestions(view.suggested, around.say, t),
    answer.report ? reportView(view.report, sources, t) : null,
    sourcesView(view, sources, t),
    h("p", { class: "small labels" }, view.dates ? h("span", {}, view.dates) : null, view.labels.map(labelView)),
    h(
      "div",
      { class: "tools acts" },
      copyButton("copyAnswer", view.text, t),
      h("details", { class: "saves" }, h("summary", { class: "button quiet" }, t("shareFile")), h("div", { class: "tools" }, around.files(t))),
      h("button", { type: "button", class: "quiet", click: print }, t("print")),
      changes.button,
      feedbackForm(around.feedback, around.onFeedback, t),
    ),
    changes.place,
    first ? null : review,
    howView(answer, view, around, t),
  );
}

/**
 * What stands of an answer that is not whole yet, in the order and the words of `answerView`; no sources are there yet.
 *
 * @param {View} view
 * @param {string} language
 */
export function verifiedView(view, language) {
  const t = words(language);
  return h(
    "div",
    { class: "verified", lang: language },
    dangersView(view),
    leadView(view, null, false, t),
    boxView(view.box, null, t),
    view.on_lead || view.ranking.rows.length ? null : view.lines.map((line) => lineView(line, null, t)),
  );
}

/** What must not be done. @param {View} view */
function dangersView(view) {
  if (!view.dangers.length) return null;
  return h("div", { class: "notice danger", role: "alert" }, view.dangers.map((text) => h("p", {}, h("strong", {}, "⚠ ", text))));
}

/**
 * The direct answer.
 *
 * @param {View} view
 * @param {Sources | null} sources
 * @param {boolean} judged its head is a verdict or a choice, which the lines below it carry
 * @param {Translate} t
 */
function leadView(view, sources, judged, t) {
  const { head, lines, facts, unverified } = view.lead;
  if (!head && !lines.length) return null;
  const opened = h("div", { class: "opened" });
  const marks = sources && judged && !unverified ? citationButtons(lines, sources, opened, t) : null;
  return h(
    "section",
    { class: "lead", "aria-label": t("statements") },
    h("h3", { class: "unseen" }, t("statements")),
    head ? h("p", { class: "head" }, h("strong", {}, head), " ", marks, unverified ? originBadge("parametric", t) : null) : null,
    marks ? opened : null,
    lines.map((line) => lineView(line, sources, t)),
    facts.map((fact) => h("p", { class: "small muted" }, fact)),
  );
}

/** The one box: what changes a decision, and the review that is asked for. @param {string[]} told @param {HTMLElement | null} review @param {Translate} t */
function boxView(told, review, t) {
  if (!told.length && !review) return null;
  return h("div", { class: "box", role: "note", "aria-label": t("notices") }, told.map((text) => h("p", {}, text)), review);
}

/** @param {Answer} answer @param {View} view @param {Sources} sources @param {Ranked[]} before @param {Translate} t */
function rankingView(answer, view, sources, before, t) {
  const table = new DifferentialTable(view.ranking.title, answer.language, t, before);
  table.marks = new Map(view.ranking.rows.map((row) => [row.disease, row.told]));
  table.sources = sources;
  table.update(answer.differential);
  return table.view;
}

/** A notice in a few words; the whole of it on a click. @param {import("./types.js").Label} label */
function labelView(label) {
  const { text, notice } = label;
  if (notice.text.startsWith(text)) return h("span", { class: "label-word" }, text);
  return h("details", { class: "label-word" }, h("summary", {}, text), h("span", {}, notice.text));
}

/** @param {Answer} answer @param {View} view @param {Around} around @param {Translate} t */
function howView(answer, view, around, t) {
  const gate = answer.gate
    ? h("div", { class: "gate" }, h("h4", {}, t("gate")), h("p", {}, verdict(answer.gate, t)), units(answer.gate, t))
    : null;
  const noted = view.how.length ? h("ul", { class: "small" }, view.how.map((text) => h("li", {}, text))) : null;
  const how = h("details", { class: "how" }, h("summary", {}, t("how")));
  how.append(foundView(how, around.found, t), ...[
    gate,
    noted,
    listed("rare", view.rare.map((row) => `${row.name} (${row.code}) ${row.share}`), t),
    listed("similar", view.records, t),
    listed("contrasts", answer.contrasts, t),
    around.trace,
    usageLine(answer, t),
  ].flat().filter((part) => part !== null));
  return how;
}

/** @param {string} title @param {string[]} texts @param {Translate} t */
function listed(title, texts, t) {
  const items = texts.map((text) => h("li", {}, text));
  return items.length ? h("details", { class: title }, h("summary", {}, t(title)), h("ul", { class: "small" }, items)) : null;
}

/** @param {Answer} answer @param {Translate} t */
function usageLine(answer, t) {
  const seconds = Object.values(answer.usage.seconds).reduce((sum, s) => sum + s, 0).toFixed(2);
  const { model_calls: calls, unpriced, cost } = answer.usage;
  const spent = unpriced && unpriced === calls ? t("noPrice") : t("cost", { cost: cost.toFixed(4) });
  const model = calls ? `; ${t("usageModel", { calls, cost: spent })}` : "";
  return h("p", { class: "small muted" }, t("usage", { tools: answer.usage.tool_calls, seconds }), model);
}
