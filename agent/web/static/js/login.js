/** Logging in with a key; the server answers with a cookie that scripts cannot read. */

import { call } from "./api.js";
import { h } from "./dom.js";
import { problemBox } from "./problem.js";

/** @typedef {import("./types.js").Translate} Translate */

/**
 * @param {() => void} done
 * @param {string} why what to say above the form, "" for nothing
 * @param {Translate} t
 */
export function loginView(done, why, t) {
  const input = h("input", { id: "key", type: "password", autocomplete: "current-password", required: true, spellcheck: "false" });
  const failed = h("div", {});
  const form = h(
    "form",
    { class: "login" },
    h("h1", {}, t("loginTitle")),
    why ? h("p", { class: "notice warning", role: "alert" }, why) : null,
    h("p", { id: "key-hint" }, t("loginText")),
    h("label", { for: "key" }, t("key")),
    input,
    failed,
    h("button", { type: "submit", class: "primary" }, t("login")),
  );
  input.setAttribute("aria-describedby", "key-hint");
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      await call("POST", "login", { key: input.value.trim() });
      done();
    } catch (error) {
      failed.replaceChildren(problemBox(error, t));
      input.focus();
      input.select();
    }
  });
  return form;
}
