/** One turn: what was asked, then its steps while it runs, then its answer. */

import { call } from "./api.js";
import { answerView } from "./answer.js";
import { announce, focusOn, freshId, h } from "./dom.js";
import { problemBox } from "./problem.js";
import { Progress } from "./progress.js";
import { followUps } from "./questions.js";
import { saveLinks } from "./saving.js";
import { traceView } from "./trace.js";
import { words } from "./words.js";

/** @typedef {import("./types.js").Answer} Answer */
/** @typedef {import("./types.js").View} View */
/** @typedef {import("./types.js").Feedback} Feedback */
/** @typedef {import("./types.js").Review} Review */
/** @typedef {import("./types.js").Ranked} Ranked */
/** @typedef {import("./types.js").Translate} Translate */

/**
 * @typedef {object} Setting What a turn needs to know of its session.
 * @property {() => string} path of the session, below api/
 * @property {string[]} scopes of the key
 * @property {(message: string) => void} say
 * @property {Translate} t the reader's words
 * @property {string} language the reader's
 */

export class TurnView {
  /**
   * @param {string} asked
   * @param {number} number
   * @param {Setting} setting
   * @param {Ranked[]} before the differential of the turn before
   */
  constructor(asked, number, setting, before) {
    this.number = number;
    this.setting = setting;
    this.before = before;
    /** @type {Answer | null} */
    this.answer = null;
    /** @type {Progress | null} */
    this.progress = null;
    this.kept = false; // the server holds it
    this.reviewed = false;
    /** @type {import("./composer.js").With | undefined} */
    this.extra = undefined;
    const id = freshId("turn");
    const t = setting.t;
    this.title = h("h2", { id, class: "small muted", tabindex: -1 }, t("turn", { n: number }));
    this.place = h("div", {});
    this.edit = h("button", { type: "button", class: "quiet edit", hidden: true }, t("edit"));
    const message = h("div", { class: "message" }, h("p", { class: "unseen" }, `${t("you")}:`), h("p", { class: "asked" }, asked), this.edit);
    this.view = h("article", { class: "turn", "aria-labelledby": id }, this.title, message, this.place);
  }

  /** Shows the steps of a turn that begins, or goes on. */
  begin() {
    this.progress = new Progress(this.setting.t, this.setting.language, this.before);
    this.place.replaceChildren(this.progress.view);
    return this.progress;
  }

  /**
   * @param {Answer} answer
   * @param {View} view as it is shown
   * @param {{review?: Review | null, feedback?: Feedback | null, fresh?: boolean, last: boolean}} how
   */
  show(answer, view, { review = null, feedback = null, fresh = false, last }) {
    this.answer = answer;
    this.reviewed = Boolean(review);
    this.number = answer.turn || this.number;
    const { setting, before } = this;
    const onReview = this.may("review") ? this.save.bind(this) : null;
    const held = this.place.contains(document.activeElement);
    const loud = fresh && !this.alarmed();
    const onFeedback = this.saveFeedback.bind(this);
    const path = `${setting.path()}/turns/${this.number}`;
    const files = (/** @type {Translate} */ t) => saveLinks(setting.path(), this.number, t);
    const found = () => call("GET", `${path}/how`);
    const trace = this.trace();
    const say = last ? setting.say : null;
    this.place.replaceChildren(answerView(answer, view, { review, onReview, feedback, onFeedback, files, path, say, before, loud, found, trace }));
    this.progress = null;
    if (held) focusOn(this.title);
    if (fresh) this.tell(answer, view);
  }

  /** Whether an emergency was spoken while the turn ran: once is enough. */
  alarmed() {
    return this.progress?.alarmed ?? false;
  }

  /** Says the direct answer to a screen reader, and what is asked. @param {Answer} answer @param {View} view */
  tell(answer, view) {
    const t = this.setting.t;
    const lead = [view.lead.head, ...view.lead.lines.map((line) => line.text)].filter(Boolean).join(" ");
    const said = lead ? t("answerReady", { lead }) : t("answerAbstained");
    const question = answer.follow_up_questions[0];
    announce(question ? `${said} ${t("asksNext", { question: question.text })}` : said);
  }

  /** It is the last turn no more: its question keeps its words and loses its buttons. */
  settle() {
    const asked = this.place.querySelector(".follow-up");
    if (asked && this.answer?.follow_up_questions.length) {
      asked.replaceWith(followUps(this.answer.follow_up_questions, null, words(this.answer.language)));
    }
    this.place.querySelector(".suggestions")?.remove();
  }

  /** A turn that was cut off, with the button that finishes it. @param {() => void} resume */
  cutOff(resume) {
    const t = this.setting.t;
    const button = h("button", { type: "button", click: resume }, t("resume"));
    this.place.replaceChildren(h("div", { class: "cut-off" }, h("p", {}, h("strong", {}, "⚠ ", t("cutOff"))), button));
  }

  /** @param {unknown} error @param {{label: string, act: () => void} | null} again */
  fail(error, again) {
    const held = this.place.contains(document.activeElement);
    const box = problemBox(error, this.setting.t, again);
    this.place.replaceChildren(...[box, this.progress?.folded()].filter((part) => part !== undefined));
    this.progress = null;
    if (held) focusOn(box);
  }

  /** @param {string} scope */
  may(scope) {
    return this.setting.scopes.includes(scope);
  }

  trace() {
    if (!this.may("traces")) return null;
    return traceView(() => call("GET", `${this.setting.path()}/turns/${this.number}/trace`), this.setting.t);
  }

  /** @param {string} verdict @param {string} correction @returns {Promise<Review>} */
  async save(verdict, correction) {
    const turn = await call("PUT", `${this.setting.path()}/turns/${this.number}/review`, { verdict, correction });
    this.reviewed = this.edit.hidden = true; // what a clinician has reviewed stays
    return turn.review;
  }

  /** @param {boolean} helpful @param {string} reason @returns {Promise<Feedback>} */
  async saveFeedback(helpful, reason) {
    const turn = await call("PUT", `${this.setting.path()}/turns/${this.number}/feedback`, { helpful, reason });
    return turn.feedback;
  }
}
