"""Posting lists in blocks: many words share one row of SQLite, a common word has one of its own.

A row a word costs SQLite more than everything else of an import: most of a segment's words stand in one record. A
block holds neighbouring names (words, or keys) in order: a compressed header with the names and the size of each of
their lists, and the lists one after another. The table's key is the segment and the block's first name.
"""

from __future__ import annotations

import sqlite3
import struct
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise

import numpy as np

from prompts.errors import DataError

NAMES = 64  # ours: names of a block at most: a look-up unpacks about 1 kB
BYTES = 4_096  # ours: bytes of lists, after which a block ends; a longer list makes a block of its own
FASTEST = 1  # zlib's level: the headers shrink to a quarter already
HEAD = struct.Struct("<HBI")  # of a header: names, lists a name, bytes of the rest unpacked
LAST = "\U0010ffff"  # sorts behind every other character: the end of a range of names
END = "\n"  # between names, which never hold one

DAMAGED, AGAIN = "A block of the mirror's index is damaged.", "Import the mirror again."

Lists = tuple[bytes, ...]  # the packed lists of one name, empty ones included
Block = tuple[str, bytes, bytes]  # first name, header, lists


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


def ranged(database: sqlite3.Connection, table: str, low: str, high: str) -> Iterator[tuple[str, Lists]]:
    """The names of a table between two, both included, with their lists: by segment, in order."""
    rows = database.execute(
        f"SELECT t.header, t.lists FROM segments s CROSS JOIN {table} t ON t.segment = s.segment AND t.first BETWEEN "
        f"coalesce((SELECT max(x.first) FROM {table} x WHERE x.segment = s.segment AND x.first <= ?1), ?1) AND ?2",
        (low, high),
    )
    for header, data in rows:
        names, lists = read_block(header, data)
        first, after = bisect_left(names, low), bisect_right(names, high)
        yield from zip(names[first:after], lists[first:after], strict=True)


def whole_blocks(database: sqlite3.Connection, table: str, segment: int) -> Iterator[tuple[list[str], list[Lists]]]:
    """The blocks of a segment, in order."""
    rows: Iterable[tuple[bytes, bytes]] = database.execute(
        f"SELECT header, lists FROM {table} WHERE segment = ? ORDER BY first", (segment,)
    )
    for header, data in rows:
        yield read_block(header, data)
