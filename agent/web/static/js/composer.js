/** Where a message is written: one line that grows. Enter sends it, unless a Chinese or Japanese word is being composed. */

import { h } from "./dom.js";
import { problemBox } from "./problem.js";

/** @typedef {import("./types.js").Translate} Translate */
/** @typedef {import("./types.js").SessionDocument} SessionDocument */
/** @typedef {{given: string[], report: boolean, documents: string[], replaces?: number}} With */

const PARTED = /^\s*-{3,}\s*$/m; // a line of dashes parts two given texts
const PLAIN = /\.(?:txt|text|md)$/i; // files that are text as they are

export class Composer {
  /**
   * @param {(text: string, extra: With) => boolean} send whether the message was taken
   * @param {(file: File) => Promise<SessionDocument>} put puts a file into the session
   * @param {() => void} stop stops the turn that runs
   * @param {Translate} t
   */
  constructor(send, put, stop, t) {
    this.send = send;
    this.put = put;
    /** @type {Map<string, HTMLInputElement>} */
    this.ticked = new Map();
    this.replaces = 0; // the turn whose place the message takes
    this.documents = h("ul", { class: "plain documents", "aria-label": t("documents"), hidden: true });
    this.text = h("textarea", { id: "message", rows: 1, placeholder: t("messagePlaceholder"), "aria-describedby": "message-hint", "data-focus": "message" });
    this.report = h("input", { type: "checkbox", id: "report" });
    this.given = h("textarea", { id: "given", rows: 4 });
    this.files = h("input", { type: "file", id: "files", multiple: true, accept: ".txt,.text,.md,.markdown,.pdf,.html,.htm,.xml,.nxml,.jsonl,.gz" });
    this.unread = h("div", {});
    this.files.addEventListener("change", async () => {
      await this.read([...(this.files.files ?? [])]);
      this.files.value = "";
    });
    this.halt = h("button", { type: "button", class: "stop", click: stop, hidden: true, title: t("stopHint") }, h("span", { "aria-hidden": "true" }, "■ "), t("stop"));
    this.editing = h("p", { class: "editing small", hidden: true }, t("editNote"), " ", h("button", { type: "button", class: "quiet", click: () => this.letBe() }, t("cancel")));
    this.button = h("button", { type: "submit", class: "primary" }, t("send"));
    this.opener = h(
      "button",
      { type: "button", class: "quiet with", "aria-expanded": "false", "aria-controls": "with", "aria-label": t("more"), title: t("more") },
      h("span", { "aria-hidden": "true" }, "+"),
    );
    this.more = h(
      "div",
      { id: "with", hidden: true },
      h("p", { class: "option block" }, this.report, h("label", { for: "report" }, t("withReport"))),
      h("label", { for: "given", class: "block" }, t("given")),
      this.given,
      h("label", { for: "files", class: "block" }, t("files")),
      this.files,
    );
    this.t = t;
    this.view = h(
      "form",
      { class: "composer" },
      h("label", { for: "message", class: "unseen" }, t("message")),
      this.more,
      this.unread,
      this.documents,
      this.editing,
      h("div", { class: "write" }, this.opener, this.text, this.halt, this.button),
      h("p", { id: "message-hint", class: "unseen" }, t("messageHint")),
    );
    this.opener.addEventListener("click", () => this.open(Boolean(this.more.hidden)));
    this.view.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
    this.view.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !this.more.hidden) {
        event.preventDefault();
        this.open(false);
        this.opener.focus();
      }
    });
    this.text.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return;
      event.preventDefault();
      this.submit();
    });
  }

  /**
   * Takes files that were dropped, or lets them be dropped here.
   *
   * @param {DragEvent} event
   */
  dropped(event) {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    if (event.type === "drop") void this.read([...event.dataTransfer.files]);
  }

  /** Puts the texts of plain files among the given ones, and every other file into the session. @param {File[]} files */
  async read(files) {
    const plain = files.filter((file) => PLAIN.test(file.name) || file.type === "text/plain");
    const texts = await Promise.all(plain.map((file) => file.text()));
    this.given.value = [this.given.value.trim(), ...texts.map((text) => text.trim())].filter(Boolean).join("\n---\n");
    if (plain.length) this.open(true);
    this.unread.replaceChildren();
    for (const file of files.filter((other) => !plain.includes(other))) {
      const reading = h("p", { class: "small muted", role: "status" }, this.t("readingFile", { name: file.name }));
      this.unread.append(reading);
      try {
        this.holds([await this.put(file)]);
      } catch (error) {
        this.unread.append(problemBox(error, this.t));
      }
      reading.remove();
    }
  }

  /** Shows documents of the session; what is ticked goes with the message. @param {SessionDocument[]} documents */
  holds(documents) {
    for (const { id, name, problems } of documents) {
      if (this.ticked.has(id)) continue;
      const box = h("input", { type: "checkbox", id: `document-${id}`, checked: true });
      const lacking = problems.map((text) => h("p", { class: "small" }, "⚠ ", text));
      this.ticked.set(id, box);
      this.documents.append(h("li", {}, box, h("label", { for: `document-${id}` }, name), lacking));
    }
    this.documents.hidden = !this.ticked.size;
  }

  /** Shows or hides what goes with the message. @param {boolean} shown */
  open(shown) {
    this.more.hidden = !shown;
    this.opener.setAttribute("aria-expanded", String(shown));
  }

  submit() {
    const text = this.text.value.trim();
    const given = this.given.value.split(PARTED).map((part) => part.trim()).filter(Boolean);
    const documents = [...this.ticked].filter(([, box]) => box.checked).map(([id]) => id);
    const replaces = this.replaces ? { replaces: this.replaces } : {};
    if (!text || !this.send(text, { given, report: this.report.checked, documents, ...replaces })) return;
    this.edits(0);
    this.text.value = "";
    this.given.value = "";
    this.report.checked = false;
    this.unread.replaceChildren();
    this.open(false);
  }

  /** Gives a message back that was not taken. @param {string} text @param {With} extra */
  giveBack(text, extra) {
    if (!this.text.value) this.text.value = text;
    if (!this.given.value) this.given.value = extra.given.join("\n---\n");
    this.report.checked = extra.report;
    if (extra.report || extra.given.length) this.open(true);
    this.edits(extra.replaces ?? 0);
  }

  /** Takes a message that was sent, to be sent once more in its own place. @param {string} text @param {With} extra */
  edit(text, extra) {
    this.text.value = "";
    this.given.value = "";
    this.giveBack(text, extra);
    this.text.focus();
  }

  /** Leaves the message as it was sent. */
  letBe() {
    this.edits(0);
    this.text.value = "";
    this.text.focus();
  }

  /** @param {number} turn whose place the message takes, 0 for none */
  edits(turn) {
    this.replaces = turn;
    this.editing.hidden = !turn;
  }

  /** @param {boolean} running a turn runs: nothing is sent meanwhile, and it can be stopped */
  hold(running) {
    if (!running && document.activeElement === this.halt) this.text.focus();
    this.halt.hidden = !running;
    this.button.setAttribute("aria-disabled", String(running));
  }
}
