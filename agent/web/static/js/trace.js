/** The trace of a turn as a table. */

import { h } from "./dom.js";
import { problemBox } from "./problem.js";

/** @typedef {import("./types.js").Translate} Translate */
/** @typedef {Record<string, unknown> & {kind: string, at: number}} Event */

const KEYS = /^kept$|_key$/; // where a text is kept; it says nothing to a reader
const NAMES = ["step", "tool", "role", "code"]; // the fields that name what an event is about
const LONGEST = 400; // ours: characters of an event's details that are shown at first; a click shows the rest

/**
 * A disclosure that fetches the trace when it is opened.
 *
 * @param {() => Promise<{events: Event[]}>} fetchTrace
 * @param {Translate} t
 */
export function traceView(fetchTrace, t) {
  const place = h("div", {}, h("p", {}, `${t("loading")} …`));
  const details = h("details", { class: "trace" }, h("summary", {}, t("trace")), place);
  details.addEventListener("toggle", async () => {
    if (!details.open || place.dataset.filled) return;
    try {
      place.replaceChildren(table((await fetchTrace()).events, t));
      place.dataset.filled = "yes";
    } catch (error) {
      place.replaceChildren(problemBox(error, t));
    }
  });
  return details;
}

/** @param {Event[]} events @param {Translate} t */
function table(events, t) {
  const began = events.find((e) => e.at > 0)?.at ?? 0;
  const head = ["traceTime", "traceEvent", "traceWhat", "traceMore"].map((key) => h("th", { scope: "col" }, t(key)));
  const rows = events.map((event) =>
    h(
      "tr",
      {},
      h("td", {}, event.at ? (event.at - began).toFixed(2) : ""),
      h("td", {}, event.kind.replaceAll("_", " ")),
      h("td", {}, NAMES.map((name) => event[name]).filter(Boolean).join(" ")),
      h("td", { class: "details" }, details(event, t)),
    ),
  );
  const label = t("trace");
  return h(
    "div",
    { class: "scroll", role: "group", tabindex: 0, "aria-label": label },
    h("table", {}, h("caption", { class: "unseen" }, label), h("thead", {}, h("tr", {}, head)), h("tbody", {}, rows)),
  );
}

/** What an event tells, whole: the rest of a long one on a click. @param {Event} event @param {Translate} t */
function details(event, t) {
  const rest = Object.entries(event).filter(([name, value]) => !["kind", "at", ...NAMES].includes(name) && !KEYS.test(name) && told(value));
  const text = rest.map(([name, value]) => `${name}: ${typeof value === "object" ? JSON.stringify(value) : value}`).join("; ");
  if (text.length <= LONGEST) return text;
  return h("div", {}, text.slice(0, LONGEST), h("details", {}, h("summary", {}, `… ${t("traceMore")}`), text.slice(LONGEST)));
}

/** Whether a value says anything. @param {unknown} value */
function told(value) {
  return typeof value === "object" ? Object.keys(value ?? {}).length > 0 : value !== "";
}
