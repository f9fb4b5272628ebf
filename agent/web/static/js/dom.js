/** Building the page out of elements. Text only ever becomes a text node: nothing here reads markup. */

/** @typedef {Node | string | number | null | undefined | false | Child[]} Child */
/** @typedef {Record<string, string | number | boolean | null | undefined | ((event: any) => void)>} Props */

const REFUSED = /^(on|style$|srcdoc$|innerhtml$)/i;
const LINKS = /^(https:\/\/|#|api\/|\.\/)/; // no javascript:, no data:

/**
 * An element. A function among the properties listens to the event of that name; `true` sets an empty attribute;
 * `null`, `undefined` and `false` set none.
 *
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Props} [props]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value !== null && value !== undefined && value !== false) attribute(element, name, value);
  }
  element.append(...nodes(children));
  return element;
}

/**
 * @param {Element} element
 * @param {string} name
 * @param {string | number | true} value
 */
function attribute(element, name, value) {
  if (REFUSED.test(name)) throw new TypeError(`the attribute ${name} is not set from here`);
  if ((name === "href" || name === "src") && !LINKS.test(String(value))) throw new TypeError(`no link: ${value}`);
  element.setAttribute(name, value === true ? "" : String(value));
}

/**
 * @param {Child[]} children
 * @returns {(Node | string)[]}
 */
function nodes(children) {
  return children.flatMap((child) => {
    if (Array.isArray(child)) return nodes(child);
    if (child === null || child === undefined || child === false) return [];
    return [child instanceof Node ? child : String(child)];
  });
}

/**
 * Puts new children in place of the old ones. Where the focus was inside, it goes to the new element with the same
 * `data-focus`, else to the parent.
 *
 * @param {HTMLElement} parent
 * @param {...Child} children
 */
export function replace(parent, ...children) {
  const active = document.activeElement;
  const inside = active instanceof HTMLElement && parent.contains(active) && active !== parent;
  const key = inside ? active.dataset.focus : undefined;
  parent.replaceChildren(...nodes(children));
  if (!inside) return;
  const same = key ? parent.querySelector(`[data-focus="${CSS.escape(key)}"]`) : null;
  if (same instanceof HTMLElement) same.focus({ preventScroll: true });
  else focusOn(parent);
}

/**
 * Moves the focus to an element that may not take it by itself.
 *
 * @param {HTMLElement} element
 */
export function focusOn(element) {
  if (element.tabIndex < 0 && !element.hasAttribute("tabindex")) element.setAttribute("tabindex", "-1");
  element.focus({ preventScroll: true });
}

/**
 * An element of index.html.
 *
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no #${id}`);
  return element;
}

let made = 0;

/**
 * An id that is used nowhere else on the page.
 *
 * @param {string} what
 */
export function freshId(what) {
  made += 1;
  return `${what}-${made}`;
}

/**
 * Says something to a screen reader, after what it is saying.
 *
 * @param {string} text
 */
export function announce(text) {
  byId("status").textContent = text;
}
