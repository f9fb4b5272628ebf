/** What has changed since an answer was given: asked for by a click, because it sends the answer's searches again. */

import { call } from "./api.js";
import { announce, h, replace } from "./dom.js";
import { outside } from "./evidence.js";
import { problemBox } from "./problem.js";

/** @typedef {import("./types.js").Translate} Translate */
/** @typedef {{what: string, id: string, title: string, date: string, cited: boolean, quote: string}} Change */
/**
 * @typedef {object} Changes
 * @property {string} answered the day of the answer
 * @property {string} at when it was looked at again
 * @property {number} looked_at
 * @property {{query: string, then: number, now: number}[]} queries
 * @property {Change[]} changes
 * @property {string[]} not_asked
 */

/**
 * A button, and the place for what it finds.
 *
 * @param {string} path of the turn, below api/
 * @param {Translate} t
 * @returns {{button: HTMLElement, place: HTMLElement}}
 */
export function changesOf(path, t) {
  const place = h("div", { class: "changes" });
  const button = h("button", { type: "button", class: "quiet" }, t("changes"));
  button.addEventListener("click", async () => {
    if (button.getAttribute("aria-disabled") === "true") return;
    button.setAttribute("aria-disabled", "true");
    announce(t("changesAsking"));
    replace(place, h("p", { class: "small muted" }, t("changesAsking")));
    try {
      const told = await call("POST", `${path}/changes`, {});
      replace(place, toldView(told, t));
      announce(summaryOf(told, t));
    } catch (error) {
      replace(place, problemBox(error, t));
    } finally {
      button.removeAttribute("aria-disabled");
    }
  });
  return { button, place };
}

/** @param {Changes} told @param {Translate} t */
function summaryOf(told, t) {
  if (told.changes.length) return t("changesFound", { n: told.changes.length });
  if (!told.looked_at) return told.not_asked.length ? t("changesUnknown") : t("changesNothing");
  return t("changesNone", { n: told.looked_at });
}

/** @param {Changes} told @param {Translate} t */
function toldView(told, t) {
  const counted = told.queries.map((q) => h("li", {}, h("code", {}, q.query), ` ${t("changesCount", { then: q.then, now: q.now })}`));
  return h(
    "section",
    { class: "box", "aria-label": t("changes") },
    h("p", {}, h("strong", {}, summaryOf(told, t)), " ", t("changesDays", { then: told.answered, now: told.at.slice(0, 10) })),
    told.not_asked.map((text) => h("p", { class: "not-asked" }, "⚠ ", text)),
    told.changes.length ? h("ul", {}, told.changes.map((change) => changeView(change, t))) : null,
    counted.length ? h("details", {}, h("summary", {}, t("changesQueries", { n: counted.length })), h("ul", { class: "small" }, counted)) : null,
  );
}

/** @param {Change} change @param {Translate} t */
function changeView(change, t) {
  return h(
    "li",
    { class: `change-${change.what}` },
    h("strong", {}, t(`change_${change.what}`), change.cited ? `, ${t("changeCited")}` : ""),
    ": ",
    change.title.replace(/\.$/, "") || change.id,
    change.date ? ` (${change.date}) ` : " ",
    outside(change.id, t),
    change.quote ? h("p", { class: "small" }, t("changeQuote"), " ", h("q", {}, change.quote)) : null,
  );
}
