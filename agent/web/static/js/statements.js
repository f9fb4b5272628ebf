/** Statements: each with the numbers of its sources, which open its quotes, or the mark that it has none. */

import { freshId, h } from "./dom.js";
import { badges, classOf, originBadge, sign, sourceText } from "./evidence.js";
import { joined } from "./spans.js";

/** @typedef {import("./types.js").Line} Line */
/** @typedef {import("./types.js").Evidence} Evidence */
/** @typedef {import("./types.js").Citation} Citation */
/** @typedef {import("./types.js").Answer} Answer */
/** @typedef {import("./types.js").View} View */
/** @typedef {import("./types.js").Translate} Translate */

/** The evidence of an answer: pieces by id, their quotes, and the numbers of their documents. */
export class Sources {
  /** @param {Answer} answer @param {View} view */
  constructor(answer, view) {
    const told = [...answer.statements, ...(answer.report?.statements ?? []).map((s) => s.statement)];
    /** @type {Map<string, Citation[]>} */
    this.quotes = new Map();
    for (const citation of told.flatMap((s) => [...s.citations, ...(s.named ?? [])])) {
      this.quotes.set(citation.evidence_id, [...(this.quotes.get(citation.evidence_id) ?? []), citation]);
    }
    this.byId = new Map(answer.evidence.map((e) => [e.id, e]));
    this.numbers = new Map(view.sources.flatMap((s) => s.passages.map((p) => [p.item, s.number])));
  }
}

/**
 * A statement as a paragraph, with the buttons that open its quotes below it.
 *
 * @param {Line} line
 * @param {Sources | null} sources null while they are not there yet: the numbers alone
 * @param {Translate} t
 */
export function lineView(line, sources, t) {
  const opened = h("div", { class: "opened" });
  const text = h("p", { class: "statement" }, line.text);
  if (line.origin === "parametric" || line.origin === "generated") text.append(" ", originBadge(line.origin, t));
  text.append(...(sources ? citationButtons([line], sources, opened, t) : [" ", h("span", { class: "marks" }, line.marks)]));
  return h("div", { class: "said" }, text, opened);
}

/**
 * A button for each document that lines cite.
 *
 * @param {Line[]} lines
 * @param {Sources} sources
 * @param {HTMLElement} opened where the quotes are shown
 * @param {Translate} t
 * @returns {(HTMLElement | string)[]}
 */
export function citationButtons(lines, sources, opened, t) {
  /** @type {Map<number, Map<string, Citation[]>>} */
  const documents = new Map();
  for (const fold of lines.flatMap((line) => line.folds)) {
    const number = sources.numbers.get(fold.id) ?? 0;
    const pieces = documents.get(number) ?? new Map();
    documents.set(number, pieces.set(fold.id, [...(pieces.get(fold.id) ?? []), ...fold.citations]));
  }
  return [...documents].flatMap(([number, pieces]) => [" ", citationButton(number, pieces, sources, opened, t)]);
}

/**
 * @param {number} number
 * @param {Map<string, Citation[]>} pieces quotes by the piece of evidence
 * @param {Sources} sources
 * @param {HTMLElement} opened
 * @param {Translate} t
 */
function citationButton(number, pieces, sources, opened, t) {
  const held = [...pieces].flatMap(([id, quotes]) => {
    const item = sources.byId.get(id);
    return item ? [{ item, quotes }] : [];
  });
  const [first] = held;
  if (!first) return h("span", { class: "badge status loud" }, `⚠ ${t("sourceLost")}`);
  const { item } = first;
  const panel = freshId("quote");
  const label = t("openQuotes", { n: number, origin: t(`origin_${item.origin}`), title: item.title || item.id });
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
    if (open) {
      place.replaceChildren(quoteView(held, number, t, () => toggle(false)));
      place.scrollIntoView({ block: "nearest" });
    } else if (place.contains(document.activeElement) || document.activeElement === document.body) button.focus();
  };
  button.addEventListener("click", () => toggle(place.matches("[hidden]")));
  for (const element of [button, place]) {
    element.addEventListener("keydown", (event) => {
      if (!(event instanceof KeyboardEvent) || event.key !== "Escape" || place.hidden) return;
      event.preventDefault();
      toggle(false);
      button.focus();
    });
  }
  return button;
}

/**
 * @param {{item: Evidence, quotes: Citation[]}[]} held
 * @param {number} number
 * @param {Translate} t
 * @param {() => void} close
 */
function quoteView(held, number, t, close) {
  const item = /** @type {{item: Evidence}} */ (held[0]).item;
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
    joined(held).map((piece) => sourceText(piece.item, piece.quotes, number, t)),
  );
}
