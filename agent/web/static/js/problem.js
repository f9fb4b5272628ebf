/** What went wrong, in words, with what to do about it. */

import { h } from "./dom.js";
import { Problem } from "./api.js";
import { has } from "./words.js";

/** @typedef {import("./types.js").Translate} Translate */

// advice for programs and operators, which whoever reads the page cannot follow
const MACHINE = /\b(?:GET|POST|PUT|DELETE)\b|`|\banamnesis [a-z]|\bdocs\//;

/**
 * A box that tells a failure, loudly to a screen reader.
 *
 * @param {unknown} error
 * @param {Translate} t
 * @param {{label: string, act: () => void} | null} [again] what the reader can do about it with a click
 */
export function problemBox(error, t, again = null) {
  const told = error instanceof Problem ? error : new Problem(0, { message: String(error) });
  const advice = has(`${told.code}Advice`) ? t(`${told.code}Advice`) : MACHINE.test(told.advice) ? "" : told.advice;
  return h(
    "div",
    { class: "problem", role: "alert" },
    h("p", {}, h("strong", {}, "⚠ ", wordsOf(told, t))),
    advice ? h("p", {}, `${t("advice")}: ${advice}`) : null,
    told.requestId ? h("p", { class: "small muted" }, t("requestId", { id: told.requestId })) : null,
    again ? h("button", { type: "button", click: again.act }, again.label) : null,
  );
}

/** @param {Problem} told @param {Translate} t */
function wordsOf(told, t) {
  if (told.message) return told.message;
  return has(told.code) ? t(told.code) : `${t("problem")} ${told.status ? `(HTTP ${told.status})` : ""}`;
}
