"""Objects of a JSON file one at a time: the one that it is, or each of its ``results``, however many they are."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from prompts.errors import DataError
from tools.readers.files import BLOCK, LARGEST_TEXT, open_bytes, read_faults

RESULTS = re.compile(r'"results"\s*:\s*\[')  # openFDA: {"meta": {...}, "results": [...]}
HEAD = 100_000  # ours: characters in which the results begin; what stands before them is a notice and counts
CUT = "The JSON is damaged or cut off."
ANEW = "Fetch the file anew."


def objects_of(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a file.

    Raises:
        DataError: damaged, cut off, no objects, or one of more than the limit of a document.
    """
    decoder = json.JSONDecoder()
    with read_faults(), open_bytes(path) as file:
        text = _Text(file)
        text.fill(HEAD)
        found = RESULTS.search(text.held[:HEAD])
        at = found.end() if found else 0
        while True:
            start = _next(text, at)
            if start < 0 or (found and text.held[start] == "]"):
                break
            value, at = _value(decoder, text, start)
            if not isinstance(value, dict):
                raise DataError("The JSON holds something else than objects.", "Give the file as it is published.")
            yield value
            text.held, at = text.held[at:], 0
            if not found:
                return
        if start < 0:
            raise DataError(CUT, ANEW)


class _Text:
    """The part of a file that was read and not used yet."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self.held, self.whole = file, "", False
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()

    def fill(self, wanted: int) -> None:
        """Read until so many characters are held, or the file ends."""
        while len(self.held) < wanted and not self.whole:
            data = self._file.read(max(BLOCK, wanted - len(self.held)))
            self.whole = not data
            try:
                self.held += self._decoder.decode(data, final=self.whole)
            except UnicodeDecodeError as error:
                raise DataError("The JSON is not UTF-8, or is cut off.", ANEW) from error


def _next(text: _Text, at: int) -> int:
    """Where the next value or the end of the list begins; -1 at the end of the file."""
    while True:
        while at < len(text.held) and text.held[at] in " \t\r\n,":
            at += 1
        if at < len(text.held):
            return at
        if text.whole:
            return -1
        text.fill(at + 1)


def _value(decoder: json.JSONDecoder, text: _Text, start: int) -> tuple[Any, int]:
    """The value that begins here, and where it ends; pieces twice as large are read until it is whole."""
    while True:
        try:
            return decoder.raw_decode(text.held, start)
        except (ValueError, RecursionError) as error:
            if text.whole or isinstance(error, RecursionError):
                raise DataError(CUT, ANEW) from error
        if len(text.held) - start > LARGEST_TEXT:
            raise DataError(f"One object holds more than {LARGEST_TEXT // 1_000_000} MB.", "Look at the file.")
        text.fill(2 * len(text.held))
