"""A quick encoder, and what tests of a user's documents do again and again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from zlib import crc32

import numpy as np

from tools.encoders import Vectors
from tools.indexes.contract import Filter
from tools.library.adding import add
from tools.library.shelf import Shelf
from tools.library.upkeep import check


class HashedWords:
    """A quick encoder: a hashed bag of words. It counts what it embeds, and fails when told to."""

    limit = 60

    def __init__(self, name: str = "hashed", dimension: int = 64) -> None:
        self.name, self.dimension, self.embedded, self.fails_after = name, dimension, 0, 10**9

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        rows = np.full((len(texts), self.dimension), 0.01, dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.lower().replace(".", " ").split():
                row[crc32(word.encode()) % self.dimension] += 1
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        self.embedded += len(texts)
        if self.embedded > self.fails_after:
            raise KeyboardInterrupt
        return self.encode_queries(texts)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]


def note(path: Path, title: str, *paragraphs: str) -> None:
    path.write_text(f"# {title}\n\n" + "\n\n".join(paragraphs) + "\n", encoding="utf-8")


def outcomes(shelf: Shelf, *paths: Path) -> dict[str, str]:
    return {Path(row.path).name: row.outcome.value for row in add(shelf, paths).rows}


def found(shelf: Shelf, query: str, where: Filter | None = None) -> list[str]:
    return [hit.document.title for hit in shelf.search(query, 5, where)]


def all_well(shelf: Shelf) -> bool:
    return all(line.ok for line in check(shelf))


def abstracts(path: Path, *rows: dict[str, object]) -> None:
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n")
