/** Statements: each with the numbers of its sources, which open its quotes, or the mark that it has none. */

import { freshId, h } from "./dom.js";
import { badges, classOf, originBadge, sign, sourceText } from "./evidence.js";

/** @typedef {import("./types.js").Statement} Statement */
/** @typedef {import("./types.js").Evidence} Evidence */
/** @typedef {import("./types.js").Citation} Citation */
/** @typedef {import("./types.js").Answer} Answer */
/** @typedef {import("./types.js").Translate} Translate */

/** The evidence of an answer: by id, and the numbers of what is cited, in order of the evidence. */
export class Sources {
  /** @param {Answer} answer */
  constructor(answer) {
    const told = [...answer.statements, ...(answer.report?.statements ?? []).map((s) => s.statement)];
    /** @type {Map<string, Citation[]>} */
    this.quotes = new Map();
    for (const citation of told.flatMap((s) => s.citations)) {
      this.quotes.set(citation.evidence_id, [...(this.quotes.get(citation.evidence_id) ?? []), citation]);
    }
    this.byId = new Map(answer.evidence.map((e) => [e.id, e]));
    this.cited = answer.evidence.filter((e) => this.quotes.has(e.id));
    this.beside = answer.evidence.filter((e) => !this.quotes.has(e.id));
    this.numbers = new Map(this.cited.map((e, i) => [e.id, i + 1]));
  }
}

/**
 * A statement as a paragraph, with the buttons that open its quotes below it.
 *
 * @param {Statement} statement
 * @param {Sources} sources
 * @param {Translate} t
 */
export function statementView(statement, sources, t) {
  const opened = h("div", { class: "opened" });
  const text = h("p", { class: "statement" }, statement.text);
  if (statement.origin === "parametric" || statement.origin === "generated") {
    text.append(" ", originBadge(statement.origin, t));
  }
  for (const [id, quotes] of bySource(statement)) text.append(" ", citationButton(id, quotes, sources, opened, t));
  return h("div", { class: "said" }, text, opened);
}

/** @param {Statement} statement @returns {Map<string, Citation[]>} */
function bySource(statement) {
  /** @type {Map<string, Citation[]>} */
  const grouped = new Map();
  for (const c of statement.citations) grouped.set(c.evidence_id, [...(grouped.get(c.evidence_id) ?? []), c]);
  return grouped;
}

/**
 * @param {string} id
 * @param {Citation[]} quotes
 * @param {Sources} sources
 * @param {HTMLElement} opened where the quotes are shown
 * @param {Translate} t
 */
function citationButton(id, quotes, sources, opened, t) {
  const item = sources.byId.get(id);
  if (!item) return h("span", { class: "badge status loud" }, `⚠ ${t("sourceLost")}`);
  const number = sources.numbers.get(id) ?? 0;
  const panel = freshId("quote");
  const label = t("openQuotes", { n: number, origin: t(`origin_${item.origin}`), title: item.title || id });
  const button = h(
    "button",
    { type: "button", class: `cite ${classOf(item.origin)}`, "aria-expanded": "false", "aria-controls": panel, "aria-label": label },
    sign(item.origin),
    ` ${number}`,
  );
  const place = h("div", { id: panel, hidden: true, class: `quote ${classOf(item.origin)}` });
  opened.append(place);
  const toggle = (/** @type {boolean} */ open) => {
    button.setAttribute("aria-expanded", String(open));
    place.hidden = !open;
    if (open) place.replaceChildren(quoteView(item, quotes, number, t, () => toggle(false)));
    else if (place.contains(document.activeElement) || document.activeElement === document.body) button.focus();
  };
  button.addEventListener("click", () => toggle(place.matches("[hidden]")));
  for (const element of [button, place]) {
    element.addEventListener("keydown", (event) => {
      if (!(event instanceof KeyboardEvent) || event.key !== "Escape" || place.hidden) return;
      toggle(false);
      button.focus();
    });
  }
  return button;
}

/**
 * @param {Evidence} item
 * @param {Citation[]} quotes
 * @param {number} number
 * @param {Translate} t
 * @param {() => void} close
 */
function quoteView(item, quotes, number, t, close) {
  return h(
    "div",
    {},
    h(
      "div",
      { class: "quote-head" },
      h("p", { class: "card-title" }, h("span", { class: "number" }, `[${number}] `), item.title || item.id),
      h("button", { type: "button", class: "quiet", click: close }, t("closeQuote")),
    ),
    badges(item, t),
    sourceText(item, quotes, number, t),
  );
}
