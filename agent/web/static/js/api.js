/** The API. Addresses are relative, so that the page works below a path of its own. */

import { events } from "./sse.js";

/** @typedef {import("./types.js").Step} Step */
/** @typedef {import("./types.js").Answer} Answer */

/** What went wrong, with what to do about it. */
export class Problem extends Error {
  /**
   * @param {number} status 0 where the server was not reached
   * @param {{code?: string, message?: string, advice?: string, request_id?: string}} told
   */
  constructor(status, told) {
    super(told.message ?? "");
    this.status = status;
    this.code = told.code ?? "";
    this.advice = told.advice ?? "";
    this.requestId = told.request_id ?? "";
  }
}

/**
 * @param {string} method
 * @param {string} path below api/
 * @param {unknown} [body]
 * @param {Record<string, string>} [headers]
 * @returns {Promise<Response>}
 * @throws {Problem}
 */
async function send(method, path, body, headers = {}) {
  /** @type {RequestInit} */
  const init = { method, headers: { Accept: "application/json", ...headers }, credentials: "same-origin" };
  if (body instanceof Blob) {
    init.body = body;
    init.headers = { ...init.headers, "Content-Type": "application/octet-stream" };
  } else if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers = { ...init.headers, "Content-Type": "application/json" };
  }
  let response;
  try {
    response = await fetch(`api/${path}`, init);
  } catch {
    throw new Problem(0, { code: "unreachable" });
  }
  if (!response.ok) throw await problemOf(response);
  return response;
}

/**
 * @param {Response} response
 * @returns {Promise<Problem>}
 */
async function problemOf(response) {
  try {
    const told = await response.json();
    return new Problem(response.status, told.error ?? {});
  } catch {
    return new Problem(response.status, {});
  }
}

/**
 * A call that gives JSON, or null where there is none. A file goes as it is, anything else as JSON.
 *
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 * @returns {Promise<any>}
 * @throws {Problem}
 */
export async function call(method, path, body) {
  const response = await send(method, path, body);
  return response.status === 204 ? null : response.json();
}

/**
 * A file with its name, and what the server notes of it.
 *
 * @param {string} path
 * @returns {Promise<{blob: Blob, name: string, note: string, empty: boolean}>} `empty`: it holds no reference
 * @throws {Problem}
 */
export async function file(path) {
  const response = await send("GET", path);
  const name = /filename="([^"]+)"/.exec(response.headers.get("Content-Disposition") ?? "")?.[1] ?? "file";
  const empty = response.headers.get("X-References") === "0";
  return { blob: await response.blob(), name, note: response.headers.get("X-References-Note") ?? "", empty };
}

/**
 * A turn: its steps go to `onStep` as they happen; the answer is returned, with how it is shown.
 *
 * @param {string} path
 * @param {unknown} body
 * @param {string} key the turn's idempotency key: sent again, it runs nothing again
 * @param {(step: Step) => void} onStep
 * @returns {Promise<{answer: Answer, view: import("./types.js").View}>}
 * @throws {Problem}
 */
export async function turn(path, body, key, onStep) {
  const headers = { Accept: "text/event-stream", ...(key ? { "Idempotency-Key": key } : {}) };
  const response = await send("POST", path, body, headers);
  let view;
  try {
    for await (const { event, data } of events(response)) {
      if (event === "step" || event === "verified") onStep(JSON.parse(data));
      if (event === "view") view = JSON.parse(data);
      if (event === "answer") return { answer: JSON.parse(data), view };
      if (event === "error") throw streamed(JSON.parse(data));
    }
  } catch (error) {
    throw error instanceof Problem ? error : new Problem(0, { code: "cut_off" });
  }
  throw new Problem(0, { code: "cut_off" });
}

/** @param {any} told */
function streamed(told) {
  const inner = told.error ?? told;
  return new Problem(told.status ?? (inner.code === "bad_input" ? 400 : 500), inner);
}

/** An idempotency key. `crypto.randomUUID` is missing where the page came over plain HTTP. */
export function freshKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
