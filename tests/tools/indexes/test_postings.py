"""Posting lists in blocks: what goes in comes out, and ranges find what a plain search would."""

from __future__ import annotations

import sqlite3

from hypothesis import given, settings
from hypothesis import strategies as st

from tools.indexes.postings import Lists, make_blocks, ranged, read_block, whole_blocks

NAME = st.text("ab\u00e9\u03b2\U0001f600 ", min_size=1, max_size=3)
SIZES = st.tuples(st.sampled_from((0, 5, 5, 5, 9, 5_000)), st.integers(0, 3), st.just(0))
SEGMENT = st.dictionaries(NAME, SIZES, min_size=1, max_size=100).map(
    lambda rows: {name: tuple(name.encode()[:1] * n for n in sizes) for name, sizes in rows.items()}
)


def database(segments: list[dict[str, Lists]]) -> sqlite3.Connection:
    found = sqlite3.connect(":memory:")
    found.execute("CREATE TABLE segments (segment INTEGER PRIMARY KEY)")
    found.execute("CREATE TABLE words (segment, first TEXT, header BLOB, lists BLOB, PRIMARY KEY (segment, first))")
    for number, rows in enumerate(segments, 1):
        names = sorted(rows)
        found.execute("INSERT INTO segments VALUES (?)", (number,))
        blocks = ((number, *block) for block in make_blocks(names, [rows[name] for name in names]))
        found.executemany("INSERT INTO words VALUES (?, ?, ?, ?)", blocks)
    return found


@settings(max_examples=60, deadline=None)
@given(st.lists(SEGMENT, min_size=1, max_size=3), NAME, NAME)
def test_ranges_find_what_a_plain_search_finds(segments: list[dict[str, Lists]], one: str, other: str) -> None:
    held = database(segments)
    low, high = sorted((one, other))
    for first, last in ((low, high), (low, low), *((name, name) for name in list(segments[0])[:3])):
        plain = [(name, rows[name]) for rows in segments for name in sorted(rows) if first <= name <= last]
        assert list(ranged(held, "words", first, last)) == plain
    whole = [row for block in whole_blocks(held, "words", 1) for row in zip(*block, strict=True)]
    assert whole == [(name, segments[0][name]) for name in sorted(segments[0])]


def test_a_block_is_small_or_holds_one_name() -> None:
    names = [f"w{n:04d}" for n in range(500)]
    rows = [((b"x" * 9_000,) if n % 100 == 50 else (b"abcde",)) for n in range(500)]
    blocks = list(make_blocks(names, rows))
    read = [read_block(header, data) for _, header, data in blocks]
    assert all(len(found) == 1 or len(data) <= 4_096 for (found, _), (_, _, data) in zip(read, blocks, strict=True))
    assert [first for first, _, _ in blocks] == [found[0] for found, _ in read]
    assert len(blocks) < 30
