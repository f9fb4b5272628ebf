/** A session or an answer as a file: links that say, where they stand, what a file lacks or why there is none. */

import { file } from "./api.js";
import { announce, h, replace } from "./dom.js";
import { problemBox } from "./problem.js";

/** @typedef {import("./types.js").Translate} Translate */

const FORMATS = [
  ["docx", "Word"], ["markdown", "Markdown"], ["ris", "RIS (Zotero, EndNote)"], ["bibtex", "BibTeX"],
  ["csl-json", "CSL-JSON"], ["nbib", "nbib (PubMed)"], ["json", "JSON"],
];

const KEPT = 60000; // ms; ours: how long the browser may take to begin the download

/**
 * A link for each form, and the place for what is said of the file.
 *
 * @param {string} path of the session, below api/
 * @param {number} turn 0 for the whole session
 * @param {Translate} t
 */
export function saveLinks(path, turn, t) {
  const place = h("div", { class: "small" });
  const links = FORMATS.map(([format, name]) => {
    const from = `${path}/export?format=${format}${turn ? `&turn=${turn}` : ""}`;
    const save = (/** @type {Event} */ event) => {
      event.preventDefault();
      void saved(from, place, t);
    };
    return h("a", { class: "button quiet", href: `api/${from}`, download: true, click: save }, t("exportAs", { format: name ?? "" }));
  });
  return [...links, place];
}

/** Fetches a file and hands it to the browser. @param {string} from @param {HTMLElement} place @param {Translate} t */
async function saved(from, place, t) {
  try {
    const { blob, name, note, empty } = await file(from);
    if (empty) {
      replace(place, h("p", { class: "problem", role: "alert" }, h("strong", {}, "⚠ ", t("nothingSaved")), " ", note));
      return;
    }
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), KEPT);
    const told = t("savedAs", { name });
    replace(place, h("p", {}, told), note ? h("p", {}, note) : null);
    announce(told);
  } catch (error) {
    replace(place, problemBox(error, t));
  }
}
