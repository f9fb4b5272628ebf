"""A build in a process of its own, which can be measured and killed."""

from __future__ import annotations

import contextlib
import json
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from pathlib import Path

import numpy as np

from prompts.errors import DataError
from tools.corpus.building import Wanted, build
from tools.corpus.contract import Engine, Recipe
from tools.corpus.local_engine import LocalEngine
from tools.corpus.settings import RaySettings
from tools.encoders import Vectors
from tools.indexes.backends import LocalBackend
from tools.indexes.contract import CollectionIndex, Filter, Hit, Part
from tools.indexes.local import LocalIndex

# The encoder of the benchmark: words hashed into a vector, so that what is measured is the pipeline around it.
DIMENSION = 64  # ours: of the vectors; the embedded encoder has 384, which only the writing of parts feels
KNOWN = 100_000  # ours: words whose places are remembered


class HashEncoder:
    """Texts with words in common are near each other; three tokens for two words, as word pieces have."""

    limit = 256

    def __init__(self, dimension: int = DIMENSION) -> None:
        self.dimension = dimension
        self.name = f"words-hashed-{dimension}"

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Array (len(texts), dimension)."""
        return self.encode_documents(texts)

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Array (len(texts), dimension)."""
        places = [[_hash(word) % self.dimension for word in text.split()] for text in texts]
        rows = np.repeat(np.arange(len(texts)), [len(found) for found in places])
        flat = rows * self.dimension + np.fromiter((p for found in places for p in found), dtype=np.int64)
        counts = np.bincount(flat, minlength=len(texts) * self.dimension).reshape(len(texts), self.dimension)
        vectors = counts.astype(np.float32) + 1e-3
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text."""
        return [3 * len(text.split()) // 2 for text in texts]


@lru_cache(maxsize=KNOWN)
def _hash(word: str) -> int:
    return zlib.crc32(word.encode())


NAME = "made-up"


class Reading:
    """In a backend's place: reads every part, checks it, and keeps nothing but the number of rows."""

    def __init__(self) -> None:
        self.rows = 0

    def build(
        self,
        name: str,
        parts: Iterable[Part],
        *,
        encoder: str,
        dimension: int,
        source: str,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> CollectionIndex:
        """Read the parts."""
        del name, source, progress
        for part in parts:
            entries, vectors = part.read()
            self.rows += len(entries)
            if vectors.shape != (len(entries), dimension):
                raise ValueError(f"{part.name} holds {vectors.shape}")
        return _Nothing(encoder, dimension)

    def open(self, name: str, *, encoder: str, dimension: int) -> CollectionIndex:
        """There is never anything, so that every build reads the parts."""
        del encoder, dimension
        raise DataError(f"{name} was read and not kept.", "Build it.")

    def delete(self, name: str) -> bool:
        """Nothing."""
        del name
        return False


class _Nothing(LocalIndex):
    def search_hybrid(
        self, query: str, vector: Vectors, k: int, where: Filter | None = None, *, pool: int, rrf_k: int
    ) -> list[Hit]:
        """Nothing."""
        del query, vector, k, where, pool, rrf_k
        return []


def main(folder: Path, engine: str, workers: int, dimension: int, block: int, indexed: bool) -> None:
    """Build and print when each step began and ended, and how many parts were made."""
    times: dict[str, float] = {}
    ends: dict[str, float] = {}

    def progress(step: str, done: int, of: int) -> None:
        del done, of
        times.setdefault(step, time.time())
        ends[step] = time.time()

    encoder = partial(HashEncoder, dimension)
    recipe = Recipe(encoder=encoder().name, dimension=dimension, block=block)
    backend = LocalBackend(folder / "indexes") if indexed else Reading()
    began = time.time()
    with _engine(engine, workers) as running:
        ready = time.time()
        report = build(
            folder / "corpora", Wanted(NAME, [folder.parent / "source"], recipe), running, encoder, backend, progress
        )
        ended = time.time()
    sys.stdout.write(
        json.dumps(
            {
                "start": ready - began,
                "survey": times["parts"] - ready,
                "parts": ends["parts"] - times["parts"],
                "rest": ended - ends["parts"],
                "made": report.made,
                "all": report.parts,
                "counts": report.counts.model_dump(),
            }
        )
    )


@contextlib.contextmanager
def _engine(name: str, workers: int) -> Iterator[Engine]:
    if name == "local":
        yield LocalEngine(workers)
        return
    from tools.corpus.ray_engine import RayEngine

    with RayEngine(RaySettings(), workers) as engine:
        yield engine


if __name__ == "__main__":
    _, place, which, many, columns, steps, index = sys.argv
    main(Path(place), which, int(many), int(columns), int(steps), index == "index")
