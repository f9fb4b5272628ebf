/** Follow-up questions: the first is pending and is answered by a button; its words go as the next message. */

import { freshId, h } from "./dom.js";

/** @typedef {import("./types.js").FollowUp} FollowUp */
/** @typedef {import("./types.js").Translate} Translate */

const PLACE = "pain-place"; // the question that is answered by a place
const CLOSED = /(?:^|, )(?:do|does|did|is|are|was|were|has|have|had|can|could|will|would)\b|吗\s*[?？]|是否|有没有|有无|会不会|是不是/i;

/**
 * @param {FollowUp[]} questions most useful first
 * @param {((message: string) => void) | null} say sends a message; null where the turn is not the last any more
 * @param {Translate} t
 */
export function followUps(questions, say, t) {
  const [first, ...later] = questions;
  if (!say) return h("p", { class: "follow-up asked" }, h("strong", {}, `${t("askedNext")}: `), first.text);
  return h(
    "section",
    { class: "follow-up", "aria-label": t("askNext") },
    h("h3", {}, t("askNext")),
    h("p", { class: "question" }, first.text),
    first.why ? h("p", { class: "small muted" }, `${t("why")}: ${first.why}`) : null,
    h("div", { class: "replies" }, buttons(first, say, t)),
    valueForm(first, say, t),
    later.length ? h("details", {}, h("summary", {}, t("askLater")), h("ol", {}, later.map((q) => laterOne(q, t)))) : null,
  );
}

/**
 * Messages that go on from the answer, as buttons; nothing where the turn is not the last any more.
 *
 * @param {string[]} texts
 * @param {((message: string) => void) | null} say
 * @param {Translate} t
 */
export function suggestions(texts, say, t) {
  if (!say || !texts.length) return null;
  const asks = texts.map((text) => h("button", { type: "button", class: "ask", click: () => say(text) }, text));
  return h("section", { class: "suggestions", "aria-label": t("suggested") }, h("span", { class: "small muted" }, `${t("suggested")}:`), asks);
}

/** @param {FollowUp} question @param {(message: string) => void} say @param {Translate} t */
function buttons(question, say, t) {
  /** @type {[string, string][]} */
  const replies = [[t("unknown"), t("sayUnknown")]];
  if (question.finding === PLACE) replies.unshift(...(question.replies ?? []).map(twice), [t("nowhere"), t("sayNo")]);
  else if (isClosed(question)) replies.unshift([t("yes"), t("sayYes")], [t("no"), t("sayNo")]);
  return replies.map(([label, words]) =>
    h("button", { type: "button", class: "reply", click: () => say(words), "aria-label": `${label}: ${question.text}` }, label),
  );
}

/** A label that is sent as it stands. @param {string} text @returns {[string, string]} */
function twice(text) {
  return [text, text];
}

/** Where words answer the question: a place, a side, a number. @param {FollowUp} question @param {(m: string) => void} say @param {Translate} t */
function valueForm(question, say, t) {
  if (isClosed(question)) return null;
  const id = freshId("value");
  const input = h("input", { id, type: "text", autocomplete: "off", maxlength: 200, required: true });
  const send = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (input.value.trim()) say(input.value.trim());
  };
  return h(
    "form",
    { class: "value", submit: send },
    h("label", { for: id }, t("yourAnswer")),
    input,
    h("button", { type: "submit", class: "reply" }, t("answerIt")),
  );
}

/** @param {FollowUp} question @param {Translate} t */
function laterOne(question, t) {
  return h("li", {}, question.text, question.why ? h("p", { class: "small muted" }, `${t("why")}: ${question.why}`) : null);
}

/** @param {FollowUp} question */
function isClosed(question) {
  return question.finding !== PLACE && CLOSED.test(question.text.trim());
}
