"""An index for millions of vectors: compressed codes and exact vectors on disk, memory-mapped, tuned by measurement.

It holds vectors and ids alone. Texts, dates and other fields of the documents are looked up by id where they lie. A
search has two steps: candidates from the codes, then exact scores on the stored vectors, float16 rows of unit length.
The lists on disk are FAISS's own layout (`OnDiskInvertedLists`): for each list its codes, then its row numbers.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from prompts.errors import DataError, InputError
from tools.encoders import Vectors
from tools.evidence import Frozen
from tools.files import REBUILD
from tools.indexes.contract import SIMILARITY, Filter, Hit
from tools.indexes.generations import generation_name, read_current
from tools.indexes.vectors import DECIMALS, Mask, best

if TYPE_CHECKING:
    from tools.indexes.large_building import Block, BuildSettings, Progress

FORMAT = 1  # raised with every change of the files
VECTORS = "vectors.f16"
IDS, ORDER, DEAD = "ids.npy", "order.npy", "superseded.npy"
LISTS, COUNTS = "lists.ivf", "list-sizes.npy"
PLAN, COMPONENTS, QUANTISERS = "plan.json", "components.npz", "quantisers.faiss"
CHANGES = "updates.npz"  # of versions that kept changes beside an index
AGAIN = "Run `anamnesis index embeddings import` again."
FEW = 20_000  # ours: rows that pass up to which all of them are compared; 15 MB are read at 384 dimensions
MORE = 4  # ours: times as many candidates are asked for when those at hand do not settle the best
Kind = Literal["flat", "ivf_sq8", "ivf_pq"]
Rows = NDArray[np.int64]
Scores = NDArray[np.float32]


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
    """The manifest of a `LargeIndex`.

    Attributes:
        count: rows that can be found when built.
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


@dataclass(frozen=True)
class Components:
    """x -> (x - mean) @ axes: the first principal components. Distances are kept but for what is left out.

    Attributes:
        mean: (dimension,). axes: (dimension, kept).
    """

    mean: Vectors
    axes: Vectors

    def apply(self, vectors: Vectors) -> Vectors:
        """(n, dimension) to (n, kept)."""
        return np.ascontiguousarray((vectors - self.mean) @ self.axes, dtype=np.float32)


@dataclass(frozen=True)
class Plan:
    """What was decided before training."""

    kind: Kind
    kept: int
    nlist: int


@dataclass(frozen=True)
class Effort:
    """How hard to search: lists looked into, and candidates scored again."""

    nprobe: int
    candidates: int


class StoredRows:
    """Read access to the stored rows; nothing is loaded until it is asked for.

    Attributes:
        vectors: (rows, dimension) float16 of unit length, memory-mapped.
        ids: (rows,) bytes. dead: rows replaced by a later row of the same id.
    """

    def __init__(self, folder: Path, dimension: int) -> None:
        try:
            self.ids = np.load(folder / IDS, mmap_mode="r", allow_pickle=False)
            self._order = np.load(folder / ORDER, mmap_mode="r", allow_pickle=False)
            self.dead: Rows = np.load(folder / DEAD, allow_pickle=False)
            shape = (len(self.ids), dimension)
            empty = np.empty(shape, np.float16)
            self.vectors = np.memmap(folder / VECTORS, np.float16, "r", shape=shape) if len(self.ids) else empty
        except (OSError, ValueError) as error:
            raise DataError(f"The stored rows in {folder.name} cannot be read.", REBUILD) from error

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.ids)

    def name(self, row: int) -> str:
        """The id of a row."""
        return bytes(self.ids[row]).decode()

    def find(self, id: str) -> int | None:
        """The row that counts for an id."""
        wanted = np.bytes_(id.encode())
        if len(wanted) > self.ids.dtype.itemsize:  # numpy would widen, and so copy, the whole array
            return None
        at = int(np.searchsorted(self.ids, wanted, side="right", sorter=self._order)) - 1
        return int(self._order[at]) if at >= 0 and self.ids[self._order[at]] == wanted else None

    def gather(self, rows: Rows) -> Vectors:
        """These rows as float32."""
        return np.asarray(self.vectors[rows], dtype=np.float32)

    def blocks(self, size: int) -> Iterator[tuple[int, Vectors]]:
        """All rows in order: first row and float32 vectors of each block."""
        for at in range(0, len(self), size):
            yield at, np.asarray(self.vectors[at : at + size], dtype=np.float32)


class Searcher:
    """Search in a finished folder, without updates. Safe to use from threads.

    Args:
        folder: with rows, plan and lists.
        dimension: of the vectors.
    """

    def __init__(self, folder: Path, dimension: int) -> None:
        self.rows = StoredRows(folder, dimension)
        self.plan: Plan
        self._components: Components
        self.plan, self._components = load_plan(folder)
        flat = self.plan.kind == "flat"
        self._index: Any = _open_flat(folder) if flat else _open_lists(folder)
        self._replaced = self.rows.dead if flat else self.rows.dead[:0]  # in lists they were never coded

    @property
    def code_size(self) -> int:
        """Bytes of one vector's code."""
        return int(self._index.sa_code_size() if self.plan.kind == "flat" else self._index.code_size)

    def candidates(self, query: Vectors, effort: Effort, among: NDArray[np.uint8] | None = None) -> Rows:
        """Row numbers for one query (dimension,), nearest first as far as the codes tell.

        Args:
            among: a bit for each row, the lowest first: whether it may be a candidate.
        """
        import faiss

        given = {} if among is None else {"sel": faiss.IDSelectorBitmap(among)}
        if self.plan.kind == "flat":
            most = min(effort.candidates, max(len(self.rows), 1))
            found = self._index.search(query[None], most, params=faiss.SearchParameters(**given))[1][0]
        else:
            reduced = self._components.apply(query[None])
            chosen = faiss.SearchParametersIVF(nprobe=effort.nprobe, **given)
            found = self._index.search(reduced, effort.candidates, params=chosen)[1][0]
        near: Rows = found[found >= 0]
        return near

    def search(self, query: Vectors, k: int, effort: Effort) -> tuple[Rows, Scores]:
        """The k best rows for one query (dimension,), with their cosines, best first; equal ones by row."""
        effort = Effort(effort.nprobe, max(effort.candidates, k))
        while True:
            found = self.candidates(query, effort)
            kept = found[~np.isin(found, self._replaced)] if len(self._replaced) else found
            if len(kept) >= k or len(found) < effort.candidates:
                break
            effort = Effort(effort.nprobe, 4 * effort.candidates)  # many replaced rows: look further
        scores = self.rows.gather(kept) @ query
        order = np.lexsort((kept, -scores))[:k]
        return kept[order], scores[order]


class LargeIndex:
    """A finished index, open for search.

    Opening maps files and checks their sizes; `verify` reads every byte. Safe to use from threads.
    """

    def __init__(self, folder: Path, generation: Path, manifest: LargeManifest) -> None:
        self.manifest = manifest
        self._folder, self._generation = folder, generation
        self._searcher = Searcher(generation, manifest.dimension)
        self._effort = Effort(manifest.nprobe, manifest.candidates)

    def __len__(self) -> int:
        """Number of rows that can be found."""
        return self.manifest.count

    @property
    def rows(self) -> StoredRows:
        """The stored rows."""
        return self._searcher.rows

    @classmethod
    def open(cls, folder: Path, encoder_name: str, dimension: int) -> LargeIndex:
        """Open an index.

        Raises:
            DataError: there is none, it is damaged, of another format, or made with another encoder.
        """
        return read_current(folder, lambda raw: cls._opened(folder, raw, encoder_name, dimension))

    @classmethod
    def build(
        cls,
        folder: Path,
        blocks: Iterable[Block],
        *,
        encoder: str,
        dimension: int,
        source: str,
        settings: BuildSettings | None = None,
        progress: Progress | None = None,
        total: int = 0,
        questions: Vectors | None = None,
    ) -> LargeIndex:
        """Build, or go on with, the index of a collection in bounded memory; see `Builder.run`."""
        from tools.indexes.large_building import Builder, BuildSettings

        builder = Builder(folder, encoder, dimension, settings or BuildSettings(), progress)
        builder.run(blocks, source, total=total, questions=questions)
        return cls.open(folder, encoder, dimension)

    def search_vectors(self, vectors: Vectors, k: int, where: Filter | None = None) -> list[list[Hit]]:
        """For each row of ``vectors`` (n, dimension), the k nearest ids by cosine; equal scores by id.

        Args:
            where: only ids can be filtered on here; those named are compared exactly.

        Raises:
            InputError: vectors of another shape or of no length, or a filter on what this index does not hold.
        """
        matrix = self._checked(vectors)
        if where is not None and where != Filter(ids=where.ids):
            raise InputError("This index holds ids and vectors alone.", "Filter by other fields where the texts lie.")
        if where is not None and where.ids:
            return [self._among(query, where.ids, k) for query in matrix]
        return [self._nearest(query, k) for query in matrix]

    def nearest(self, query: Vectors, k: int, passing: Mask) -> tuple[Rows, Vectors]:
        """Stored rows and cosines of the k nearest to a query among those that pass, and of all that tie with the k-th.

        A filter is held inside the search of the codes; lists are added until enough rows that pass are found.

        Args:
            query: (dimension,), of unit length. passing: (rows,).
        """
        count, lists = int(np.count_nonzero(passing)), self._searcher.plan.nlist
        if count <= max(FEW, k):
            return self._compared(np.flatnonzero(passing), query)
        among = None if count == len(passing) else np.packbits(passing, bitorder="little")
        effort = Effort(self._effort.nprobe, min(max(self._effort.candidates, 2 * k), count))
        while True:
            found = self._searcher.candidates(query, effort, among)
            if len(found) < effort.candidates and effort.nprobe < lists:
                effort = Effort(min(2 * effort.nprobe, lists), effort.candidates)
                continue
            if len(found) < effort.candidates:  # a graph over the lists does not reach every one of them
                return self._compared(np.flatnonzero(passing), query)
            rows, scores = self._compared(found, query)
            settled = len(scores) > k and best(rows, scores, k)[1].min() > scores.min()  # none left out can tie
            if effort.candidates >= count or settled:
                return rows, scores
            effort = Effort(effort.nprobe, min(MORE * effort.candidates, count))

    def _compared(self, rows: Rows, query: Vectors) -> tuple[Rows, Vectors]:
        return rows, np.round(self._searcher.rows.gather(rows) @ query, DECIMALS)

    def verify(self) -> None:
        """Read every file and compare with the manifest's checksum; raises DataError when they differ."""
        if checksum_of(self._generation, self.manifest.sizes) != self.manifest.checksum:
            raise DataError(f"The index {self._folder.name} is damaged.", AGAIN)

    @classmethod
    def _opened(cls, folder: Path, raw: bytes, encoder_name: str, dimension: int) -> LargeIndex:
        manifest = read_large_manifest(folder, raw)
        if (manifest.encoder, manifest.dimension) != (encoder_name, dimension):
            raise DataError(
                f"The index {folder.name} was made with {manifest.encoder} ({manifest.dimension} dimensions), "
                f"not with {encoder_name} ({dimension}).",
                "Choose that encoder again, or import the vectors of this one.",
            )
        generation = folder / generation_name(manifest.checksum, manifest.built)
        if (generation / CHANGES).exists():
            raise DataError(f"The index {folder.name} holds changes, which this version does not read.", AGAIN)
        for name, size in manifest.sizes.items():
            if (generation / name).stat().st_size != size:
                raise DataError(f"{name} of the index {folder.name} is damaged.", AGAIN)
        try:
            return cls(folder, generation, manifest)
        except (ValueError, KeyError, TypeError, RuntimeError) as error:  # numpy and faiss on damaged files
            raise DataError(f"The index {folder.name} cannot be read.", AGAIN) from error

    def _nearest(self, query: Vectors, k: int) -> list[Hit]:
        if k < 1:
            return []
        rows, scores = self._searcher.search(query, k, self._effort)
        return _hits([(float(score), self.rows.name(row)) for row, score in zip(rows, scores, strict=True)], k)

    def _among(self, query: Vectors, ids: Sequence[str], k: int) -> list[Hit]:
        stored = {name: row for name in ids if (row := self.rows.find(name)) is not None}
        scores = self.rows.gather(np.array(list(stored.values()), dtype=np.int64)) @ query
        return _hits([(float(score), name) for name, score in zip(stored, scores, strict=True)], k)

    def _checked(self, vectors: Vectors) -> Vectors:
        matrix = np.asarray(vectors, dtype=np.float32)
        if matrix.ndim != 2 or matrix.shape[1] != self.manifest.dimension:
            raise InputError(
                f"The vectors have shape {matrix.shape}.", f"This index takes (n, {self.manifest.dimension})."
            )
        return unit_rows(matrix, [f"query {n}" for n in range(1, len(matrix) + 1)])


def read_large_manifest(folder: Path, raw: bytes) -> LargeManifest:
    """The manifest of a large index; raises DataError for damage or another format."""
    try:
        manifest = LargeManifest.model_validate_json(raw)
    except ValidationError as error:
        raise DataError(f"The manifest of the index {folder.name} is damaged.", AGAIN) from error
    if manifest.format != FORMAT or manifest.similarity != SIMILARITY:
        raise DataError(f"The index {folder.name} has format {manifest.format}, not {FORMAT}.", AGAIN)
    return manifest


def unit_rows(vectors: NDArray[Any], ids: Sequence[str]) -> Vectors:
    """Rows of length 1, float32.

    Raises InputError that names the first row which has no direction (zero) or is no number.
    """
    matrix = np.asarray(vectors, dtype=np.float32)
    norms = np.linalg.norm(matrix, axis=1)
    bad = np.flatnonzero(~np.isfinite(norms) | (norms <= 0))
    if len(bad):
        raise InputError(f"The vector of {ids[int(bad[0])]} is zero or no number.", "Leave it out or compute it again.")
    unit: Vectors = matrix / norms[:, None]
    return unit


def exact(rows: StoredRows, queries: Vectors, k: int, block: int) -> Rows:
    """The k nearest rows of each query, every stored vector compared: (len(queries), k), -1 where there are fewer."""
    best = np.full((len(queries), k), -np.inf, dtype=np.float32)
    names = np.full((len(queries), k), -1, dtype=np.int64)
    for start, vectors in rows.blocks(block):
        scores = queries @ vectors.T
        dead = rows.dead[(rows.dead >= start) & (rows.dead < start + len(vectors))] - start
        scores[:, dead] = -np.inf
        top = np.argpartition(-scores, min(k, len(vectors)) - 1, axis=1)[:, :k]
        best = np.concatenate([best, np.take_along_axis(scores, top, axis=1)], axis=1)
        names = np.concatenate([names, top + start], axis=1)
        top = np.argpartition(-best, k - 1, axis=1)[:, :k]
        best, names = np.take_along_axis(best, top, axis=1), np.take_along_axis(names, top, axis=1)
    order = np.argsort(-best, axis=1, kind="stable")
    found: Rows = np.where(np.isneginf(np.take_along_axis(best, order, 1)), -1, np.take_along_axis(names, order, 1))
    return found


def checksum_of(folder: Path, names: Iterable[str]) -> str:
    """sha256 over the names and bytes of these files, in hexadecimal."""
    digest = hashlib.sha256()
    for name in sorted(names):
        with (folder / name).open("rb") as file:
            digest.update(f"{name}\n{hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return digest.hexdigest()


def fingerprint(*parts: str) -> str:
    """A short identity of what is built from: the same parts give the same one."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def load_plan(folder: Path) -> tuple[Plan, Components]:
    """The plan and the transform of a folder."""
    with np.load(folder / COMPONENTS, allow_pickle=False) as arrays:
        components = Components(arrays["mean"], arrays["axes"])
    return Plan(**json.loads((folder / PLAN).read_bytes())), components


def _open_lists(folder: Path) -> Any:
    """The FAISS index over the memory-mapped lists of a folder.

    The sizes of the files were checked before: a map beyond the end of a file would end the process.
    """
    import faiss

    index = faiss.read_index(str(folder / QUANTISERS))
    sizes = np.ascontiguousarray(np.load(folder / COUNTS, allow_pickle=False), dtype=np.uint64)
    lists = faiss.OnDiskInvertedLists()
    lists.nlist, lists.code_size = index.nlist, index.code_size
    lists.filename, lists.read_only = str(folder / LISTS), True
    lists.totsize = int(sizes.sum()) * (index.code_size + 8)
    lists.lists.resize(index.nlist)
    lists.set_all_lists_sizes(faiss.swig_ptr(sizes))
    lists.do_mmap()
    index.replace_invlists(lists, True)
    lists.this.disown()  # the index owns them now
    index.ntotal = int(sizes.sum())
    return index


def _open_flat(folder: Path) -> Any:
    """The memory-mapped flat FAISS index of a folder."""
    import faiss

    return faiss.read_index(str(folder / LISTS), faiss.IO_FLAG_MMAP_IFC | faiss.IO_FLAG_READ_ONLY)


def _hits(pairs: list[tuple[float, Any]], k: int) -> list[Hit]:
    best = sorted(pairs, key=lambda pair: (-pair[0], pair[1]))[:k]
    return [Hit(id=name, rank=n, score=score) for n, (score, name) in enumerate(best, 1)]
