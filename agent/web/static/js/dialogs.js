/** Questions to the reader in the browser's own dialogue, which keeps the focus inside and gives it back. */

import { freshId, h } from "./dom.js";
import { problemBox } from "./problem.js";

/** @typedef {import("./types.js").Translate} Translate */

/**
 * Asks for a text and saves it; null where the reader cancels.
 *
 * @template T
 * @param {{title: string, label: string, value: string, save: (text: string) => Promise<T>, t: Translate}} asked
 * @returns {Promise<T | null>}
 */
export function askText({ title, label, value, save, t }) {
  const id = freshId("text");
  const input = h("input", { id, type: "text", maxlength: 200, required: true, autocomplete: "off", autofocus: true });
  input.value = value;
  const fields = [h("label", { for: id }, label), input];
  return open({ title, fields, label: t("save"), danger: false, act: () => save(input.value.trim()), t });
}

/**
 * Does something that cannot be undone, once the reader has agreed; whether it was done.
 *
 * @param {{title: string, text: string, label: string, act: () => Promise<unknown>, t: Translate}} asked
 * @returns {Promise<boolean>}
 */
export async function confirmed({ title, text, label, act, t }) {
  const done = await open({ title, fields: [h("p", {}, text)], label, danger: true, act: () => act().then(() => true), t });
  return done ?? false;
}

/**
 * @template T
 * @param {{title: string, fields: HTMLElement[], label: string, danger: boolean, act: () => Promise<T>, t: Translate}} asked
 * @returns {Promise<T | null>}
 */
function open({ title, fields, label, danger, act, t }) {
  const id = freshId("dialog");
  const failed = h("div", {});
  const cancel = h("button", { type: "button", class: "quiet", autofocus: danger }, t("cancel"));
  const form = h(
    "form",
    {},
    h("h2", { id }, title),
    fields,
    failed,
    h("div", { class: "tools" }, cancel, h("button", { type: "submit", class: danger ? "danger" : "primary" }, label)),
  );
  const dialog = h("dialog", { "aria-labelledby": id }, form);
  document.body.append(dialog);
  return new Promise((resolve) => {
    /** @type {T | null} */
    let result = null;
    cancel.addEventListener("click", () => dialog.close());
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      try {
        result = await act();
        dialog.close();
      } catch (error) {
        failed.replaceChildren(problemBox(error, t));
      }
    });
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(result);
    });
    dialog.showModal();
  });
}
