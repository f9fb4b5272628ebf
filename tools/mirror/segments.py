"""A segment: the records of one transaction, inverted.

A record that is replaced or deleted keeps its number, which is then listed as dead. A commit holds records and postings
together, so an interrupted load leaves the mirror as it was after the last one; `tools.mirror.compaction` joins
segments later.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tools.mirror.entries import COLUMNS, GAP, Entry
from tools.mirror.postings import FEW, pack
from tools.mirror.words import key

TITLE, ABSTRACT = 0, 1  # the columns whose counts are kept, for relevance
MOST = 255  # a count is one byte; the weight of a word has long been saturated there
COUNT_BITS = 8  # of a posting with its count; 24 remain for the place in the segment
NO_PMID = 0  # of a number that stands for no record
WordRow = tuple[str | bytes | None, ...]


@dataclass(frozen=True, slots=True)
class Item:
    """A record with what is indexed of it, the version of its PMID, and the bytes that are stored."""

    entry: Entry
    version: int
    stored: bytes


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment ready to be written; made in another process, so it holds plain values only.

    Attributes:
        base, size: the number of its first document, and how many numbers it takes.
        unused: numbers that stand for no record. arrays: PMIDs, dates of publication and entry, lengths, as bytes.
        records: (number, PMID, version, stored bytes). texts: (number, words of each column).
        words, keys: rows of postings, in order. headings: names by key.
    """

    base: int
    size: int
    unused: tuple[int, ...]
    arrays: tuple[bytes, bytes, bytes, bytes]
    records: list[tuple[int, int, int, bytes]]
    texts: list[tuple[int | str, ...]]
    words: list[WordRow]
    keys: list[tuple[str, bytes]]
    headings: dict[str, str]


def make_segment(base: int, items: Sequence[Item | None]) -> Segment:
    """Invert records; an item that is None takes a number and stands for nothing."""
    inverted = _Inverted(base)
    for number, item in enumerate(items, base):
        if item is not None:
            inverted.add(number, item.entry)
    return Segment(
        base=base,
        size=len(items),
        unused=tuple(n for n, item in enumerate(items, base) if item is None),
        arrays=_arrays([item.entry if item else None for item in items]),
        records=[(n, int(i.entry.record.pmid), i.version, i.stored) for n, i in enumerate(items, base) if i],
        texts=[(n, *map(" ".join, i.entry.columns)) for n, i in enumerate(items, base) if i],
        words=list(inverted.word_rows()),
        keys=list(inverted.key_rows()),
        headings={key(name): name for item in items if item for name in item.entry.headings},
    )


def _arrays(entries: Sequence[Entry | None]) -> tuple[bytes, bytes, bytes, bytes]:
    pmids = np.array([int(e.record.pmid) if e else NO_PMID for e in entries], dtype=np.int64)
    published = np.array([e.published if e else 0 for e in entries], dtype=np.int32)
    entered = np.array([e.entered if e else 0 for e in entries], dtype=np.int32)
    lengths = [len(e.columns[TITLE]) + len(e.columns[ABSTRACT]) if e else 0 for e in entries]
    return pmids.tobytes(), published.tobytes(), entered.tobytes(), np.array(lengths, dtype=np.int32).tobytes()


class _Inverted:
    """Postings by word and by key, in memory until they are written.

    Where counts are kept, a posting is one number: the place in the segment, and the count in the lowest byte.
    """

    def __init__(self, base: int) -> None:
        self._base = base
        self._postings: tuple[dict[str, array[int]], ...] = tuple(defaultdict(_numbers) for _ in COLUMNS)
        self._keys: dict[str, array[int]] = defaultdict(_numbers)

    def add(self, document: int, entry: Entry) -> None:
        place = (document - self._base) << COUNT_BITS
        for column, found in enumerate(entry.columns):
            postings = self._postings[column]
            if column <= ABSTRACT:
                for word, count in Counter(found).items():
                    postings[word].append(place | count if count < MOST else place | MOST)
            else:
                for word in set(found) - {GAP}:
                    postings[word].append(document)
        for name in entry.keys:
            self._keys[name].append(document)

    def word_rows(self) -> Iterator[WordRow]:
        """A row a word, in order: the word, its documents by column, its counts in title and abstract."""
        for word in sorted(set().union(*self._postings)):
            counted = [self._split(self._postings[column].get(word)) for column in (TITLE, ABSTRACT)]
            plain = [postings.get(word) for postings in self._postings[ABSTRACT + 1 :]]
            lists = (pack(numbers) if numbers else None for numbers in (*(d for d, _ in counted), *plain))
            yield (word, *lists, *(counts for _, counts in counted))

    def key_rows(self) -> Iterator[tuple[str, bytes]]:
        """A row a key, in order, with its documents."""
        for name in sorted(self._keys):
            yield name, pack(self._keys[name])

    def _split(self, postings: array[int] | None) -> tuple[array[int] | None, bytes | None]:
        """Document numbers, and counts of one byte."""
        if not postings:
            return None, None
        if len(postings) <= FEW:
            return array("I", [self._base + (p >> COUNT_BITS) for p in postings]), bytes(p & MOST for p in postings)
        both = np.frombuffer(postings, dtype=np.uint32)
        documents = (both >> COUNT_BITS) + np.uint32(self._base)
        return array("I", documents.tobytes()), (both & MOST).astype(np.uint8).tobytes()


def _numbers() -> array[int]:
    return array("I")
