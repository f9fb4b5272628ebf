/** Sources, one a document: what it is, how to cite it, the passages that were read of it. */

import { copyButton } from "./copying.js";
import { h } from "./dom.js";
import { classOf, disclosed, found, originBadge, outside, sourceText, statusBadge } from "./evidence.js";
import { joined } from "./spans.js";

/** @typedef {import("./types.js").View} View */
/** @typedef {import("./types.js").Source} Source */
/** @typedef {import("./types.js").Translate} Translate */

/** @param {View} view @param {import("./statements.js").Sources} sources @param {Translate} t */
export function sourcesView(view, sources, t) {
  if (!view.sources.length && !view.beside.length) return null;
  const beside = view.beside.map((source) => card(source, sources, t));
  return h(
    "section",
    { class: "sources", "aria-label": t("sources") },
    h("h3", {}, t("sources")),
    view.sources.length ? h("ul", { class: "cards" }, view.sources.map((source) => card(source, sources, t))) : null,
    beside.length
      ? h("details", {}, h("summary", {}, t("alsoRead", { n: beside.length })), h("ul", { class: "cards" }, beside))
      : null,
  );
}

/** @param {Source} source @param {import("./statements.js").Sources} sources @param {Translate} t */
function card(source, sources, t) {
  const items = source.passages.flatMap((p) => sources.byId.get(p.item) ?? []);
  const [first] = items;
  const texts = () =>
    h("div", {}, joined(items.map((item) => ({ item, quotes: sources.quotes.get(item.id) ?? [] }))).map(({ item, quotes }) => sourceText(item, quotes, source.number, t)));
  const more = source.facts.filter((fact) => !source.citation.includes(fact));
  if (first?.review_by) more.push(t("reviewBy", { date: first.review_by }));
  const ways = items.filter((item) => item.found.length);
  return h(
    "li",
    { class: `card ${classOf(source.origin)}` },
    h("p", { class: "card-title" }, source.number ? h("span", { class: "number" }, `[${source.number}] `) : null, source.name),
    h("p", { class: "badges" }, originBadge(source.origin, t), first ? statusBadge(first, t) : null),
    h("p", { class: "small citation" }, source.citation),
    more.length ? h("p", { class: "small muted" }, more.join(" · ")) : null,
    h(
      "div",
      { class: "card-foot small" },
      items.length ? disclosed(t("readText"), texts, "read") : null,
      ways.length ? disclosed(t("howFound"), () => h("div", {}, h("code", {}, source.id), ways.map((item) => found(item)))) : null,
      copyButton("copyCitation", source.citation, t, t("copyCitationOf", { title: source.name })),
      outside(source.id, t),
    ),
  );
}
