"""Where each document of a collection lies: a sorted table of numbers, mapped into memory."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from prompts.errors import DataError
from tools.corpus.parts import read_document, read_places
from tools.corpus.reading import number_of
from tools.library.document import Document

ROW = np.dtype([("number", "<u8"), ("part", "<u4"), ("start", "<u8"), ("length", "<u4")])
AGAIN = "Build the collection again: finished parts are kept."


def write_catalogue(path: Path, parts: Path, keys: Sequence[str]) -> None:
    """Write the table of the documents of some parts; 24 bytes a document in memory meanwhile."""
    found = []
    for at, key in enumerate(keys):
        place = read_places(parts, key)
        rows = np.zeros(len(place.number), dtype=ROW)
        rows["number"], rows["start"], rows["length"], rows["part"] = place.number, place.start, place.length, at
        found.append(rows)
    table = np.concatenate(found) if found else np.zeros(0, dtype=ROW)
    table = table[np.argsort(table["number"], kind="stable")]
    work = path.with_name(f".{path.name}")
    with work.open("wb") as file:
        np.save(file, table, allow_pickle=False)
        file.flush()
        os.fsync(file.fileno())
    work.replace(path)


class Catalogue:
    """The documents of a finished collection, by id. Raises DataError for a table that cannot be read."""

    def __init__(self, path: Path, parts: Path, keys: Sequence[str]) -> None:
        self._parts, self._keys = parts, keys
        try:
            self._table: NDArray[np.void] = np.load(path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            raise DataError(f"The catalogue {path} is damaged or gone.", AGAIN) from error
        self._numbers = self._table["number"]

    def __len__(self) -> int:
        """Number of documents, retracted ones included."""
        return len(self._table)

    def document(self, id: str) -> Document | None:
        """The document with this id, None when the collection does not hold it."""
        number = np.uint64(number_of(id))
        at = int(np.searchsorted(self._numbers, number))
        while at < len(self._table) and self._numbers[at] == number:  # numbers of hashed ids may meet
            found = self._read(at)
            if found.id == id:
                return found
            at += 1
        return None

    def documents(self) -> Iterator[Document]:
        """All documents, by number."""
        return (self._read(at) for at in range(len(self._table)))

    def _read(self, at: int) -> Document:
        row = self._table[at]
        return read_document(self._parts, self._keys[int(row["part"])], int(row["start"]), int(row["length"]))
