/**
 * A text cut at its quotes. Places count characters as Python does (code points); a string here counts UTF-16 units,
 * so that one rare character would move every quote behind it.
 */

import { h } from "./dom.js";

/** @typedef {import("./types.js").Citation} Citation */
/** @typedef {{text: string, marked: boolean}} Piece */

/**
 * The pieces of a text, those inside a quote marked; quotes may overlap.
 *
 * @param {string} text
 * @param {Citation[]} quotes
 * @returns {Piece[]}
 */
export function pieces(text, quotes) {
  const characters = Array.from(text);
  const sorted = quotes.filter((q) => stands(characters, q)).sort((a, b) => a.start - b.start);
  /** @type {Piece[]} */
  const out = [];
  let at = 0;
  const take = (/** @type {number} */ end, /** @type {boolean} */ marked) => {
    if (end > at) out.push({ text: characters.slice(at, end).join(""), marked });
    at = Math.max(at, end);
  };
  for (const { start, end } of sorted) {
    take(start, false);
    take(end, true);
  }
  take(characters.length, false);
  return out;
}

/**
 * Whether every quote stands exactly at its place.
 *
 * @param {string} text
 * @param {Citation[]} quotes
 */
export function allStand(text, quotes) {
  const characters = Array.from(text);
  return quotes.every((q) => stands(characters, q));
}

/**
 * The text with its quotes marked, each in an element of its own.
 *
 * @param {string} text
 * @param {Citation[]} quotes
 */
export function markedText(text, quotes) {
  return pieces(text, quotes).map((p) => (p.marked ? h("mark", {}, p.text) : p.text));
}

const SPAN = /@(\d+)-\d+$/;
const APART = 2; // ours: characters between two pieces that stand side by side: a line end, a space

/**
 * Pieces of one document that overlap or stand side by side, each made one text with all their quotes.
 *
 * @template {{id: string, text: string}} T
 * @param {{item: T, quotes: Citation[]}[]} held
 * @returns {{item: T, quotes: Citation[]}[]}
 */
export function joined(held) {
  const placed = held.map((piece) => ({ ...piece, at: Number(SPAN.exec(piece.item.id)?.[1] ?? NaN), size: Array.from(piece.item.text).length }));
  placed.sort((a, b) => a.at - b.at || b.size - a.size);
  /** @type {typeof placed} */
  const out = [];
  for (const piece of placed) {
    const last = out.at(-1);
    if (!last || last.item.id.replace(SPAN, "") !== piece.item.id.replace(SPAN, "") || !(piece.at - last.at <= last.size + APART)) {
      out.push(piece);
      continue;
    }
    const from = piece.at - last.at;
    const beyond = Math.max(0, last.size - from);
    const text = last.item.text + " ".repeat(Math.max(0, from - last.size)) + Array.from(piece.item.text).slice(beyond).join("");
    last.quotes = [...last.quotes, ...piece.quotes.map((q) => ({ ...q, start: q.start + from, end: q.end + from }))];
    last.size = Math.max(last.size, from + piece.size);
    last.item = { ...last.item, text };
  }
  return out;
}

/** @param {string[]} characters @param {Citation} quote */
function stands(characters, quote) {
  return characters.slice(quote.start, quote.end).join("") === quote.quote;
}
