/** How an answer was found: where was searched, what is not used and why, what was done. Fetched when it is opened. */

import { h, replace } from "./dom.js";
import { outside } from "./evidence.js";
import { problemBox } from "./problem.js";
import { has } from "./words.js";

/** @typedef {import("./types.js").Translate} Translate */
/** @typedef {{place: string, name: string, searches: number, hits: number, queries: string[], failed: string}} Place */
/** @typedef {{id: string, title: string, fate: string, reasons: string[]}} Unused */
/** @typedef {{step: string, tool: string, seconds: number, summary: string}} Done */
/** @typedef {{done: Done[], places: Place[], unused: Unused[]}} HowFound */

/**
 * A place that is filled when the disclosure around it is first opened.
 *
 * @param {HTMLDetailsElement} around
 * @param {() => Promise<HowFound>} fetchFound
 * @param {Translate} t
 */
export function foundView(around, fetchFound, t) {
  const place = h("div", { class: "found" });
  const fill = async () => {
    if (!around.open || place.firstChild) return;
    place.replaceChildren(h("p", { class: "small muted loading" }, `${t("loading")} …`));
    try {
      const found = await fetchFound();
      replace(place, placesView(found.places, t), unusedView(found.unused, t), doneView(found.done, t));
    } catch (error) {
      replace(place, problemBox(error, t));
    }
  };
  around.addEventListener("toggle", (event) => event instanceof CustomEvent ? event.detail.push(fill()) : fill());
  return place;
}

/** @param {Place[]} places @param {Translate} t */
function placesView(places, t) {
  if (!places.length) return null;
  const items = places.map(({ place, name, searches, hits, queries, failed }) => {
    const called = has(`place_${place}`) ? `place_${place}` : `tool_${place}`;
    const linked = place === "pubmed" || place === "mirror";
    const sent = queries.map((query) => h("li", {}, h("code", {}, query), " ", linked ? atPubMed(query, t) : null));
    const counted = searches ? t(searches === 1 ? "foundHitsOnce" : "foundHits", { hits, searches }) : t("foundNot");
    return h("li", {}, h("strong", {}, t(called), name ? ` (${name})` : ""), `: ${counted}`, failed ? ` ${failed}` : null, sent.length ? h("ul", {}, sent) : null);
  });
  return [h("h4", {}, t("foundWhere")), h("ul", { class: "small places" }, items)];
}

/**
 * A link that sends a query of PubMed there once more; it is followed only when it is clicked.
 *
 * @param {string} query
 * @param {Translate} t
 */
function atPubMed(query, t) {
  const href = `https://pubmed.ncbi.nlm.nih.gov/?term=${encodeURIComponent(query)}`;
  return h("a", { class: "outside-link", href, target: "_blank", rel: "noopener noreferrer" }, t("searchAtPubMed"));
}

/** @param {Unused[]} unused @param {Translate} t */
function unusedView(unused, t) {
  if (!unused.length) return null;
  const items = unused.map(({ id, title, fate, reasons }) => {
    const whole = reasons.map((reason) => h("li", {}, reason));
    const opened = whole.length ? h("details", {}, h("summary", {}, t("unusedWhy")), h("ul", {}, whole)) : null;
    return h("li", {}, h("strong", {}, title), `: ${t(`unused_${fate}`)} `, outside(id, t), opened);
  });
  return h("details", { class: "unused" }, h("summary", {}, t("unused", { n: unused.length })), h("ul", { class: "small" }, items));
}

/** @param {Done[]} done @param {Translate} t */
function doneView(done, t) {
  const seconds = done.reduce((sum, step) => sum + (step.tool ? 0 : step.seconds), 0).toFixed(2);
  const items = done.map((step) =>
    h(
      "li",
      {},
      h("span", { class: "tick", "aria-hidden": "true" }, "✓ "),
      h("span", {}, t(step.tool ? `tool_${step.tool}` : `step_${step.step}`)),
      h("span", { class: "small muted" }, ` ${Math.round(step.seconds * 1000)} ms`),
      step.summary ? h("span", { class: "small muted summary" }, step.summary) : null,
    ),
  );
  return h("details", {}, h("summary", {}, t("steps", { n: done.length, seconds })), h("ol", { class: "steps" }, items));
}
