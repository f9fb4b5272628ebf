"""Building a large index in steps that each survive a kill: store, train, code block by block, merge, tune, publish."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from prompts.errors import DataError
from tools.encoders import Vectors
from tools.files import locked
from tools.indexes.compressed.lists import COUNTS, LISTS, merge_shards, write_flat, write_shard
from tools.indexes.compressed.plan import FORMAT, BuildSettings, LargeManifest, Measured, checksum_of
from tools.indexes.compressed.rows import DEAD, IDS, JOURNAL, NAMES, ORDER, VECTORS, RowWriter, StoredRows, finish_ids
from tools.indexes.compressed.searching import Effort, Searcher
from tools.indexes.compressed.training import (
    COMPONENTS,
    PLAN,
    QUANTISERS,
    Components,
    Plan,
    decide,
    load_plan,
    save_training,
    train,
)
from tools.indexes.compressed.tuning import tune
from tools.indexes.contract import SIMILARITY
from tools.indexes.generations import generation_name, publish

Block = tuple[str, Callable[[], tuple[list[str], Any]]]  # a name, and what reads its ids and vectors
Progress = Callable[[str, int, int], None]  # step, done, of (0: unknown)
KEPT = (VECTORS, IDS, ORDER, DEAD, PLAN, COMPONENTS, QUANTISERS, LISTS, COUNTS)


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
