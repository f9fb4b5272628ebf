/** Server-sent events out of a response body; a POST cannot use the browser's EventSource. */

/** @typedef {{event: string, data: string}} Event */

/**
 * The events of a response, as they come.
 *
 * @param {Response} response
 * @returns {AsyncGenerator<Event>}
 */
export async function* events(response) {
  if (!response.body) return;
  const reader = response.body.getReader();
  const decoder = new TextDecoder(); // a character may be cut between two chunks
  const feed = feeder();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      yield* feed(decoder.decode(value, { stream: !done }));
      if (done) return;
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

/**
 * Takes pieces of text, gives the events that they complete. A comment (a line that begins with a colon) is none; an
 * event that its blank line does not end is not given.
 *
 * @returns {(text: string) => Event[]}
 */
export function feeder() {
  let rest = "";
  let event = "message";
  /** @type {string[]} */
  let data = [];
  return (text) => {
    const lines = (rest + text).split(/\r\n|\n|\r(?!$)/); // a \r at the very end may be half of \r\n
    rest = lines.pop() ?? "";
    const ended = [];
    for (const line of lines) {
      if (line === "") {
        if (data.length) ended.push({ event, data: data.join("\n") });
        [event, data] = ["message", []];
      } else {
        const [, field, value] = /^([^:]*)(?:: ?)?([\s\S]*)$/.exec(line) ?? [];
        if (field === "event") event = value;
        if (field === "data") data.push(value);
      }
    }
    return ended;
  };
}
