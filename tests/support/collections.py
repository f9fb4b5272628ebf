"""Small made-up collections for the index on disk, and the same rows in the index in memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tools.encoders import Vectors
from tools.indexes.backends import LocalBackend, LocalCollection
from tools.indexes.contract import Entry, Filter, Part
from tools.indexes.large_building import BuildSettings
from tools.indexes.local import LocalIndex

ENCODER, DIMENSION = "enc", 16
SMALL = BuildSettings()
COMPRESSED = BuildSettings(flat_up_to=100, sample=60, block=700)
Rows = tuple[list[Entry], Vectors]
FILTERS = [
    Filter(),
    Filter(kinds=("k1",)),
    Filter(kinds=("k0", "k2"), languages=("zh",)),
    Filter(since="2005", until="2012-01"),
    Filter(since="2015"),
    Filter(until="2003"),
    Filter(ids=("d:3", "d:1100", "d:nobody")),
    Filter(ids=("d:3", "d:4"), kinds=("k1",)),
    Filter(collections=("none",)),
]


def drawn(first: int, count: int, seed: int = 0) -> Rows:
    """Rows ``d:first`` and on, with words by Zipf's law, some without any."""
    random = np.random.default_rng((first, seed))
    words = np.array([f"word{n}" for n in range(300)])
    share = 1 / np.arange(1, 301)
    entries = [
        Entry(
            id=f"d:{n}",
            text=" ".join(random.choice(words, int(random.integers(0, 50)), p=share / share.sum())),
            kind=f"k{n % 3}",
            collection=f"c{n % 2}",
            date="" if n % 7 == 0 else f"20{n % 20:02}-0{n % 9 + 1}",
            language="zh" if n % 5 == 0 else "en",
        )
        for n in range(first, first + count)
    ]
    return entries, unit(random.normal(size=(count, DIMENSION)))


def unit(vectors: Vectors) -> Vectors:
    """Rows of length 1."""
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


def unit_rows(seed: int, n: int = 1, dimension: int = 8) -> Vectors:
    """Rows of length 1, drawn at random."""
    return unit(np.random.default_rng(seed).normal(size=(n, dimension)).astype(np.float32))


def parts(rows: Sequence[Rows]) -> list[Part]:
    """Parts that can be read any number of times."""
    return [Part(name=f"part {n}", read=lambda part=part: part) for n, part in enumerate(rows)]


def built(folder: Path, rows: Sequence[Rows], settings: BuildSettings = SMALL, source: str = "test") -> LocalCollection:
    """The index on disk."""
    return LocalBackend(folder, settings).build("c", parts(rows), encoder=ENCODER, dimension=DIMENSION, source=source)


def in_memory(rows: Sequence[Rows]) -> LocalIndex:
    """The oracle."""
    index = LocalIndex(ENCODER, DIMENSION)
    for part in rows:
        index.add(*part)
    return index
