/** On paper nothing is folded away: what matters of it is opened while the page is printed, and closed again after. */

const OPENED =
  ".label-word, .follow-up details, .report, .sources > details, .sources > .cards .read, .how, " +
  ".rare, .similar, .found details:not(.unused li *)"; // what fills pages (the trace, single reasons) is left out

/** @type {HTMLDetailsElement[]} */
let opened = [];

/** Opens what is closed; a promise of what is fetched for it. */
function unfold() {
  /** @type {Promise<unknown>[]} */
  const fetched = [];
  for (const details of /** @type {NodeListOf<HTMLDetailsElement>} */ (document.querySelectorAll(OPENED))) {
    if (details.open) continue;
    details.open = true;
    details.dispatchEvent(new CustomEvent("toggle", { detail: fetched })); // the browser's own comes too late
    opened.push(details);
  }
  return Promise.all(fetched);
}

function fold() {
  for (const details of opened) details.open = false;
  opened = [];
}

/** Prints, once all is there that is fetched when it is opened. */
export async function print() {
  await unfold();
  window.print();
}

/** Opens what is folded away whenever the page is printed, by whatever command. */
export function unfoldedOnPaper() {
  const paper = window.matchMedia("print");
  window.addEventListener("beforeprint", unfold);
  window.addEventListener("afterprint", fold);
  paper.addEventListener("change", () => (paper.matches ? unfold() : fold()));
}
