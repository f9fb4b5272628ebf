/** The page's own words, English and Chinese. An answer's parts speak the answer's language, the rest the reader's. */

import { EN } from "./words-en.js";
import { ZH } from "./words-zh.js";

/** @typedef {import("./types.js").Translate} Translate */

const KEPT = "anamnesis-language";

/** @param {string} language @returns {"en" | "zh"} */
export function tongue(language) {
  return language.toLowerCase().startsWith("zh") ? "zh" : "en";
}

/**
 * The words of a language: `t("turn", {n: 3})`. A key without words is given back as it is.
 *
 * @param {string} language
 * @returns {Translate}
 */
export function words(language) {
  const table = tongue(language) === "zh" ? ZH : EN;
  return (key, values = {}) => {
    const text = table[key] ?? EN[key] ?? key;
    return text.replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ""));
  };
}

/** Whether there are words for a key. @param {string} key */
export function has(key) {
  return Object.hasOwn(EN, key);
}

/** The reader's language: chosen on the page before, else the browser's first that there are words in. */
export function readersLanguage() {
  let chosen = null;
  try {
    chosen = localStorage.getItem(KEPT);
  } catch {
    // storage may be forbidden; the browser's language serves
  }
  const known = [chosen, ...navigator.languages].find((l) => l && /^(en|zh)\b/i.test(l));
  return tongue(known ?? "en");
}

/** Keeps the reader's choice. @param {string} language */
export function keepLanguage(language) {
  try {
    localStorage.setItem(KEPT, language);
  } catch {
    // then it holds until the page is left
  }
}
