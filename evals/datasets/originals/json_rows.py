"""The entries of JSON objects and lists one by one, each with its line: what `json.loads` forgets and a report needs.

A key that stands twice is given twice; `json.loads` would keep the last.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from prompts.errors import DataError

SPACE = re.compile(r"[ \t\r\n]*")
DECODER = json.JSONDecoder()


class BrokenJsonError(DataError):
    """JSON that cannot be read on from a line."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(f"No valid JSON ({what}); what follows was not read.", "Fetch the file again.")
        self.line = line


class JsonText:
    """A place in a JSON text. Whoever asks for `entries` takes each one's value, whole or by its own entries."""

    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0
        self._counted, self._line = 0, 1

    @property
    def line(self) -> int:
        """The line of the place, from 1."""
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._line

    def next(self) -> str:
        """The character that begins what stands here, white space passed over; "" at the end."""
        match = SPACE.match(self._text, self._at)
        self._at = match.end() if match else self._at
        return self._text[self._at : self._at + 1]

    def value(self) -> object:
        """The whole value that stands here; raises BrokenJsonError."""
        self.next()
        try:
            value, end = DECODER.raw_decode(self._text, self._at)
        except json.JSONDecodeError as error:
            self._at = min(error.pos, len(self._text))
            raise BrokenJsonError(self.line, error.msg) from None
        except (RecursionError, ValueError) as error:  # too deep, or a number of thousands of digits
            raise BrokenJsonError(self.line, str(error)) from None
        self._at = end
        return value

    def entries(self) -> Iterator[tuple[int, str]]:
        """The entries of the object or list that stands here: line, and key ("0", "1", .. in a list).

        Raises:
            BrokenJsonError: it is neither, or cannot be read on.
        """
        close = {"{": "}", "[": "]"}.get(self.next(), "")
        if not close:
            raise BrokenJsonError(self.line, "neither an object nor a list")
        self._at += 1
        number = 0
        while self.next() != close:
            if number:
                self._expect(",")
            yield self._key(number, close)
            number += 1
        self._at += 1

    def end(self) -> None:
        """Raise BrokenJsonError unless the text ends here."""
        if self.next():
            raise BrokenJsonError(self.line, "more after the end")

    def _key(self, number: int, close: str) -> tuple[int, str]:
        self.next()
        line = self.line
        if close == "]":
            return line, str(number)
        key = self.value()
        if not isinstance(key, str):
            raise BrokenJsonError(line, "a key that is no text")
        self._expect(":")
        return line, key

    def _expect(self, character: str) -> None:
        if self.next() != character:
            raise BrokenJsonError(self.line, f"{character!r} expected")
        self._at += 1
