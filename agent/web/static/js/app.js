/** The page: log-in, the list of sessions beside the conversation, and the language of both. */

import { call, Problem } from "./api.js";
import { Conversation } from "./conversation.js";
import { announce, byId, focusOn, h } from "./dom.js";
import { loginView } from "./login.js";
import { unfoldedOnPaper } from "./printing.js";
import { problemBox } from "./problem.js";
import { SessionList } from "./sessions.js";
import { keepLanguage, readersLanguage, tongue, words } from "./words.js";

/** @typedef {import("./types.js").Me} Me */
/** @typedef {import("./types.js").SessionRecord} SessionRecord */

const SESSION = /^#\/s\/([^/]+)$/;
const ONCE = /^#\/once\/([\w-]+)$/; // a link that logs in one time
const THIS_MACHINE = "page on this machine"; // the name of the one-time link's key, as the server has it
const NARROW = window.matchMedia("(max-width: 52rem)"); // as in page.css

const main = byId("main");
const nav = byId("sessions");
const menu = byId("menu");

let language = readersLanguage();
let t = words(language);
/** @type {Me | null} */
let me = null;
/** @type {SessionList} */
let list = newList();
/** @type {Conversation | null} */
let open = null;
let left = 0; // where the page was scrolled to when the list was opened
let shown = 0; // counts what was opened, so that a slow answer does not take the place of a later one

/** Begins, or begins again after a log-in. */
async function start() {
  const refused = await logInOnce();
  try {
    me = await call("GET", "me");
  } catch (error) {
    if (!signedOut(error, refused)) main.replaceChildren(problemBox(error, t, { label: t("tryAgain"), act: start }));
    return;
  }
  showFrame();
  await Promise.all([list.refresh(), route()]);
}

/** Logs in by what a one-time link brought, which goes from the address first; why that failed, "" where it did not. */
async function logInOnce() {
  const word = ONCE.exec(location.hash)?.[1];
  if (!word) return "";
  history.replaceState(null, "", location.pathname);
  try {
    await call("POST", "login", { key: word });
    return "";
  } catch (error) {
    return error instanceof Problem ? error.message : "";
  }
}

function newList() {
  return new SessionList(nav, () => go(""), (error) => signedOut(error), t);
}

/** Shows the log-in where an error says that one is needed; whether it did. @param {unknown} error @param {string} [why] */
function signedOut(error, why = "") {
  if (!(error instanceof Problem) || error.status !== 401) return false;
  showLogin(me ? t("signedOut") : why);
  return true;
}

/** @param {string} why */
function showLogin(why) {
  me = null;
  shown += 1;
  list.close(); // titles are a patient's words: nothing of them stays for whoever comes next
  list = newList();
  announce(""); // what was said last is an answer's words
  showFrame();
  main.replaceChildren(loginView(start, why, t));
  byId("key").focus();
}

/** What stands around the conversation. */
function showFrame() {
  nav.hidden = !me || NARROW.matches;
  menu.hidden = !me;
  menu.setAttribute("aria-expanded", String(!nav.hidden));
  byId("logout").hidden = !me?.authentication;
  byId("who").hidden = !me;
  byId("who").textContent = me?.name === THIS_MACHINE ? t("thisMachine") : (me?.name ?? "");
}

/** Opens what the address names. */
async function route() {
  if (!me) return;
  shown += 1;
  const turn = shown;
  const id = named();
  list.mark(id);
  if (NARROW.matches) toggleMenu(false);
  if (!id) return show(new Conversation(frame(), null, [], {}));
  try {
    const { session, turns, views } = await call("GET", `sessions/${encodeURIComponent(id)}?view=true`);
    if (turn === shown) show(new Conversation(frame(), session, turns, views));
  } catch (error) {
    if (turn !== shown || signedOut(error)) return;
    main.replaceChildren(problemBox(error, t, { label: t("newSession"), act: () => go("") }));
  }
}

/** The session that the address names, "" for none; what is not well written names none. */
function named() {
  try {
    return decodeURIComponent(SESSION.exec(location.hash)?.[1] ?? "");
  } catch {
    return "";
  }
}

/** @param {Conversation} conversation */
function show(conversation) {
  open = conversation;
  main.replaceChildren(conversation.view);
  conversation.follow();
  const { turns, composer } = conversation;
  if (!turns.length) {
    composer.text.focus({ preventScroll: true });
    return;
  }
  turns.at(-1)?.view.scrollIntoView({ block: "start" });
  focusOn(document.body); // browsers may go on from what was scrolled to: the first Tab is for the skip link
  document.body.blur();
}

/** @returns {import("./conversation.js").Frame} */
function frame() {
  const opened = (/** @type {SessionRecord} */ session) => {
    history.replaceState(null, "", `#/s/${encodeURIComponent(session.id)}`);
    list.mark(session.id);
  };
  const changed = async (/** @type {string} */ id) => {
    if (me) await list.refresh();
    return list.sessions.find((s) => s.id === id);
  };
  const gone = () => {
    list.refresh();
    go("");
  };
  return { me: me ?? { name: "", scopes: [], authentication: false }, t, language, opened, changed, gone, signedOut };
}

/** @param {string} id "" for a new session */
function go(id) {
  history.pushState(null, "", id ? `#/s/${encodeURIComponent(id)}` : location.pathname + location.search);
  route();
}

/** The list stands above the conversation: it is brought in view, and what was read when it closes. @param {boolean} open */
function toggleMenu(open) {
  if (nav.hidden === !open) return;
  if (open) left = window.scrollY;
  nav.hidden = !open;
  menu.setAttribute("aria-expanded", String(open));
  window.scrollTo(0, open ? 0 : left);
}

/** Puts the words of index.html into the reader's language. */
function translate() {
  document.documentElement.lang = language === "zh" ? "zh-Hans" : "en";
  for (const element of document.querySelectorAll("[data-t]")) {
    if (element instanceof HTMLElement) element.textContent = t(element.dataset.t ?? "");
  }
  nav.setAttribute("aria-label", t("sessions"));
  const select = byId("language");
  if (select instanceof HTMLSelectElement) select.value = language;
}

byId("skip").addEventListener("click", (event) => {
  event.preventDefault(); // the address names the session
  focusOn(main);
});
byId("language").addEventListener("change", (event) => {
  language = event.target instanceof HTMLSelectElement ? tongue(event.target.value) : language;
  keepLanguage(language);
  t = words(language);
  list.close();
  list = newList();
  translate();
  if (me) start();
  else showLogin("");
  byId("language").focus();
});
byId("logout").addEventListener("click", async () => {
  try {
    await call("POST", "logout");
  } catch (error) {
    main.querySelector(":scope > .problem")?.remove();
    main.prepend(problemBox(error, t)); // the log-in is as good as before: nobody is to think otherwise
    return;
  }
  history.replaceState(null, "", location.pathname);
  showLogin("");
});
menu.addEventListener("click", () => toggleMenu(nav.matches("[hidden]")));
nav.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !NARROW.matches) return;
  event.preventDefault();
  toggleMenu(false);
  menu.focus({ preventScroll: true });
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.defaultPrevented || !open?.view.isConnected || document.querySelector("dialog[open]")) return;
  open.escape();
});
NARROW.addEventListener("change", showFrame);
window.addEventListener("hashchange", route);
unfoldedOnPaper();

translate();
main.replaceChildren(h("p", { class: "muted" }, `${t("loading")} …`));
start();
