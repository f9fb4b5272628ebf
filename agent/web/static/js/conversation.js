/** A session: its turns, what can be done with it, and the next message. */

import { call, freshKey, Problem, turn } from "./api.js";
import { Composer } from "./composer.js";
import { announce, focusOn, h, replace } from "./dom.js";
import { problemBox } from "./problem.js";
import { sessionHead } from "./session-head.js";
import { TurnView } from "./turn.js";

/** @typedef {import("./types.js").SessionRecord} SessionRecord */
/** @typedef {import("./types.js").TurnRecord} TurnRecord */
/** @typedef {import("./types.js").Answer} Answer */
/** @typedef {import("./types.js").View} View */
/** @typedef {import("./types.js").Ranked} Ranked */
/** @typedef {import("./types.js").Me} Me */
/** @typedef {import("./types.js").Translate} Translate */
/** @typedef {import("./composer.js").With} With */

/** Sessions whose turn this page has begun: on coming back to one it is followed, not offered to be finished. */
const running = new Set();
const REFUSED = [400, 401, 403, 404, 409, 413, 422]; // the message was not taken; sending it again would not help

/**
 * @typedef {object} Frame What the page around a conversation offers it.
 * @property {Me} me
 * @property {Translate} t
 * @property {string} language
 * @property {(session: SessionRecord) => void} opened a new session has its first message
 * @property {(id: string) => Promise<SessionRecord | undefined>} changed a session has changed; gives it as it is now
 * @property {() => void} gone the session is deleted
 * @property {(error: unknown) => boolean} signedOut shows the log-in where that is what is wrong
 */

export class Conversation {
  /**
   * @param {Frame} frame
   * @param {SessionRecord | null} session
   * @param {TurnRecord[]} records
   * @param {Record<string, import("./types.js").View>} views of the answered turns, by their number
   */
  constructor(frame, session, records, views) {
    this.frame = frame;
    this.session = session;
    this.busy = false;
    /** @type {TurnView[]} */
    this.turns = [];
    const send = (/** @type {string} */ text, /** @type {With} */ extra) => this.take(text, extra);
    this.composer = new Composer(send, (file) => this.put(file), () => void this.stop(), frame.t);
    this.head = h("div", { class: "session-head" });
    this.list = h("div", { class: "turns" });
    const drop = (/** @type {DragEvent} */ event) => this.composer.dropped(event);
    this.view = h("div", { class: "conversation", dragover: drop, drop }, this.head, this.list, this.composer.view);
    this.showHead();
    if (session) void this.showDocuments();
    records.forEach((record, i) => this.restore(record, views[record.turn], i === records.length - 1));
    this.offerEdit();
  }

  /** What Escape does: it stops the turn that runs, else leaves the message as it was sent. */
  escape() {
    if (this.busy) void this.stop();
    else if (this.composer.replaces) this.composer.letBe();
  }

  /** Stops the turn that runs; its answer then says so, to all who follow it. */
  async stop() {
    if (!this.busy || !this.session) return;
    announce(this.frame.t("stopping"));
    try {
      await call("POST", `${this.path()}/stop`);
    } catch (error) {
      const ended = error instanceof Problem && error.status === 409; // its answer is on the way
      if (!ended && !this.frame.signedOut(error)) this.turns.at(-1)?.view.append(problemBox(error, this.frame.t));
    }
  }

  /** Lets the last message be edited, while no turn runs. */
  offerEdit() {
    for (const view of this.turns) view.edit.hidden = this.busy || view !== this.turns.at(-1) || !view.kept || view.reviewed;
  }

  /** Whether a turn of this session was begun here and still runs. */
  follow() {
    const last = this.turns.at(-1);
    if (this.session && last && !last.answer && running.has(this.session.id)) this.resume(last);
  }

  showHead() {
    const { frame, session } = this;
    const example = (/** @type {string} */ text) => {
      this.composer.text.value = text;
      this.composer.text.focus();
    };
    const renamed = (/** @type {SessionRecord} */ record) => {
      this.session = record;
      this.showHead();
      void frame.changed(record.id);
    };
    replace(this.head, sessionHead(session, { t: frame.t, example, renamed, gone: frame.gone }));
  }

  path() {
    return `sessions/${encodeURIComponent(this.session?.id ?? "")}`;
  }

  /** @returns {Ranked[]} the differential as it was last told */
  ranking() {
    return this.turns.findLast((t) => t.answer?.differential.length)?.answer?.differential ?? [];
  }

  /** @param {string} asked @param {number} number */
  addTurn(asked, number) {
    const { t, me, language } = this.frame;
    const say = (/** @type {string} */ message) => {
      if (this.take(message, { given: [], report: false, documents: [] })) focusOn(this.turns.at(-1)?.title ?? this.list);
    };
    const setting = { path: () => this.path(), scopes: me.scopes, say, t, language };
    const view = new TurnView(asked, number, setting, this.ranking());
    view.edit.addEventListener("click", () => this.composer.edit(asked, { given: [], report: false, documents: [], ...view.extra, replaces: view.number }));
    this.turns.at(-1)?.settle();
    this.turns.push(view);
    this.list.append(view.view);
    return view;
  }

  /** @param {TurnRecord} record @param {import("./types.js").View | undefined} shown @param {boolean} last */
  restore(record, shown, last) {
    const view = this.addTurn(record.asked, record.turn);
    view.kept = true;
    if (record.answer && shown) view.show(record.answer, shown, { review: record.review, feedback: record.feedback, last });
    else view.cutOff(() => this.resume(view));
  }

  /** Takes a message, unless a turn runs. @param {string} text @param {With} extra */
  take(text, extra) {
    if (this.busy) {
      announce(this.frame.t("working"));
      return false;
    }
    const old = extra.replaces && this.turns.at(-1)?.number === extra.replaces ? this.turns.pop() : undefined;
    old?.view.remove();
    const view = this.addTurn(text, old?.number ?? (this.turns.at(-1)?.number ?? 0) + 1);
    view.extra = extra;
    this.ask(view, text, extra, freshKey(), old);
    return true;
  }

  /**
   * @param {TurnView} view
   * @param {string} text
   * @param {With} extra
   * @param {string} key
   * @param {TurnView} [old] the turn whose place it takes; it comes back where the message is refused
   */
  async ask(view, text, extra, key, old) {
    const { replaces } = extra;
    const body = { text, ...(extra.given.length ? { given: extra.given } : {}), ...(extra.report ? { report: true } : {}), ...(extra.documents.length ? { documents: extra.documents } : {}), ...(replaces ? { replaces } : {}) };
    const again = () => void this.ask(view, text, extra, key, old);
    const failed = (/** @type {unknown} */ error) => {
      const refused = error instanceof Problem && REFUSED.includes(error.status);
      if (refused) this.composer.giveBack(text, extra);
      if (refused && old) {
        view.view.before(old.view);
        this.turns.splice(this.turns.indexOf(view), 0, old);
      }
      view.fail(error, refused ? null : { label: this.frame.t("tryAgain"), act: again });
    };
    await this.run(view, failed, async (onStep) => {
      if (!this.session) await this.open();
      return turn(`${this.path()}/turns?view=true`, body, key, onStep);
    });
  }

  /** Finishes the turn that was cut off, or follows the one that runs. @param {TurnView} view */
  async resume(view) {
    const again = { label: this.frame.t("tryAgain"), act: () => void this.resume(view) };
    const failed = (/** @type {unknown} */ error) => view.fail(error, again);
    await this.run(view, failed, (onStep) => turn(`${this.path()}/resume?view=true`, {}, "", onStep));
  }

  /**
   * @param {TurnView} view
   * @param {(error: unknown) => void} failed
   * @param {(onStep: (step: import("./types.js").Step) => void) => Promise<{answer: Answer, view: View}>} work
   */
  async run(view, failed, work) {
    this.hold(true);
    const progress = view.begin();
    view.view.scrollIntoView({ block: "start" });
    try {
      const { answer, view: shown } = await work((step) => progress.add(step));
      view.kept = true;
      view.show(answer, shown, { fresh: true, last: view === this.turns.at(-1) });
    } catch (error) {
      if (!this.frame.signedOut(error)) failed(error);
    } finally {
      this.hold(false);
      await this.refresh();
    }
  }

  /** The session's title as the server made it of the first message. */
  async refresh() {
    const known = this.session;
    const record = await this.frame.changed(known?.id ?? "");
    if (!record || !known) return;
    this.session = record;
    if (record.title !== known.title) this.showHead();
  }

  /** @param {boolean} busy */
  hold(busy) {
    this.busy = busy;
    this.composer.hold(busy);
    this.offerEdit();
    if (this.session) running[busy ? "add" : "delete"](this.session.id);
  }

  /** Puts a file into the session, which is made where it is new. @param {File} file */
  async put(file) {
    if (!this.session) await this.open();
    return call("POST", `${this.path()}/documents?name=${encodeURIComponent(file.name)}`, file);
  }

  /** Shows what was put into the session before; without it nothing else is lost. */
  async showDocuments() {
    try {
      this.composer.holds((await call("GET", `${this.path()}/documents`)).documents);
    } catch (error) {
      this.frame.signedOut(error);
    }
  }

  /** Makes the session of a first message. */
  async open() {
    /** @type {SessionRecord} */
    const session = await call("POST", "sessions", {});
    this.session = session;
    running.add(session.id);
    this.showHead();
    this.frame.opened(session);
  }
}
