/** The differential as a table: rank, disease, share, what speaks for and against, with the entry behind its number. */

import { h, replace } from "./dom.js";
import { citationButtons } from "./statements.js";

/** @typedef {import("./types.js").Ranked} Ranked */
/** @typedef {import("./types.js").Translate} Translate */

const ROWS = 5; // ours: shown at first, as on the command line
const LEAST = 0.01; // below it the share is said to be less
const GONE = 8; // ours: diseases named that are no longer ranked
const FINDINGS = 6; // ours: findings shown on each side, as on the command line

/**
 * A table that can be given a new ranking: it says where each disease stood before.
 */
export class DifferentialTable {
  /**
   * @param {string} title its caption
   * @param {string} language
   * @param {Translate} t
   * @param {Ranked[]} [before] the ranking of the turn before
   */
  constructor(title, language, t, before = []) {
    this.t = t;
    this.language = language;
    this.before = before;
    this.all = false;
    /** @type {Map<string, import("./types.js").Line[]>} what the answer says of a disease beside its row */
    this.marks = new Map();
    /** @type {import("./statements.js").Sources | null} */
    this.sources = null;
    this.body = h("tbody", { role: "rowgroup" });
    this.more = h("button", { type: "button", class: "quiet", "data-focus": "all", hidden: true });
    this.more.addEventListener("click", () => this.showAll());
    const head = ["rank", "disease", "share", "for", "against"].map((key) =>
      h("th", { scope: "col", role: "columnheader" }, t(key)),
    );
    const table = h(
      "table",
      { class: "differential", role: "table" },
      h("caption", {}, title),
      h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, head)),
      this.body,
    );
    this.opened = h("div", { class: "opened" });
    this.beyond = h("div", {});
    this.gone = h("p", { class: "small gone", hidden: true });
    this.view = h("div", { class: "differential-box" }, table, this.more, this.gone, this.opened, this.beyond);
    /** @type {Ranked[]} */
    this.ranking = [];
  }

  /**
   * Shows a ranking; the one shown until now becomes the one before.
   *
   * @param {Ranked[]} ranking
   */
  update(ranking) {
    if (this.ranking.length) this.before = this.ranking;
    this.ranking = ranking;
    this.render();
  }

  showAll() {
    this.all = true;
    this.render();
    const next = this.body.children[ROWS];
    if (next instanceof HTMLElement) {
      next.tabIndex = -1;
      next.focus();
    }
  }

  render() {
    const folded = (/** @type {number} */ rank) => !this.all && rank > ROWS; // print shows these too
    this.opened.replaceChildren();
    replace(this.body, this.ranking.map((item, i) => this.row(item, i + 1, folded(i + 1))));
    this.beyond.replaceChildren(...this.ranking.flatMap((item, i) => this.saidOf(item, folded(i + 1))));
    this.more.textContent = this.t("showAll", { n: this.ranking.length });
    this.more.hidden = !folded(this.ranking.length);
    if (this.sources) this.showGone();
  }

  /** Names what was ranked in the turn before and is no more: the first of them, and how many others. */
  showGone() {
    const t = this.t;
    const now = new Set(this.ranking.map((item) => item.disease));
    const gone = this.before.flatMap((item, i) => (now.has(item.disease) ? [] : [t("goneFrom", { name: this.nameOf(item), n: i + 1 })]));
    const more = gone.length > GONE ? t("goneMore", { n: gone.length - GONE }) : "";
    this.gone.hidden = !gone.length;
    this.gone.textContent = `${t("gone")}: ${gone.slice(0, GONE).join(t("joint"))}${more}`;
  }

  /** @param {Ranked} item */
  nameOf(item) {
    return this.language === "zh" && item.name_zh ? item.name_zh : item.name;
  }

  /** @param {Ranked} item @param {number} rank @param {boolean} hidden */
  row(item, rank, hidden) {
    const t = this.t;
    const name = this.nameOf(item);
    const percent = item.score > 0 && item.score < LEAST ? "<1%" : `${Math.round(item.score * 100)}%`;
    const told = this.marks.get(item.disease) ?? [];
    const loud = item.severity === "emergency" || item.severity === "urgent";
    return h(
      "tr",
      { role: "row", hidden },
      h("td", { role: "cell", class: "rank" }, rank, this.moved(item, rank)),
      h(
        "th",
        { scope: "row", role: "rowheader", class: "disease" },
        name,
        item.icd10 ? h("span", { class: "small muted" }, ` ${item.icd10}`) : null,
        loud ? " " : null,
        loud ? h("span", { class: `badge severity ${item.severity}` }, `⚠ ${t(`severity_${item.severity}`)}`) : null,
        this.sources ? citationButtons(told, this.sources, this.opened, t) : null,
      ),
      h(
        "td",
        { role: "cell", class: "share" },
        h("meter", { min: 0, max: 1, value: item.score, "aria-label": t("share") }, percent),
        h("span", {}, percent),
      ),
      this.findings(item.findings_for, "for", "+"),
      this.findings(item.findings_against, "against", "−"),
    );
  }

  /** What the answer says of a disease beside its row. @param {Ranked} item @param {boolean} hidden */
  saidOf(item, hidden) {
    const name = this.nameOf(item);
    const told = (this.marks.get(item.disease) ?? []).filter((line) => line.text);
    return told.map((line) => h("p", { class: "statement", hidden }, line.text.includes(name) ? null : h("strong", {}, `${name}: `), line.text));
  }

  /** @param {string[] | undefined} told @param {string} side @param {string} mark */
  findings(told, side, mark) {
    const head = h("span", { class: "narrow-label", "aria-hidden": "true" }, this.t(side));
    const items = (told ?? []).slice(0, FINDINGS).map((f) => h("li", {}, h("span", { "aria-hidden": "true" }, `${mark} `), f));
    const list = items.length ? h("ul", {}, items) : h("span", { class: "muted" }, this.t("none"));
    return h("td", { role: "cell", class: side }, head, list);
  }

  /** Where the disease stood before, where that was elsewhere. @param {Ranked} item @param {number} rank */
  moved(item, rank) {
    if (!this.before.length) return null;
    const was = this.before.findIndex((b) => b.disease === item.disease) + 1;
    if (was === rank) return null;
    const sign = was === 0 || was > rank ? "▲" : "▼";
    const text = was ? this.t("was", { n: was }) : this.t("isNew");
    return h("span", { class: "moved small" }, h("span", { "aria-hidden": "true" }, ` ${sign} `), text);
  }
}
