"""Which records stand in the end, against the rule applied step by step."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tools.corpus.contract import Recipe, SourceFile
from tools.corpus.reading import Mark, Survey, blocks_of, kept_steps, packed, unpacked
from tools.mirror.sources import Format

MARKS = st.builds(Mark, st.integers(0, 4), st.integers(1, 3), st.booleans())
FILES = st.lists(st.lists(MARKS, min_size=1, max_size=8), min_size=1, max_size=4)


def survey_of(marks: list[Mark]) -> Survey:
    numbers, versions, deletes = zip(*marks, strict=True)
    return Survey("", np.array(numbers, np.uint64), np.array(versions, np.uint32), np.array(deletes))


@given(FILES)
def test_the_last_of_the_latest_version_stands(files: list[list[Mark]]) -> None:
    standing: dict[int, tuple[int, int, int]] = {}
    unnamed = set()
    for f, marks in enumerate(files):
        for n, (number, version, deletes) in enumerate(marks):
            before = standing.get(number)
            if not number:
                unnamed |= set() if deletes else {(f, n)}
            elif deletes and before is not None and before[2] <= version:
                del standing[number]
            elif not deletes and (before is None or version >= before[2]):
                standing[number] = (f, n, version)
    kept = kept_steps([survey_of(marks) for marks in files])
    found = {(f, n) for f, bits in enumerate(kept) for n in np.flatnonzero(bits).tolist()}
    assert found == unnamed | {(f, n) for f, n, _ in standing.values()}


@given(st.lists(st.booleans(), min_size=1, max_size=70), st.integers(1, 20))
def test_blocks_cover_a_file_once_and_know_what_stands(kept: list[bool], size: int) -> None:
    file = SourceFile(number=0, path="/a.xml", format=Format.PUBMED, size=1, modified=2, sha256="s")
    recipe = Recipe(encoder="e", dimension=2, block=size)
    blocks = blocks_of(file, np.array(kept), recipe)
    assert [one.first + one.count for one in blocks] == [*(two.first for _, two in pairwise(blocks)), len(kept)]
    assert [bool(b) for one in blocks for b in unpacked(one.kept, one.count)] == kept
    other = blocks_of(file, np.array([not kept[0], *kept[1:]]), recipe)
    assert [a.key == b.key for a, b in zip(blocks, other, strict=True)] == [False] + [True] * (len(blocks) - 1)
    assert packed(np.array(kept)) == packed(np.array(kept))
