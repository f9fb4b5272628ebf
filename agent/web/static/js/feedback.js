/** Whether an answer helped, and why: kept beside it, and gone with its session. */

import { announce, freshId, h, replace } from "./dom.js";
import { problemBox } from "./problem.js";

/** @typedef {import("./types.js").Feedback} Feedback */
/** @typedef {import("./types.js").Translate} Translate */

/**
 * @param {Feedback | null} given
 * @param {(helpful: boolean, reason: string) => Promise<Feedback>} save
 * @param {Translate} t
 */
export function feedbackForm(given, save, t) {
  const place = h("div", { class: "feedback" });
  const show = (/** @type {Feedback | null} */ said, open = false) => {
    const thumbs = [true, false].map((helpful) => {
      const name = helpful ? "helped" : "helpedNot";
      const pressed = said?.helpful === helpful;
      const button = h("button", { type: "button", class: "quiet thumb", "aria-pressed": String(pressed), "data-focus": name }, t(name));
      button.addEventListener("click", () => keep(helpful, said?.helpful === helpful ? said.reason : ""));
      return button;
    });
    replace(place, thumbs, said && !open && said.reason ? h("span", { class: "small muted" }, said.reason) : null, said && open ? reasonForm(said) : null);
  };
  const keep = async (/** @type {boolean} */ helpful, /** @type {string} */ reason, open = true) => {
    try {
      show(await save(helpful, reason), open);
      announce(t("feedbackKept"));
    } catch (error) {
      place.append(problemBox(error, t));
    }
  };
  const reasonForm = (/** @type {Feedback} */ said) => {
    const id = freshId("reason");
    const input = h("input", { id, type: "text", maxlength: 2000, autocomplete: "off", "data-focus": "reason" });
    input.value = said.reason;
    const send = (/** @type {Event} */ event) => {
      event.preventDefault();
      void keep(said.helpful, input.value.trim(), false);
    };
    return h("form", { class: "value", submit: send }, h("label", { for: id }, t("feedbackWhy")), input, h("button", { type: "submit", class: "quiet" }, t("save")));
  };
  show(given);
  return place;
}
