/** The head of a session: its title, and what can be done with it; without a session, a welcome. */

import { call } from "./api.js";
import { announce, h } from "./dom.js";
import { askText, confirmed } from "./dialogs.js";

/** @typedef {import("./types.js").SessionRecord} SessionRecord */
/** @typedef {import("./types.js").Translate} Translate */

/**
 * @typedef {object} Doing
 * @property {Translate} t
 * @property {(text: string) => void} example puts a text where the message is written
 * @property {(session: SessionRecord) => void} renamed
 * @property {() => void} gone
 */

/** @param {SessionRecord | null} session @param {Doing} doing */
export function sessionHead(session, doing) {
  return session ? head(session, doing) : welcome(doing);
}

/** @param {Doing} doing */
function welcome({ t, example }) {
  const examples = ["example1", "example2"].map((key) =>
    h("li", {}, h("button", { type: "button", class: "example", click: () => example(t(key)) }, t(key))),
  );
  return h(
    "div",
    { class: "welcome" },
    h("h1", {}, t("welcome")),
    h("p", {}, t("welcomeText")),
    h("p", { class: "small muted" }, `${t("tryOne")}:`),
    h("ul", { class: "plain" }, examples),
  );
}

/** @param {SessionRecord} session @param {Doing} doing */
function head(session, { t, renamed, gone }) {
  const path = `sessions/${encodeURIComponent(session.id)}`;
  const rename = async () => {
    const change = (/** @type {string} */ title) => call("PATCH", path, { title });
    const record = await askText({ title: t("rename"), label: t("title"), value: session.title, save: change, t });
    if (!record) return;
    renamed(record);
    announce(t("renamed"));
  };
  const remove = async () => {
    const title = session.title || t("untitled");
    const done = () => call("DELETE", path);
    if (!(await confirmed({ title: t("deleteTitle"), text: t("deleteText", { title }), label: t("delete"), act: done, t }))) return;
    announce(t("deleted"));
    gone();
  };
  const exports = [["json", "JSON"], ["markdown", "Markdown"]].map(([format, name]) =>
    h("a", { class: "button quiet", href: `api/${path}/export?format=${format}`, download: true, "aria-label": t("exportAs", { format: name }) }, name),
  );
  return h(
    "div",
    { class: "titled" },
    h("h1", {}, session.title || t("untitled")),
    h(
      "div",
      { class: "tools" },
      h("span", { class: "small muted", "aria-hidden": "true" }, t("exportAs", { format: "" })),
      exports,
      h("button", { type: "button", class: "quiet", click: rename, "data-focus": "rename" }, t("rename")),
      h("button", { type: "button", class: "quiet danger", click: remove, "data-focus": "delete" }, t("delete")),
    ),
  );
}
