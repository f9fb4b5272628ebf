/** Copying a text: by the browser's clipboard, or by a selection where the page came over plain HTTP. */

import { announce, h } from "./dom.js";

/** @typedef {import("./types.js").Translate} Translate */

const SHOWN = 2000; // ms; ours: how long the button says that it has copied

/**
 * A button that copies a text and says so.
 *
 * @param {string} label key of its words
 * @param {string} text
 * @param {Translate} t
 * @param {string} [name] what a screen reader is told, where the words alone do not tell what is copied
 */
export function copyButton(label, text, t, name = "") {
  const button = h("button", { type: "button", class: "quiet copy", "aria-label": name || null }, t(label));
  button.addEventListener("click", async () => {
    const done = t((await copied(text)) ? "copied" : "notCopied");
    button.textContent = done;
    button.removeAttribute("aria-label");
    announce(done);
    setTimeout(() => {
      button.textContent = t(label);
      if (name) button.setAttribute("aria-label", name);
    }, SHOWN);
  });
  return button;
}

/** Whether the text is on the clipboard now. @param {string} text */
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return bySelection(text);
  }
}

/** @param {string} text */
function bySelection(text) {
  const active = document.activeElement;
  const place = h("textarea", { class: "unseen", readonly: true });
  place.value = text;
  document.body.append(place);
  place.select();
  const done = document.execCommand("copy");
  place.remove();
  if (active instanceof HTMLElement) active.focus({ preventScroll: true });
  return done;
}
