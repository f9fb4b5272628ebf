"""Collections as files of this machine: built part by part, gone on with after a kill, published at one instant."""

from __future__ import annotations

import contextlib
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import numpy as np

from prompts.errors import DataError, InputError
from tools.encoders import Vectors
from tools.files import locked
from tools.indexes.compressed.build import Block
from tools.indexes.compressed.plan import BuildSettings
from tools.indexes.contract import Part
from tools.indexes.disk.columns import RANKS, write_columns
from tools.indexes.disk.index import DiskIndex
from tools.indexes.disk.layout import (
    COLUMNS,
    LARGE,
    ROWS,
    VECTORS,
    WORDS,
    DiskManifest,
    checksum_of,
    mapped_array,
    put_in_place,
    sizes_of,
)
from tools.indexes.disk.ordering import LENGTHS, write_words
from tools.indexes.disk.staging import Staging
from tools.indexes.generations import generation_name, publish
from tools.indexes.large import LargeIndex
from tools.indexes.manifests import FORMAT, SIMILARITY

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")  # ours: what is a folder's name everywhere
PATIENCE = 5.0  # ours: seconds to wait for another build of the collection, which takes minutes at least
Progress = Callable[[str, int, int], None]


class DiskBackend:
    """A `tools.indexes.contract.Backend` of folders.

    Args:
        folder: each collection has a sub-folder; while it is built, its work lies beside it in ``<name>.building``.
        settings: of the vectors' index; up to ``flat_up_to`` rows every vector is compared in single precision.
    """

    def __init__(self, folder: Path, settings: BuildSettings | None = None) -> None:
        self._folder, self._settings = folder, settings or BuildSettings()

    def build(
        self,
        name: str,
        parts: Iterable[Part],
        *,
        encoder: str,
        dimension: int,
        source: str,
        progress: Progress | None = None,
    ) -> DiskIndex:
        """Build the collection, or go on where a build of the same source was stopped: no part is taken twice.

        Until it is whole, `open` gives the collection as it was before. Changes made to that one do not go over.

        Args:
            source: identity of the whole source; another one cannot be continued. progress: told of every step.

        Raises:
            InputError: a part that cannot be taken. DataError: an unfinished build of another source, or one that
                another process is busy with.
        """
        place = self._place(name)
        work = _work_of(place)
        say: Progress = progress or (lambda *_: None)
        with locked(place, PATIENCE):
            identity = f"{source}:{encoder}:{dimension}:{self._settings.model_dump_json()}"
            with contextlib.closing(_Work(work, identity, encoder, dimension, self._settings, say)) as build:
                build.store(parts)
                with _writing(place):
                    count = build.finish()
                    rows = build.staging.number("rows")
            say("checksum", 0, 1)
            with _writing(place):
                self._publish(place, work, encoder, dimension, source, rows, count)
        return self.open(name, encoder=encoder, dimension=dimension)

    def open(self, name: str, *, encoder: str, dimension: int) -> DiskIndex:
        """Open a collection; DataError where there is none, it is damaged, or was made with another encoder."""
        return DiskIndex.open(self._place(name), encoder, dimension)

    def delete(self, name: str) -> bool:
        """Delete a collection, finished or not; whether there was any."""
        place = self._place(name)
        with locked(place, PATIENCE), _writing(place):
            there = [folder for folder in (place, _work_of(place)) if folder.is_dir()]
            for folder in there:
                shutil.rmtree(folder)
        return bool(there)

    def _place(self, name: str) -> Path:
        if not NAME.fullmatch(name):
            raise InputError(f"{name!r} cannot name a collection.", "Use letters, digits, hyphens and underscores.")
        return self._folder / name

    def _publish(
        self, place: Path, work: Path, encoder: str, dimension: int, source: str, rows: int, count: int
    ) -> None:
        with contextlib.closing(sqlite3.connect(work / ROWS)) as db:
            db.execute("pragma journal_mode = delete")  # one file, which is only read from now on
        lengths = mapped_array(work / WORDS / LENGTHS)
        sizes = sizes_of(work)
        manifest = DiskManifest(
            format=FORMAT,
            encoder=encoder,
            dimension=dimension,
            similarity=SIMILARITY,
            count=count,
            rows=rows,
            tokens=int(lengths.sum(dtype=np.int64)),
            vectors=_kind(work, encoder, dimension),
            source=source,
            sizes=sizes,
            checksum=checksum_of(work, sizes),
            built=datetime.now(UTC).isoformat(timespec="microseconds"),
        )
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
        name = generation_name(manifest.checksum, manifest.built)
        publish(place, work, name, manifest.model_dump_json(indent=1).encode())


class _Work:
    """A build in its folder. Each step leaves its result at one instant, and is passed over when that is there."""

    def __init__(
        self, folder: Path, identity: str, encoder: str, dimension: int, settings: BuildSettings, say: Progress
    ) -> None:
        self.staging = Staging(folder, identity, dimension)
        self._folder, self._identity, self._say = folder, identity, say
        self._encoder, self._dimension, self._settings = encoder, dimension, settings

    def store(self, parts: Iterable[Part]) -> None:
        """Take the parts that were not taken before."""
        done = set(self.staging.done)
        for part in parts:
            if part.name not in done:
                for name in (COLUMNS, WORDS, LARGE):  # made of fewer parts
                    shutil.rmtree(self._folder / name, ignore_errors=True)
                self.staging.put(part.name, *part.read())
                done.add(part.name)
            self._say("store", self.staging.number("rows"), 0)

    def finish(self) -> int:
        """Make the files of the index from what was stored; gives the number of rows that count."""
        rows = self.staging.number("rows")
        if not (self._folder / COLUMNS).is_dir():
            self._say("order rows", 0, rows)
            temporary = self._folder / f"{COLUMNS}.new"
            with self.staging.store.write() as db:
                write_columns(db, rows, temporary)
            put_in_place(temporary, self._folder / COLUMNS)
        alive = mapped_array(self._folder / COLUMNS / RANKS) >= 0
        if not (self._folder / WORDS).is_dir():
            write_words(self.staging, alive, self._folder, self._say)
        if rows > self._settings.flat_up_to:
            self._compress(rows)
        self.staging.clear()
        return int(alive.sum())

    def close(self) -> None:
        """Close the files."""
        self.staging.store.close()

    def _compress(self, rows: int) -> None:
        if not (self._folder / LARGE / "manifest.json").is_file():
            LargeIndex.build(
                self._folder / LARGE,
                self._blocks(rows),
                encoder=self._encoder,
                dimension=self._dimension,
                source=self._identity,
                settings=self._settings,
                progress=self._say,
                total=rows,
            )
        (self._folder / VECTORS).unlink(missing_ok=True)
        (self._folder / f"{LARGE}.lock").unlink(missing_ok=True)

    def _blocks(self, rows: int) -> Iterator[Block]:
        """The stored vectors, named by their row numbers."""
        vectors = self.staging.vectors.mapped(rows)
        for at in range(0, rows, self._settings.block):
            yield f"from {at}", partial(_block, vectors, at, self._settings.block)


@contextlib.contextmanager
def _writing(place: Path) -> Iterator[None]:
    """What the system refuses, in words."""
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        raise DataError(
            f"The index {place.name} cannot be written: {getattr(error, 'strerror', None) or error}.",
            "Mend that (often there is too little room), and run the same again: it goes on from here.",
        ) from error


def _work_of(place: Path) -> Path:
    return place.with_name(f"{place.name}.building")


def _block(vectors: Vectors, at: int, size: int) -> tuple[list[str], Vectors]:
    part = np.array(vectors[at : at + size])
    return [str(row) for row in range(at, at + len(part))], part


def _kind(work: Path, encoder: str, dimension: int) -> str:
    if not (work / LARGE).is_dir():
        return "exact"
    return LargeIndex.open(work / LARGE, encoder, dimension).manifest.kind
