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

/** @param {string[]} characters @param {Citation} quote */
function stands(characters, quote) {
  return characters.slice(quote.start, quote.end).join("") === quote.quote;
}
