/** The studies that an answer cites, as a table that a click on a head sorts. */

import { announce, h, replace } from "./dom.js";

/** @typedef {import("./types.js").Studies} Studies */
/** @typedef {import("./types.js").Translate} Translate */

/** @param {Studies} studies @param {Translate} t */
export function studiesView(studies, t) {
  if (!studies.rows.length) return studies.none ? h("p", { class: "small muted no-study" }, studies.none) : null;
  const body = h("tbody", {});
  let sorted = "";
  let down = false;
  const show = () => {
    const rows = [...studies.rows];
    if (sorted) rows.sort((a, b) => (down ? -1 : 1) * told(a, sorted).localeCompare(told(b, sorted), undefined, { numeric: true }));
    replace(body, rows.map((row) => h("tr", {}, studies.columns.map((name) => h("td", { class: `study-${name}` }, told(row, name))))));
  };
  const heads = studies.columns.map((name, at) => {
    const head = studies.heads[at] ?? name;
    const cell = h("th", { scope: "col" });
    const button = h("button", { type: "button", class: "sorts" }, head);
    button.addEventListener("click", () => {
      down = sorted === name && !down;
      sorted = name;
      for (const other of cell.parentElement?.children ?? []) other.removeAttribute("aria-sort");
      cell.setAttribute("aria-sort", down ? "descending" : "ascending");
      show();
      announce(t("sortedBy", { name: head }));
    });
    cell.append(button);
    return cell;
  });
  show();
  return h(
    "div",
    { class: "scroll studies", role: "group", tabindex: 0, "aria-label": t("studies") },
    h("table", {}, h("caption", {}, t("studies")), h("thead", {}, h("tr", {}, heads)), body),
  );
}

/** A cell. @param {import("./types.js").Study} row @param {string} name */
function told(row, name) {
  if (name === "number") return `[${row.number}]`;
  if (name === "quotes") return row.quotes.map((quote) => `“${quote}”`).join(" … ");
  return String(row[/** @type {keyof typeof row} */ (name)] ?? "");
}
