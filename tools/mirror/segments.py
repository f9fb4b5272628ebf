"""A segment: the records of one transaction, inverted.

Segments are only ever added; a record that is replaced or deleted keeps its number, which is then listed as dead. A
commit holds records and postings together, so an interrupted load leaves the mirror as it was after the last one.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from tools.mirror.entries import COLUMNS, GAP, Entry
from tools.mirror.postings import pack

TITLE, ABSTRACT = 0, 1  # the columns whose counts are kept, for relevance
MOST = 255  # a count is one byte; the weight of a word has long been saturated there


class Inverted:
    """The postings of a segment, in memory until it is written.

    Args:
        base: the number of its first document; the others follow.
    """

    def __init__(self, base: int, entries: Sequence[Entry]) -> None:
        self.base = base
        self._documents: tuple[dict[str, array[int]], ...] = tuple(defaultdict(_documents) for _ in COLUMNS)
        self._counts: tuple[dict[str, bytearray], ...] = (defaultdict(bytearray), defaultdict(bytearray))
        self._keys: dict[str, array[int]] = defaultdict(_documents)
        for document, entry in enumerate(entries, base):
            self._add(document, entry)
        self.pmids = np.array([int(e.record.pmid) for e in entries], dtype=np.int64).tobytes()
        self.published = np.array([e.published for e in entries], dtype=np.int32).tobytes()
        self.entered = np.array([e.entered for e in entries], dtype=np.int32).tobytes()
        lengths = [len(e.columns[TITLE]) + len(e.columns[ABSTRACT]) for e in entries]
        self.lengths = np.array(lengths, dtype=np.int32).tobytes()

    def _add(self, document: int, entry: Entry) -> None:
        for column, found in enumerate(entry.columns):
            postings = self._documents[column]
            if column <= ABSTRACT:
                counts = self._counts[column]
                for word, count in Counter(found).items():
                    postings[word].append(document)
                    counts[word].append(count if count < MOST else MOST)
            else:
                for word in set(found) - {GAP}:
                    postings[word].append(document)
        for name in entry.keys:
            self._keys[name].append(document)

    def word_rows(self) -> Iterator[tuple[str | bytes | None, ...]]:
        """A row a word, in order: the word, its documents by column, its counts in title and abstract."""
        for word in sorted(set().union(*self._documents)):
            lists = (pack(d[word]) if word in d else None for d in self._documents)
            counts = (bytes(c[word]) if word in c else None for c in self._counts)
            yield (word, *lists, *counts)

    def key_rows(self) -> Iterator[tuple[str, bytes]]:
        """A row a key, in order, with its documents."""
        for name in sorted(self._keys):
            yield name, pack(self._keys[name])


def _documents() -> array[int]:
    return array("I")
