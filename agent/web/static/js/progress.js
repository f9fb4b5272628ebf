/**
 * A turn while it runs: its steps, the gate, the differential, how much evidence; a draft, marked as one; and what is
 * verified of the answer, where the answer will stand.
 */

import { verifiedView } from "./answer.js";
import { announce, h } from "./dom.js";
import { DifferentialTable } from "./differential.js";
import { emergencyBox } from "./emergency.js";
import { originBadge } from "./evidence.js";
import { units, verdict } from "./gate.js";
import { words } from "./words.js";

/** @typedef {import("./types.js").Step} Step */
/** @typedef {import("./types.js").StepData} StepData */
/** @typedef {import("./types.js").Ranked} Ranked */
/** @typedef {import("./types.js").Translate} Translate */

const QUIET = 4000; // ms; ours: a screen reader hears of a step at most so often
const OURS = "turn"; // the first event of a stream, which is no step of the turn
const CALLS = "tools"; // the step whose calls are told one by one

/** What a turn does, as it does it. */
export class Progress {
  /**
   * @param {Translate} t the reader's words
   * @param {string} language
   * @param {Ranked[]} before the ranking of the turn before
   */
  constructor(t, language, before) {
    this.t = t;
    this.language = language;
    this.before = before;
    this.spoken = Date.now();
    this.seconds = 0;
    /** @type {Record<string, number>} */
    this.found = {};
    this.list = h("ol", { class: "steps" });
    this.alarm = h("div", {});
    this.more = h("div", { class: "live-more" });
    this.draft = h("div", {});
    this.verified = h("div", {});
    this.now = h("summary", { class: "working" }, h("span", { class: "pulse", "aria-hidden": "true" }), `${t("working")} …`);
    const folded = h("details", {}, this.now, this.list, this.more);
    this.view = h("section", { class: "live", "aria-label": t("working") }, this.alarm, this.verified, folded, this.draft);
    /** @type {DifferentialTable | null} */
    this.table = null;
    /** @type {Map<string, HTMLElement>} */
    this.parts = new Map();
    announce(`${t("working")} …`);
  }

  /** @param {Step} step */
  add(step) {
    if (step.data) this.take(step.data);
    if (step.status === "text") this.showDraft(step.text);
    if (step.step === OURS || ["text", "verified"].includes(step.status) || (step.step === CALLS && !step.tool)) return;
    const key = step.tool ? `tool_${step.tool}` : `step_${step.step}`;
    if (step.status === "started") this.speak(this.t(key));
    if (step.status === "progress") this.speak(`${this.t(key)}: ${step.summary}`);
    if (step.status === "finished") this.line(key, step);
  }

  /** @param {string} what */
  speak(what) {
    this.now.lastChild?.replaceWith(`${what} …`);
    if (Date.now() - this.spoken < QUIET) return;
    this.spoken = Date.now();
    announce(this.t("workingNow", { what }));
  }

  /** @param {string} key @param {Step} step */
  line(key, step) {
    this.seconds += step.tool ? 0 : step.seconds;
    this.list.append(
      h(
        "li",
        {},
        h("span", { class: "tick", "aria-hidden": "true" }, "✓ "),
        h("span", {}, this.t(key)),
        h("span", { class: "small muted" }, ` ${Math.round(step.seconds * 1000)} ms`),
        step.summary ? h("span", { class: "small muted summary" }, step.summary) : null,
      ),
    );
  }

  /** What a step found. @param {StepData} data */
  take(data) {
    if (data.language) this.language = data.language;
    const t = words(this.language);
    if (data.emergency?.length) this.alarm.replaceChildren(emergencyBox(data.emergency, t));
    if (data.gate) {
      const head = h("h3", {}, t("gate"));
      this.part("gate", h("div", { lang: this.language }, head, h("p", {}, verdict(data.gate, t)), units(data.gate, t)));
    }
    if (data.view) this.showVerified(data.view);
    if (data.evidence) this.part("evidence", this.counts(data.evidence, t));
    if (data.differential?.length) {
      if (!this.table) {
        this.table = new DifferentialTable(t("differentialNow"), this.language, t, this.before);
        this.part("differential", this.table.view);
      }
      this.table.update(data.differential);
    }
  }

  /** What the calls found together. @param {Record<string, number>} more what one call found @param {Translate} t */
  counts(more, t) {
    for (const [origin, n] of Object.entries(more)) this.found[origin] = (this.found[origin] ?? 0) + n;
    const badges = Object.entries(this.found).map(([origin, n]) => h("span", { class: "count" }, originBadge(origin, t), ` ${n} `));
    return h("p", { lang: this.language }, h("strong", {}, t("evidenceSoFar")), " ", badges);
  }

  /** Whether an emergency was told already. */
  get alarmed() {
    return this.alarm.hasChildNodes();
  }

  /** Puts a part in its place, or in place of the same one before. @param {string} name @param {HTMLElement} view */
  part(name, view) {
    const old = this.parts.get(name);
    if (old === view) return;
    if (old) old.replaceWith(view);
    else this.more.append(view);
    this.parts.set(name, view);
  }

  /** @param {string} text */
  showDraft(text) {
    this.draft.replaceChildren(h("div", { class: "draft" }, h("p", { class: "badge" }, `⚠ ${this.t("draft")}`), h("p", {}, text)));
  }

  /** What stands of the answer, in the draft's place. @param {import("./types.js").View} view */
  showVerified(view) {
    const seen = view.alerts.map(([advice, seen]) => ({ code: "", advice, seen }));
    if (seen.length) this.alarm.replaceChildren(emergencyBox(seen, words(this.language), !this.alarmed));
    this.verified.replaceChildren(verifiedView(view, this.language));
    this.draft.replaceChildren();
  }

  /** The steps alone, folded away, for below the answer. */
  folded() {
    const seconds = this.seconds.toFixed(2);
    return h("details", {}, h("summary", {}, this.t("steps", { n: this.list.childElementCount, seconds })), this.list);
  }
}
