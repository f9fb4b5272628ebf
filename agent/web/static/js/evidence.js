/** Evidence: where it comes from (sign, word and colour), how strong it is, its status, its text. */

import { freshId, h } from "./dom.js";
import { allStand, markedText } from "./spans.js";

/** @typedef {import("./types.js").Evidence} Evidence */
/** @typedef {import("./types.js").Citation} Citation */
/** @typedef {import("./types.js").Translate} Translate */

/** @type {Record<string, string>} */
export const SIGNS = { retrieved: "▣", knowledge_graph: "◉", generated: "✦", parametric: "◇", case: "▪" };
const OUTSIDE = { pubmed: /^pubmed:(\d{1,9})\b/, pmc: /^pmc:(?:PMC)?(\d{1,9})\b/i };

/**
 * A badge of an origin.
 *
 * @param {string} origin
 * @param {Translate} t
 */
export function originBadge(origin, t) {
  return h("span", { class: `badge origin ${classOf(origin)}` }, sign(origin), " ", t(`origin_${origin}`));
}

/** @param {string} origin */
export function sign(origin) {
  return h("span", { "aria-hidden": "true", class: "sign" }, SIGNS[origin] ?? "?");
}

/** The class that colours an origin; what is unknown looks as a text that is not literature. @param {string} origin */
export function classOf(origin) {
  return `of-${Object.hasOwn(SIGNS, origin) ? origin : "generated"}`;
}

/** @param {Evidence} item @param {Translate} t */
export function badges(item, t) {
  return h("p", { class: "badges" }, originBadge(item.origin, t), statusBadge(item, t));
}

/** What became of a publication, where that is not plain. @param {Evidence} item @param {Translate} t */
export function statusBadge(item, t) {
  const status = t(`status_${item.status}`);
  return status ? h("span", { class: `badge status ${item.status === "preprint" ? "" : "loud"}` }, `⚠ ${status}`) : null;
}

/**
 * The text of a source with its quotes marked, in a box that scrolls to the first one.
 *
 * @param {Evidence} item
 * @param {Citation[]} quotes
 * @param {number | undefined} number
 * @param {Translate} t
 */
export function sourceText(item, quotes, number, t) {
  const label = number ? t("quoteIn", { n: number }) : item.title || item.id;
  const box = h("div", { class: "source-text", role: "group", tabindex: 0, "aria-label": label, lang: item.language });
  box.append(...markedText(item.text, quotes));
  requestAnimationFrame(() => {
    const mark = box.querySelector("mark");
    if (mark) box.scrollTop = mark.offsetTop - box.clientHeight / 3;
  });
  const lost = allStand(item.text, quotes) ? null : h("p", { class: "problem" }, t("quoteLost"));
  return h("div", {}, lost, box);
}

/**
 * A disclosure whose content is made when it is first opened.
 *
 * @param {string} label
 * @param {() => HTMLElement} make
 * @param {string} [kind] its class
 */
export function disclosed(label, make, kind) {
  const details = h("details", { id: freshId("more"), class: kind }, h("summary", {}, label));
  const fill = () => {
    if (!details.open) return;
    details.append(make());
    details.removeEventListener("toggle", fill);
  };
  details.addEventListener("toggle", fill);
  return details;
}

/** How a piece was found. @param {Evidence} item */
export function found(item) {
  const told = item.found.map((f) => {
    const rank = f.rank ? `#${f.rank}` : "";
    return h("li", {}, [f.tool, f.stream, f.rung, rank].filter(Boolean).join(" · "), f.query ? [": ", h("code", {}, f.query)] : null);
  });
  return h("ul", { class: "small" }, told);
}

/** A link to the record itself; it is followed only when it is clicked. @param {string} id @param {Translate} t */
export function outside(id, t) {
  const pubmed = OUTSIDE.pubmed.exec(id);
  const pmc = OUTSIDE.pmc.exec(id);
  if (!pubmed && !pmc) return null;
  const href = pubmed
    ? `https://pubmed.ncbi.nlm.nih.gov/${pubmed[1]}/`
    : `https://pmc.ncbi.nlm.nih.gov/articles/PMC${pmc?.[1]}/`;
  return h("a", { class: "outside-link", href, target: "_blank", rel: "noopener noreferrer" }, t("atPubMed"));
}
