/** Signs of an emergency: first on the page, and loud. */

import { h } from "./dom.js";

/** @typedef {import("./types.js").RedFlag} RedFlag */
/** @typedef {import("./types.js").Translate} Translate */

/**
 * @param {RedFlag[]} flags
 * @param {Translate} t
 * @param {boolean} [loud] spoken at once; not for what is shown again
 */
export function emergencyBox(flags, t, loud = true) {
  return h(
    "div",
    { class: "emergency", role: loud ? "alert" : "group", "aria-label": t("emergency") },
    h("p", { class: "emergency-title" }, h("span", { "aria-hidden": "true" }, "⚠ "), t("emergency")),
    flags.map((flag) => [h("p", { class: "advice" }, flag.advice), h("p", {}, flag.seen)]),
  );
}
