"""Building a large index in steps that each survive a kill: store, train, code block by block, merge, tune, publish.

Training is on a sample of the collection: a principal component transform, and FAISS's quantisers behind it. Tuning
finds the least effort that gives the recall asked, as measured on the collection's own vectors.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from prompts.errors import DataError, InputError
from tools.encoders import Vectors
from tools.evidence import Frozen
from tools.files import locked, write_atomic
from tools.indexes.contract import SIMILARITY
from tools.indexes.generations import generation_name, publish
from tools.indexes.large import (
    COMPONENTS,
    COUNTS,
    DEAD,
    FORMAT,
    IDS,
    LISTS,
    ORDER,
    PLAN,
    QUANTISERS,
    VECTORS,
    Components,
    Effort,
    Kind,
    LargeManifest,
    Measured,
    Plan,
    Rows,
    Searcher,
    StoredRows,
    checksum_of,
    exact,
    load_plan,
    unit_rows,
)

NAMES, JOURNAL = "ids.txt", "progress.json"
KEPT = (VECTORS, IDS, ORDER, DEAD, PLAN, COMPONENTS, QUANTISERS, LISTS, COUNTS)
ID_BYTES = 8  # faiss: a row number in an inverted list
POINTS_A_LIST = 39  # code: faiss warns when k-means has fewer training points a centroid
LARGEST_NLIST = 32_768  # ours: beyond it k-means takes hours on two cores
SPECTRUM_SAMPLE = 50_000  # ours: rows the covariance is taken from, 65 a dimension at 768
PROBE_ROWS, PROBES = 20_000, 100  # ours: enough to see whether a shorter vector keeps the neighbours
KEEPS, NEAR = 0.995, 20  # ours: share of the best 10 that must be among the first 20; few, because real sets are denser
LIST_SAMPLE = 64  # ours: training rows a list, between the 39 and 256 that faiss asks for
PQ_DIMENSIONS = 2  # ours: dimensions a byte of a product quantiser's code
GRAPH_FROM = 16_384  # ours: lists from which the nearest ones are found by a graph, not by comparing all
K = 10  # ours: recall@10 is what is tuned
CANDIDATES = (100, 200, 400, 800)  # ours: scored again on the stored vectors; each costs one read of a row
SLACK = 0.01  # ours: a number of candidates is enough when searching widely leaves this much above the target
WIDE = 4  # ours: "widely" is a quarter of all lists
TIMED = 200  # ours: queries timed one at a time
Block = tuple[str, Callable[[], tuple[list[str], Any]]]  # a name, and what reads its ids and vectors
Progress = Callable[[str, int, int], None]  # step, done, of (0: unknown)


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


class Builder:
    """Builds the index of one folder; a second call with the same source goes on where the first was killed.

    Args:
        folder: of the finished index. The work lies beside it, in ``<folder>.building``.
        encoder: name of the vector space. dimension: of the vectors.
        settings: how to build. progress: told of every step.
    """

    def __init__(
        self, folder: Path, encoder: str, dimension: int, settings: BuildSettings, progress: Progress | None = None
    ) -> None:
        self._folder, self._encoder, self._dimension = folder, encoder, dimension
        self._settings = settings
        self._work = work_folder(folder)
        self._say: Progress = progress or (lambda *_: None)

    def run(self, blocks: Iterable[Block], source: str, *, total: int = 0, questions: Vectors | None = None) -> None:
        """Build and publish.

        Args:
            blocks: named blocks of ids and vectors (n, dimension) of any length but 0; of equal ids the last counts.
            source: identity of the whole source; another one cannot be continued.
            total: rows to expect, for the progress alone.
            questions: unit vectors of real questions to tune on.

        Raises:
            InputError: a block that cannot be taken. DataError: an unfinished build of another source.
        """
        with locked(self._folder):
            identity = f"{source}:{self._encoder}:{self._dimension}:{self._settings.model_dump_json()}"
            self._store(blocks, identity, total)
            rows = StoredRows(self._work, self._dimension)
            plan, components = self._trained(rows)
            self._code(rows, plan, components)
            searcher = Searcher(self._work, self._dimension)
            self._say("tune", 0, 1)
            with one_thread():
                effort, measured = tune(searcher, self._settings, questions)
            self._publish(rows, searcher, effort, measured)

    def _store(self, blocks: Iterable[Block], identity: str, total: int) -> None:
        with RowWriter(self._work, self._dimension, identity) as writer:
            for name, read in blocks:
                if name not in writer.done:
                    writer.append(name, *read())
                self._say("store", writer.rows, total)
            if not writer.rows:
                raise DataError("There is nothing to build an index from.", "Give at least one vector.")
        if not (self._work / PLAN).is_file():
            finish_ids(self._work)

    def _trained(self, rows: StoredRows) -> tuple[Plan, Components]:
        if (self._work / PLAN).is_file():
            return load_plan(self._work)
        self._say("train", 0, 1)
        plan, components = decide(rows, self._settings)
        index = None if plan.kind == "flat" else train(rows, plan, components, self._settings)
        save_training(self._work, plan, components, index)
        return plan, components

    def _code(self, rows: StoredRows, plan: Plan, components: Components) -> None:
        if (self._work / LISTS).is_file():
            return
        if plan.kind == "flat":
            self._code_flat(rows)
            return
        import faiss

        index = faiss.read_index(str(self._work / QUANTISERS))
        shards = []
        for start, vectors in rows.blocks(self._settings.block):
            shard = self._work / f"shard-{start:010}"
            shards.append(shard)
            if not shard.is_file():
                numbers = np.arange(start, start + len(vectors), dtype=np.int64)
                alive = ~np.isin(numbers, rows.dead)
                write_shard(shard, index, components.apply(vectors[alive]), numbers[alive])
            self._say("code", min(start + self._settings.block, len(rows)), len(rows))
        self._say("merge", 0, 1)
        merge_shards(shards, self._work, plan.nlist)

    def _code_flat(self, rows: StoredRows) -> None:
        import faiss

        index = faiss.index_factory(self._dimension, "SQfp16", faiss.METRIC_INNER_PRODUCT)
        for _, vectors in rows.blocks(self._settings.block):
            index.train(vectors)
            index.add(vectors)
        write_flat(self._work, index)

    def _publish(self, rows: StoredRows, searcher: Searcher, effort: Effort, measured: Measured) -> None:
        self._say("publish", 0, 1)
        for path in self._work.iterdir():
            if path.name not in KEPT and path.name not in (JOURNAL, NAMES):
                path.unlink()
        names = [self._work / name for name in KEPT if (self._work / name).is_file()]
        manifest = LargeManifest(
            format=FORMAT,
            encoder=self._encoder,
            dimension=self._dimension,
            similarity=SIMILARITY,
            count=len(rows) - len(rows.dead),
            rows=len(rows),
            kind=searcher.plan.kind,
            kept=searcher.plan.kept,
            nlist=searcher.plan.nlist,
            nprobe=effort.nprobe,
            candidates=effort.candidates,
            code_bytes=searcher.code_size,
            bytes_a_vector=round(sum(p.stat().st_size for p in names) / len(rows), 1),
            measured=measured,
            sizes={p.name: p.stat().st_size for p in names},
            checksum="",
            built=datetime.now(UTC).isoformat(timespec="microseconds"),
        )
        manifest = manifest.model_copy(update={"checksum": checksum_of(self._work, manifest.sizes)})
        name = generation_name(manifest.checksum, manifest.built)
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        publish(self._folder, self._work, name, manifest.model_dump_json(indent=1).encode())
        for left in (JOURNAL, NAMES):
            (self._folder / name / left).unlink()


def work_folder(folder: Path) -> Path:
    """Where the unfinished build of an index lies."""
    return folder.with_name(f"{folder.name}.building")


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """FAISS with one thread, as when serving; what was set before comes back."""
    import faiss

    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)


class RowWriter:
    """Appends blocks of rows to two files; a journal says how far they are good, so that a kill loses one block.

    Args:
        folder: of the build. dimension: columns of the vectors.
        source: what is being stored (files, encoder); a build of something else cannot be continued.

    Raises DataError when the folder holds an unfinished build of another source.
    """

    def __init__(self, folder: Path, dimension: int, source: str) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._folder, self._dimension = folder, dimension
        self._journal: dict[str, Any] = {"source": source, "rows": 0, "name_bytes": 0, "done": []}
        if (folder / JOURNAL).is_file():
            self._journal = json.loads((folder / JOURNAL).read_bytes())
        if self._journal["source"] != source:
            raise DataError(
                f"{folder.name} holds the unfinished build of something else.", "Finish it, or start afresh (--afresh)."
            )
        self._vectors = self._opened(VECTORS, self._journal["rows"] * dimension * 2)
        self._names = self._opened(NAMES, self._journal["name_bytes"])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._vectors.close()
        self._names.close()

    @property
    def rows(self) -> int:
        """Rows stored so far."""
        return int(self._journal["rows"])

    @property
    def done(self) -> frozenset[str]:
        """The blocks stored so far, by name."""
        return frozenset(self._journal["done"])

    def append(self, block: str, ids: Sequence[str], vectors: NDArray[Any]) -> None:
        """Store a block (n, dimension) under its name, normalised to unit length.

        Raises InputError for another shape, a repeated name, an id that is empty or has white space, a bad vector.
        """
        if vectors.shape != (len(ids), self._dimension):
            raise InputError(
                f"{block} has {len(ids)} ids and vectors of shape {vectors.shape}.",
                f"It needs one row of {self._dimension} an id.",
            )
        if any(not name or name.split() != [name] for name in ids):
            raise InputError(f"{block} has an id that is empty or holds white space.", "Mend it.")
        names = "".join(f"{name}\n" for name in ids).encode()
        self._vectors.write(unit_rows(vectors, ids).astype(np.float16).tobytes())
        self._names.write(names)
        for file in (self._vectors, self._names):
            file.flush()
            os.fsync(file.fileno())
        self._journal["rows"] += len(ids)
        self._journal["name_bytes"] += len(names)
        self._journal["done"].append(block)
        write_atomic(self._folder / JOURNAL, json.dumps(self._journal).encode())

    def _opened(self, name: str, good: int) -> Any:
        path = self._folder / name
        path.touch(mode=0o600)
        if path.stat().st_size < good:
            raise DataError(f"{path} is shorter than its journal says.", "Start afresh (--afresh).")
        os.truncate(path, good)
        return path.open("ab")


def finish_ids(folder: Path) -> None:
    """Turn the list of names into sorted, memory-mapped arrays; of equal ids the last row counts."""
    names = (folder / NAMES).read_bytes().split()
    ids = np.array(names, dtype=np.bytes_) if names else np.empty(0, dtype="S1")
    del names
    order = np.argsort(ids, kind="stable")
    repeated = ids[order][:-1] == ids[order][1:]
    for name, array in ((IDS, ids), (ORDER, order.astype(np.int64)), (DEAD, np.sort(order[:-1][repeated]))):
        np.save(folder / name, array, allow_pickle=False)


def write_shard(path: Path, index: Any, reduced: Vectors, rows: Rows) -> None:
    """Code a block and keep it ordered by list, atomically.

    Args:
        index: trained FAISS index. reduced: (n, kept). rows: (n,) row numbers.
    """
    import faiss

    _, nearest = index.quantizer.search(reduced, 1)
    lists = np.ascontiguousarray(nearest[:, 0], dtype=np.int64)
    codes = np.empty((len(reduced), index.code_size), dtype=np.uint8)
    index.encode_vectors(len(reduced), *(faiss.swig_ptr(array) for array in (reduced, lists, codes)), False)
    order = np.argsort(lists, kind="stable")
    temporary = path.with_name(f".{path.name}")
    with temporary.open("wb") as file:
        for array in (np.bincount(lists, minlength=index.nlist), rows[order], codes[order]):
            np.save(file, array, allow_pickle=False)
    temporary.replace(path)


def merge_shards(shards: list[Path], folder: Path, nlist: int) -> None:
    """One file of lists from the shards, written in one pass; only one list is in memory at a time."""
    parts = [_mapped(path) for path in shards]
    ends = [np.cumsum(counts) for counts, _, _ in parts]
    sizes = np.sum([counts for counts, _, _ in parts], axis=0, dtype=np.uint64) if parts else np.zeros(nlist, "u8")
    temporary = folder / f".{LISTS}"
    with temporary.open("wb") as file:
        for n in range(nlist):
            spans = [slice(int(end[n]) - int(part[0][n]), int(end[n])) for end, part in zip(ends, parts, strict=True)]
            for kind in (2, 1):  # codes, then row numbers
                for part, span in zip(parts, spans, strict=True):
                    file.write(part[kind][span].tobytes())
    np.save(folder / COUNTS, sizes, allow_pickle=False)
    temporary.replace(folder / LISTS)


def write_flat(folder: Path, index: Any) -> None:
    """Keep a flat FAISS index in the place of the lists."""
    import faiss

    write_atomic(folder / LISTS, faiss.serialize_index(index).tobytes())


def _mapped(path: Path) -> tuple[Any, Any, Any]:
    """Counts, row numbers and codes of a shard; the last two memory-mapped."""
    with path.open("rb") as file:
        counts = np.load(file, allow_pickle=False)
        rows = _map_next(path, file)
        codes = _map_next(path, file)
    return counts, rows, codes


def _map_next(path: Path, file: Any) -> Any:
    """The array that begins here in an open .npy file of several, memory-mapped; the file moves past it."""
    np.lib.format.read_magic(file)
    shape, _, dtype = np.lib.format.read_array_header_1_0(file)
    at = file.tell()
    file.seek(at + int(np.prod(shape)) * dtype.itemsize)
    return np.memmap(path, dtype, "r", at, shape) if 0 not in shape else np.empty(shape, dtype)


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


def decide(rows: StoredRows, settings: BuildSettings) -> tuple[Plan, Components]:
    """The type of index for this collection, and the transform before it."""
    alive = len(rows) - len(rows.dead)
    dimension = rows.vectors.shape[1]
    if alive <= settings.flat_up_to:
        return Plan("flat", dimension, 1), Components(np.zeros(dimension, np.float32), np.eye(dimension, dtype="f4"))
    sample = rows.gather(_chosen(rows, SPECTRUM_SAMPLE, settings.seed))
    sample = sample[np.random.default_rng(settings.seed).permutation(len(sample))]
    whole = principal_components(sample)
    kept = _kept(sample, whole)
    components = Components(whole.mean, np.ascontiguousarray(whole.axes[:, :kept]))
    return Plan(kind_for(alive, kept, settings), kept, lists_for(alive)), components


def principal_components(sample: Vectors) -> Components:
    """All components of a sample (n, dimension), the one with the largest variance first."""
    mean = sample.mean(axis=0, dtype=np.float64)
    centred = sample - mean.astype(np.float32)
    covariance = (centred.T @ centred).astype(np.float64) / max(len(sample) - 1, 1)
    _, axes = np.linalg.eigh(covariance)
    return Components(mean.astype(np.float32), np.ascontiguousarray(axes[:, ::-1], dtype=np.float32))


def train(rows: StoredRows, plan: Plan, components: Components, settings: BuildSettings) -> Any:
    """The empty, trained FAISS index of a plan that is not flat (L2 in the space of the components).

    L2 ranks unit vectors as their cosine does, and subtracting the mean does not change it; an inner product it would.
    """
    import faiss

    chosen = _chosen(rows, LIST_SAMPLE * plan.nlist, settings.seed + 1)
    parts = [chosen[at : at + settings.block] for at in range(0, len(chosen), settings.block)]
    sample = np.concatenate([components.apply(rows.gather(part)) for part in parts])
    lists = f"IVF{plan.nlist}" + ("_HNSW32" if plan.nlist >= GRAPH_FROM else "")
    codes = "SQ8" if plan.kind == "ivf_sq8" else f"PQ{plan.kept // PQ_DIMENSIONS}x8"
    index = faiss.index_factory(plan.kept, f"{lists},{codes}", faiss.METRIC_L2)
    if plan.kind == "ivf_pq":
        index.by_residual = False  # one table a query instead of one a list: the refine step makes up for it
        index.do_polysemous_training = False  # an order of the codes that is not used here, and most of the time
    if plan.nlist >= GRAPH_FROM:
        faiss.downcast_index(index.quantizer).hnsw.efSearch = 256  # ours: more than the lists usually searched
    index.train(sample)
    return index


def save_training(folder: Path, plan: Plan, components: Components, index: Any) -> None:
    """Keep the result; the plan is written last and says that the rest is complete."""
    import faiss

    np.savez(folder / COMPONENTS, mean=components.mean, axes=components.axes)
    if index is not None:
        faiss.write_index(index, str(folder / QUANTISERS))
    write_atomic(folder / PLAN, json.dumps(plan.__dict__).encode())


def _kept(sample: Vectors, whole: Components) -> int:
    """The fewest dimensions, of some eighths of all, that keep the neighbours of a sample (`KEEPS`)."""
    dimension = int(sample.shape[1])
    base, probes = sample[: PROBE_ROWS + PROBES], sample[-PROBES:]
    base = base[:-PROBES] if len(base) == len(sample) else base[:PROBE_ROWS]
    exact = _nearest(base @ probes.T, 10)
    base_parts, probe_parts = whole.apply(base), whole.apply(probes)
    for eighths in range(1, 8):
        kept = max(8, dimension * eighths // 8 // 8 * 8)
        left, right = base_parts[:, :kept], probe_parts[:, :kept]
        near = _nearest(2 * left @ right.T - (left**2).sum(axis=1, keepdims=True), NEAR)
        share = np.mean([np.isin(exact[:, n], near[:, n]).mean() for n in range(probes.shape[0])])
        if share >= KEEPS and kept < dimension:
            return kept
    return dimension


def _nearest(scores: Vectors, k: int) -> NDArray[np.int64]:
    """For each column the rows with the k highest scores, in no order: (k, columns)."""
    k = min(k, len(scores))
    return np.argpartition(-scores, k - 1, axis=0)[:k]


def _chosen(rows: StoredRows, most: int, seed: int) -> Rows:
    """Rows of a sample, in order: the disk is read forwards."""
    return np.sort(np.random.default_rng(seed).permutation(len(rows))[:most])


def tune(searcher: Searcher, settings: BuildSettings, questions: Vectors | None = None) -> tuple[Effort, Measured]:
    """Choose the effort and measure it.

    Args:
        searcher: over the finished lists.
        questions: (n, dimension) unit vectors of real questions; else rows of the collection are asked, each
            left out of its own result.
    """
    queries, own = _queries(searcher, settings, questions)
    truth = _truth(searcher, queries, own, settings)
    flat = searcher.plan.kind == "flat"
    effort = Effort(1, 2 * K) if flat else _least(searcher, queries, own, truth, settings)
    found, seconds = _timed(searcher, queries[:TIMED], own[:TIMED], effort)
    rest = _found(searcher, queries[TIMED:], own[TIMED:], effort)
    return effort, Measured(
        queries=len(queries),
        of="rows of the collection" if questions is None else "questions given",
        recall=round(recall(truth, found + rest), 4),
        target=settings.recall,
        p50_ms=round(float(np.median(seconds)) * 1000, 3) if seconds else 0.0,
        p95_ms=round(float(np.percentile(seconds, 95)) * 1000, 3) if seconds else 0.0,
    )


def lower_recall(truth: list[Rows], found: list[Rows]) -> float:
    """The recall less its sampling error: the lower end of a one-sided 95 % normal interval of the mean."""
    shares = _shares(truth, found)
    return float(np.mean(shares) - 1.645 * np.std(shares) / np.sqrt(len(shares))) if shares else 1.0


def recall(truth: list[Rows], found: list[Rows]) -> float:
    """Mean share of the true rows that were found; 1 where there is nothing to find."""
    shares = _shares(truth, found)
    return float(np.mean(shares)) if shares else 1.0


def _shares(truth: list[Rows], found: list[Rows]) -> list[float]:
    return [float(np.isin(t, f).mean()) for t, f in zip(truth, found, strict=True) if len(t)]


def _queries(searcher: Searcher, settings: BuildSettings, questions: Vectors | None) -> tuple[Vectors, Rows]:
    """The queries, and for each the row that it is itself (-1: none)."""
    if questions is not None:
        return questions, np.full(len(questions), -1, dtype=np.int64)
    alive = np.setdiff1d(np.arange(len(searcher.rows)), searcher.rows.dead)
    chosen = np.random.default_rng(settings.seed + 2).permutation(alive)[: settings.sample]
    vectors = searcher.rows.gather(chosen)
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12), chosen


def _truth(searcher: Searcher, queries: Vectors, own: Rows, settings: BuildSettings) -> list[Rows]:
    nearest = exact(searcher.rows, queries, K + 1, settings.block)
    return [row[(row >= 0) & (row != self)][:K] for row, self in zip(nearest, own, strict=True)]


def _least(searcher: Searcher, queries: Vectors, own: Rows, truth: list[Rows], settings: BuildSettings) -> Effort:
    """The fewest lists for the target, with the fewest candidates that can reach it."""
    nlist = searcher.plan.nlist

    def reached(effort: Effort) -> float:
        return lower_recall(truth, _found(searcher, queries, own, effort))

    wide = max(1, nlist // WIDE)
    candidates = next(
        (c for c in CANDIDATES if reached(Effort(wide, c)) >= min(settings.recall + SLACK, 1)), CANDIDATES[-1]
    )
    low, high = 0, 1
    while high < nlist and reached(Effort(high, candidates)) < settings.recall:
        low, high = high, min(2 * high, nlist)
    while high - low > max(1, high // 16):  # ours: within a sixteenth
        middle = (low + high) // 2
        enough = reached(Effort(middle, candidates)) >= settings.recall
        low, high = (low, middle) if enough else (middle, high)
    return Effort(high, candidates)


def _found(searcher: Searcher, queries: Vectors, own: Rows, effort: Effort) -> list[Rows]:
    return [_one(searcher, query, self, effort) for query, self in zip(queries, own, strict=True)]


def _timed(searcher: Searcher, queries: Vectors, own: Rows, effort: Effort) -> tuple[list[Rows], list[float]]:
    found, seconds = [], []
    for query, self in zip(queries, own, strict=True):
        started = time.perf_counter()
        found.append(_one(searcher, query, self, effort))
        seconds.append(time.perf_counter() - started)
    return found, seconds


def _one(searcher: Searcher, query: Vectors, self: int, effort: Effort) -> Rows:
    rows, _ = searcher.search(query, K + 1, effort)
    others: Rows = rows[rows != self][:K]
    return others
