"""How an index is built, by the size of its collection, and what it says of itself afterwards."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from pydantic import Field

from tools.evidence import Frozen

Kind = Literal["flat", "ivf_sq8", "ivf_pq"]

FORMAT = 1  # raised with every change of the files
ID_BYTES = 8  # faiss: a row number in an inverted list
POINTS_A_LIST = 39  # code: faiss warns when k-means has fewer training points a centroid
LARGEST_NLIST = 32_768  # ours: beyond it k-means takes hours on two cores


class BuildSettings(Frozen):
    """What may be chosen about an index.

    Attributes:
        flat_up_to: rows up to which every vector is compared (about 25 ms a query at that size).
        memory_budget: bytes of codes that serving may touch; beyond it product quantisation is used.
        recall: share of the exact best 10 that the tuned index must return.
        sample: rows to tune on, left out of their own results.
        block: rows handled at once. Memory while building grows with it, not with the collection.
        seed: of the samples.
    """

    flat_up_to: int = Field(default=100_000, ge=0)  # ours: below it an approximate index gains little
    memory_budget: int = Field(default=4 << 30, ge=1)  # ours: half of a small server's memory
    recall: float = Field(default=0.95, gt=0, le=1)  # ours
    sample: int = Field(default=500, ge=10)  # ours: standard error of the recall about 0.4 points
    block: int = Field(default=50_000, ge=1)  # ours: 150 MB of float32 at 768 dimensions
    seed: int = 0


class Measured(Frozen):
    """What was measured on the collection's own vectors when the index was tuned.

    Attributes:
        queries: how many were asked; a stored one is left out of its own result.
        of: ``rows of the collection`` or ``questions given``.
        recall: recall@10 against exact search. target: what was asked.
        p50_ms, p95_ms: a query, one at a time, one thread.
    """

    queries: int
    of: str
    recall: float
    target: float
    p50_ms: float
    p95_ms: float


class LargeManifest(Frozen):
    """The manifest of a `tools.indexes.large.LargeIndex`.

    Attributes:
        count: rows that can be found when built (later updates are counted apart).
        rows: rows stored, those replaced by a later row of the same id included.
        kept: dimensions after the principal component transform; all of them for ``flat``.
        nlist, nprobe, candidates: inverted lists, lists searched, and candidates scored again on the stored vectors.
        bytes_a_vector: of everything on disk. code_bytes: of the codes that a search reads.
        sizes: bytes of each file, checked on opening. checksum: of all files, checked by `verify`.
    """

    format: int
    encoder: str
    dimension: int
    similarity: str
    count: int
    rows: int
    kind: Kind
    kept: int
    nlist: int
    nprobe: int
    candidates: int
    code_bytes: int
    bytes_a_vector: float
    measured: Measured
    sizes: dict[str, int]
    checksum: str
    built: str


def lists_for(count: int) -> int:
    """Inverted lists for this many rows: the power of two nearest to 4 sqrt(n), with enough points to train each."""
    wanted = 1 << round(math.log2(max(4 * math.sqrt(count), 1)))  # code: faiss' own guideline is 4 to 16 sqrt(n)
    most = 1 << int(math.log2(max(count // POINTS_A_LIST, 1)))
    return max(1, min(wanted, most, LARGEST_NLIST))


def kind_for(count: int, kept: int, settings: BuildSettings) -> Kind:
    """The type of index for this many rows of ``kept`` dimensions."""
    if count <= settings.flat_up_to:
        return "flat"
    return "ivf_sq8" if count * (kept + ID_BYTES) <= settings.memory_budget else "ivf_pq"


def checksum_of(folder: Path, names: Iterable[str]) -> str:
    """sha256 over the names and bytes of these files, in hexadecimal."""
    digest = hashlib.sha256()
    for name in sorted(names):
        with (folder / name).open("rb") as file:
            digest.update(f"{name}\n{hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return digest.hexdigest()
