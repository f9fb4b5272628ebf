/** The head of a session: its title, and what can be done with it; without a session, a welcome. */

import { call } from "./api.js";
import { announce, h } from "./dom.js";
import { askText, confirmed } from "./dialogs.js";
import { saveLinks } from "./saving.js";

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

const EXAMPLES = ["example1", "example2", "example3", "example4", "example5", "example6"];
const KNOWN = ["knows1", "knows2", "knows3", "knows4"];

/** @param {Doing} doing */
function welcome({ t, example }) {
  const examples = EXAMPLES.map((key) =>
    h("li", {}, h("button", { type: "button", class: "example", click: () => example(t(key)) }, t(key))),
  );
  return h(
    "div",
    { class: "welcome" },
    h("h1", {}, t("welcome")),
    h("p", {}, t("welcomeText")),
    h("h2", {}, t("tryOne")),
    h("ul", { class: "plain examples" }, examples),
    h("h2", {}, t("knows")),
    h("ul", { class: "known" }, KNOWN.map((key) => h("li", {}, t(key)))),
    h("p", { class: "small muted" }, t("knowsNot")),
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
  return h(
    "div",
    { class: "titled" },
    h("h1", {}, session.title || t("untitled")),
    h(
      "details",
      { class: "menu" },
      h("summary", { "data-focus": "menu" }, t("sessionMenu")),
      h(
        "div",
        { class: "tools" },
        saveLinks(path, 0, t),
        h("button", { type: "button", class: "quiet", click: rename, "data-focus": "rename" }, t("rename")),
        h("button", { type: "button", class: "quiet danger", click: remove, "data-focus": "delete" }, t("delete")),
      ),
    ),
  );
}
