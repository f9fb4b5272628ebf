/** The list of sessions, last used first. */

import { call } from "./api.js";
import { announce, h, replace } from "./dom.js";
import { problemBox } from "./problem.js";

/** @typedef {import("./types.js").SessionRecord} SessionRecord */
/** @typedef {import("./types.js").Translate} Translate */

const PAGE = 30; // ours: sessions fetched at once
const MOST = 200; // as the server allows
const PAUSE = 250; // ms; ours: how long nothing was typed before it is searched for

export class SessionList {
  /**
   * @param {HTMLElement} nav
   * @param {() => void} fresh begins a new session
   * @param {(error: unknown) => boolean} signedOut
   * @param {Translate} t
   */
  constructor(nav, fresh, signedOut, t) {
    this.nav = nav;
    this.fresh = fresh;
    this.signedOut = signedOut;
    this.t = t;
    this.current = "";
    /** @type {SessionRecord[]} */
    this.sessions = [];
    this.more = false;
    this.closed = false;
    this.wanted = "";
    let waiting = 0;
    this.search = h("input", { type: "search", class: "search", "aria-label": t("searchSessions"), placeholder: t("searchSessions"), maxlength: 200, autocomplete: "off", "data-focus": "search" });
    this.search.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => this.find(this.search.value.trim()), PAUSE);
    });
  }

  /** Lists the sessions whose title or messages hold a text. @param {string} text */
  async find(text) {
    this.wanted = text;
    await this.load(PAGE, "");
    announce(this.t("foundSessions", { n: this.sessions.length }));
  }

  /** Takes the list away; an answer that comes late shows nothing of it. */
  close() {
    this.closed = true;
    this.nav.replaceChildren();
  }

  /** Fetches the list again, as many as are shown. */
  async refresh() {
    await this.load(Math.min(MOST, Math.max(PAGE, this.sessions.length)), "");
  }

  /** @param {number} limit @param {string} before the last one's time of change, "" for the first page */
  async load(limit, before) {
    const asked = new URLSearchParams({ limit: String(limit), ...(before ? { before } : {}) });
    const { wanted } = this;
    if (wanted) asked.set("search", wanted);
    try {
      const { sessions } = await call("GET", `sessions?${asked}`);
      if (wanted !== this.wanted) return; // something else was typed meanwhile
      this.sessions = before ? [...this.sessions, ...sessions] : sessions;
      this.more = sessions.length === limit;
      this.render();
    } catch (error) {
      if (!this.closed && !this.signedOut(error)) replace(this.nav, problemBox(error, this.t, { label: this.t("tryAgain"), act: () => this.refresh() }));
    }
  }

  /** Marks a session as the one that is open. @param {string} id */
  mark(id) {
    this.current = id;
    this.render();
  }

  render() {
    if (this.closed) return;
    const t = this.t;
    const older = h("button", { type: "button", class: "quiet", "data-focus": "older" }, t("older"));
    older.addEventListener("click", () => this.load(PAGE, this.sessions.at(-1)?.updated ?? ""));
    replace(
      this.nav,
      h("h2", { class: "unseen" }, t("sessions")),
      h("button", { type: "button", class: "primary wide", click: this.fresh, "data-focus": "new" }, "+ ", t("newSession")),
      this.sessions.length || this.wanted ? this.search : null,
      this.sessions.length
        ? h("ul", { class: "plain" }, this.sessions.map((s) => this.item(s)))
        : h("p", { class: "muted" }, t(this.wanted ? "noneFound" : "noSessions")),
      this.more ? older : null,
    );
  }

  /** @param {SessionRecord} session */
  item(session) {
    const t = this.t;
    const turns = t(session.turns === 1 ? "turnsCountOne" : "turnsCount", { n: session.turns });
    return h(
      "li",
      {},
      h(
        "a",
        {
          href: `#/s/${encodeURIComponent(session.id)}`,
          class: "session",
          "aria-current": session.id === this.current ? "page" : null,
          "data-focus": session.id,
        },
        h("span", { class: "session-title" }, session.title || t("untitled")),
        h("span", { class: "small muted" }, `${when(session.updated)} · ${turns}`),
        session.unfinished ? h("span", { class: "badge status" }, `⚠ ${t("unfinished")}`) : null,
        session.needs_review ? h("span", { class: "badge status" }, `⚠ ${t("needsReview")}`) : null,
      ),
    );
  }
}

/** @param {string} time */
function when(time) {
  const at = new Date(time);
  const today = at.toDateString() === new Date().toDateString();
  return today ? at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" }) : at.toLocaleDateString();
}
