/** Where a message is written: one line that grows. Enter sends it, unless a Chinese or Japanese word is being composed. */

import { h } from "./dom.js";

/** @typedef {import("./types.js").Translate} Translate */
/** @typedef {{given: string[], report: boolean}} With */

const PARTED = /^\s*-{3,}\s*$/m; // a line of dashes parts two given texts
const PLAIN = /\.(?:txt|text|md)$/i; // files that are text as they are

export class Composer {
  /**
   * @param {(text: string, extra: With) => boolean} send whether the message was taken
   * @param {Translate} t
   */
  constructor(send, t) {
    this.send = send;
    this.text = h("textarea", { id: "message", rows: 1, placeholder: t("messagePlaceholder"), "aria-describedby": "message-hint", "data-focus": "message" });
    this.report = h("input", { type: "checkbox", id: "report" });
    this.given = h("textarea", { id: "given", rows: 4 });
    this.files = h("input", { type: "file", id: "files", multiple: true, accept: ".txt,.text,.md,text/plain" });
    this.unread = h("div", {});
    this.files.addEventListener("change", async () => {
      await this.read([...(this.files.files ?? [])]);
      this.files.value = "";
    });
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
      this.unread,
    );
    this.t = t;
    this.view = h(
      "form",
      { class: "composer" },
      h("label", { for: "message", class: "unseen" }, t("message")),
      this.more,
      h("div", { class: "write" }, this.opener, this.text, this.button),
      h("p", { id: "message-hint", class: "unseen" }, t("messageHint")),
    );
    this.opener.addEventListener("click", () => this.open(Boolean(this.more.hidden)));
    this.view.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
    this.view.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !this.more.hidden) {
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

  /** Puts the texts of files among the given ones; what is no text is told. @param {File[]} files */
  async read(files) {
    const plain = files.filter((file) => PLAIN.test(file.name) || file.type === "text/plain");
    const texts = await Promise.all(plain.map((file) => file.text()));
    this.given.value = [this.given.value.trim(), ...texts.map((text) => text.trim())].filter(Boolean).join("\n---\n");
    const others = files.filter((file) => !plain.includes(file)).map((file) => file.name);
    const told = this.t("unreadFile", { names: others.join(", ") });
    this.unread.replaceChildren(...(others.length ? [h("p", { class: "problem", role: "alert" }, told)] : []));
    this.open(true);
  }

  /** Shows or hides what goes with the message. @param {boolean} shown */
  open(shown) {
    this.more.hidden = !shown;
    this.opener.setAttribute("aria-expanded", String(shown));
  }

  submit() {
    const text = this.text.value.trim();
    const given = this.given.value.split(PARTED).map((part) => part.trim()).filter(Boolean);
    if (!text || !this.send(text, { given, report: this.report.checked })) return;
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
  }

  /** @param {boolean} running a turn runs: nothing is sent meanwhile */
  hold(running) {
    this.button.setAttribute("aria-disabled", String(running));
  }
}
