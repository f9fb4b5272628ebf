"""Posting lists in SQLite: blocks of neighbouring words, by segment, and joins of segments that read them side by side.

A row a word costs SQLite more than everything else of an import: most of a segment's words stand in one record. A
block holds neighbouring names (words, or keys) in order: a compressed header with the names and the size of each of
their lists, and the lists one after another. The table's key is the segment and the block's first name.

A segment holds what one transaction added. Only a suffix of the segments is ever joined, so their order stays that of
the rows. The rule is that of log-structured stores: the last segments are joined into one as soon as together they are
not small against the one before them; each posting is then rewritten a few times in its life. A join is part of a
transaction: a kill leaves the segments as they were.
"""

from __future__ import annotations

import contextlib
import gc
import sqlite3
import struct
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice, pairwise
from operator import itemgetter

import numpy as np

from prompts.errors import DataError

NAMES = 64  # ours: names of a block at most: a look-up unpacks about 1 kB
BYTES = 4_096  # ours: bytes of lists, after which a block ends; a longer list makes a block of its own
FASTEST = 1  # zlib's level: the headers shrink to a quarter already
HEAD = struct.Struct("<HBI")  # of a header: names, lists a name, bytes of the rest unpacked
LAST = "\U0010ffff"  # sorts behind every other character: the end of a range of names
END = "\n"  # between names, which never hold one
SMALL = 0.25  # ours: what is less than this share of the segment before it stays apart; a search reads a few lists more
FLUSH = 20_000  # ours: names written at once
AHEAD = 32  # ours: blocks of each segment in memory

BLOCKS = """CREATE TABLE {table} (segment INTEGER NOT NULL, first TEXT NOT NULL, header BLOB NOT NULL,
    lists BLOB NOT NULL, PRIMARY KEY (segment, first)) WITHOUT ROWID"""
DAMAGED, AGAIN = "A block of postings is damaged.", "Restore a copy, or build or import it again."

Lists = tuple[bytes, ...]  # the packed lists of one name, empty ones included
Block = tuple[str, bytes, bytes]  # first name, header, lists


def insert_blocks(
    database: sqlite3.Connection, table: str, segment: int, names: Sequence[str], rows: Sequence[Lists]
) -> None:
    """Put names, which must be in order, and their lists into a segment."""
    database.executemany(
        f"INSERT INTO {table} VALUES (?, ?, ?, ?)", ((segment, *block) for block in make_blocks(names, rows))
    )


def make_blocks(names: Sequence[str], rows: Sequence[Lists]) -> Iterator[Block]:
    """Blocks of some names, which must be in order, and their lists; every row has as many lists."""
    if not names:
        return
    width = len(rows[0])
    flat = list(chain.from_iterable(rows))
    sizes = np.fromiter(map(len, flat), dtype=np.uint32, count=len(flat)).reshape(-1, width)
    totals = np.cumsum(sizes.sum(axis=1, dtype=np.int64))
    at, before = 0, 0
    while at < len(names):
        after = min(int(np.searchsorted(totals, before + BYTES, side="right")), at + NAMES)
        after = max(after, at + 1)
        header = sizes[at:after].tobytes() + END.join(names[at:after]).encode()
        start = HEAD.pack(after - at, width, len(header))
        yield names[at], start + zlib.compress(header, FASTEST), b"".join(flat[at * width : after * width])
        at, before = after, int(totals[after - 1])


def read_block(header: bytes, data: bytes) -> tuple[list[str], list[Lists]]:
    """The names and lists of a block. Raises DataError for bytes that are none."""
    try:
        count, width, length = HEAD.unpack_from(header)
        plain = zlib.decompress(header[HEAD.size :], bufsize=length)
        sizes = np.frombuffer(plain, dtype=np.uint32, count=count * width)
        names = plain[sizes.nbytes :].decode().split(END)
    except (struct.error, zlib.error, ValueError) as error:
        raise DataError(DAMAGED, AGAIN) from error
    ends = np.cumsum(sizes, dtype=np.int64).tolist()
    if len(names) != count or ends[-1] != len(data):
        raise DataError(DAMAGED, AGAIN)
    flat = [data[a:b] for a, b in pairwise([0, *ends])]
    return names, list(zip(*[iter(flat)] * width, strict=True))


def ranged(
    database: sqlite3.Connection, table: str, low: str, high: str, segments: str = "segments"
) -> Iterator[tuple[str, Lists]]:
    """The names of a table between two, both included, with their lists: by segment, in order.

    Args:
        segments: the table that numbers the segments.
    """
    rows = database.execute(
        f"SELECT t.header, t.lists FROM {segments} s CROSS JOIN {table} t ON t.segment = s.segment AND t.first BETWEEN "
        f"coalesce((SELECT max(x.first) FROM {table} x WHERE x.segment = s.segment AND x.first <= ?1), ?1) AND ?2",
        (low, high),
    )
    for header, data in rows:
        names, lists = read_block(header, data)
        first, after = bisect_left(names, low), bisect_right(names, high)
        yield from zip(names[first:after], lists[first:after], strict=True)


def whole_blocks(database: sqlite3.Connection, table: str, segment: int) -> Iterator[tuple[list[str], list[Lists]]]:
    """The blocks of a segment, in order."""
    rows = database.execute(f"SELECT header, lists FROM {table} WHERE segment = ? ORDER BY first", (segment,))
    return (read_block(header, data) for header, data in rows)


def first_due(sizes: Sequence[int]) -> int:
    """Where the suffix of segments to join begins: before it stands one against which all of it is small."""
    first, together = len(sizes) - 1, sizes[-1]
    while first and together >= SMALL * sizes[first - 1]:
        first -= 1
        together += sizes[first]
    return first


def join_blocks(
    database: sqlite3.Connection,
    table: str,
    old: Sequence[int],
    new: int,
    combine: Callable[[Sequence[Lists]], Lists],
) -> None:
    """Write the blocks of some segments to a new one and remove them, within the caller's transaction.

    Args:
        combine: the lists of one name in each segment that has it, in order, as one; a name without any is left out.
    """
    with _uncollected():
        readers = [_Reader(whole_blocks(database, table, segment)) for segment in old]
        for names, rows in _merged(readers, combine):
            insert_blocks(database, table, new, names, rows)
    database.execute(f"DELETE FROM {table} WHERE segment BETWEEN ? AND ?", (old[0], old[-1]))


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Without looking for cycles: a join makes millions of tuples and no cycle, and looking takes time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


class _Reader:
    """The names of a segment in order, some blocks in memory at a time."""

    def __init__(self, blocks: Iterator[tuple[list[str], list[Lists]]]) -> None:
        self._blocks = blocks
        self.names: list[str] = []
        self._lists: list[Lists] = []

    def fill(self) -> bool:
        """Read on when nothing is left in memory; False at the end."""
        if not self.names:
            for names, lists in islice(self._blocks, AHEAD):
                self.names += names
                self._lists += lists
        return bool(self.names)

    def take(self, last: str) -> Iterator[tuple[str, Lists]]:
        """The names in memory up to one, with their lists."""
        after = bisect_right(self.names, last)
        taken = zip(self.names[:after], self._lists[:after], strict=True)
        del self.names[:after], self._lists[:after]
        return taken


def _merged(
    readers: list[_Reader], combine: Callable[[Sequence[Lists]], Lists]
) -> Iterator[tuple[list[str], list[Lists]]]:
    """The names of several segments, in order, those that are the same made one."""
    names: list[str] = []
    rows: list[Lists] = []
    while readers := [reader for reader in readers if reader.fill()]:
        last = min(reader.names[-1] for reader in readers)  # what comes later may stand in another segment too
        part = [row for reader in readers for row in reader.take(last)]
        part.sort(key=itemgetter(0))  # stable: the lists of a name stay in the order of their segments
        at = 0
        while at < len(part):
            name = part[at][0]
            after = at + 1
            while after < len(part) and part[after][0] == name:
                after += 1
            joined = combine([lists for _, lists in part[at:after]])
            if any(joined):
                names.append(name)
                rows.append(joined)
            at = after
        if len(names) >= FLUSH:
            yield names, rows
            names, rows = [], []
    if names:
        yield names, rows
