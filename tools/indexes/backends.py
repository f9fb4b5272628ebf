"""Where the indexes of collections lie: as files of this machine, or in a Milvus."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import numpy as np
from pydantic import ValidationError

from prompts.errors import DataError, InputError
from tools.databases import held_open
from tools.encoders import Vectors
from tools.files import locked
from tools.indexes.contract import SIMILARITY, Backend, Entry, IndexSettings, Manifest, Part, check_made_with
from tools.indexes.generations import generation_name, publish, read_current
from tools.indexes.large import LargeIndex
from tools.indexes.large_building import Block, BuildSettings
from tools.indexes.store import Store
from tools.indexes.table import COMPRESSED, FILE, FORMAT, TableIndex

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")  # ours: what is a folder's name everywhere
PATIENCE = 5.0  # ours: seconds to wait for another build of the collection, which takes minutes at least
READ_WHOLE = 64 << 20  # ours: bytes up to which opening reads every byte (a tenth of a second), not sizes alone
MANY_CHANGES = 0.05  # ours: share of changed rows from which the collection should be built again
AGAIN = "Build the collection again with --verify: its parts are kept."
Progress = Callable[[str, int, int], None]


def backend_for(settings: IndexSettings, folder: Path) -> Backend:
    """The backend of the settings.

    Args:
        folder: of this machine's indexes; with the address of a Milvus nothing is kept there but locks.

    Nothing is opened yet: a package that is not installed, or a Milvus that does not serve, is told by the first use.
    """
    if settings.backend == "milvus":
        from tools.indexes.milvus.backend import MilvusBackend

        return MilvusBackend(settings, folder / "milvus")
    return LocalBackend(folder)


class LocalManifest(Manifest):
    """The manifest of a `LocalCollection`.

    Attributes:
        version: of the database when it was built: with another one it was changed since.
        vectors: how they are searched: ``exact``, or the type of the compressed index.
        source: identity of what it was built from. sizes: bytes of each file.
    """

    version: int
    vectors: str
    source: str
    sizes: dict[str, int]


class LocalCollection(TableIndex):
    """A built collection of this machine, open for searches and changes.

    Opening checks the sizes of the files, and every byte of a small collection; `verify` reads every byte of any.
    """

    def __init__(self, folder: Path, generation: Path, manifest: LocalManifest) -> None:
        self._folder, self._generation, self._built = folder, generation, manifest
        for name in manifest.sizes:
            (generation / name).stat()
        store = Store(generation / FILE, finished=True)
        if not store.version():
            raise DataError(f"{FILE} of the index {folder.name} is damaged.", AGAIN)
        super().__init__(store, "index", manifest.encoder, manifest.dimension)
        self.stored()  # mapped, so that whoever has it open keeps it when it is built again

    @classmethod
    def open(cls, folder: Path, encoder: str, dimension: int) -> LocalCollection:
        """Open a collection.

        Raises:
            DataError: there is none, it is damaged, of another format, or made with another encoder.
        """
        return read_current(folder, lambda raw: cls._opened(folder, raw, encoder, dimension))

    @property
    def manifest(self) -> LocalManifest:
        """What the index says about itself; without a checksum once it was changed."""
        built = self._built
        return built.model_copy(update={"count": len(self), "checksum": ""}) if self._changed() else built

    @property
    def wants_rebuild(self) -> bool:
        """Whether so much was changed that building again is worth its time."""
        with self.store.read():
            added, gone = self._number("slots") - self._built.count, self._number("slots") - self._number("count")
        return added + gone > MANY_CHANGES * max(self._built.count, 1)

    def add(self, entries: Sequence[Entry], vectors: Vectors) -> None:
        """Add rows, as `TableIndex.add`."""
        self._check_current()
        super().add(entries, vectors)

    def delete(self, ids: Sequence[str]) -> int:
        """Delete rows by id and say how many there were."""
        self._check_current()
        return super().delete(ids)

    def verify(self) -> None:
        """Read every file and compare with what was built; raises DataError when they differ."""
        if not self._changed():
            checksum = checksum_of(self._generation, self._built.sizes)
            if checksum != self._built.checksum and not self._changed():
                raise DataError(f"The index {self._folder.name} is damaged.", AGAIN)
        elif wrong := self.problems():
            raise DataError(f"The index {self._folder.name} is damaged: {'; '.join(wrong)}.", AGAIN)

    @classmethod
    def _opened(cls, folder: Path, raw: bytes, encoder: str, dimension: int) -> LocalCollection:
        try:
            said = json.loads(raw)
            if isinstance(said, dict) and said.get("format") == 1 and "tokens" in said:
                advice = "Run the same `anamnesis index build` again: its parts are kept, and nothing is embedded anew."
                raise DataError(f"The index {folder.name} is of an older version.", advice)
            manifest = LocalManifest.model_validate(said)
        except (ValueError, ValidationError) as error:
            raise DataError(f"The manifest of the index {folder.name} is damaged.", AGAIN) from error
        check_made_with(manifest, folder.name, encoder, dimension, FORMAT)
        generation = folder / generation_name(manifest.checksum, manifest.built)
        try:
            index = cls(folder, generation, manifest)
        except (ValueError, KeyError, TypeError, EOFError, RuntimeError) as error:  # numpy and faiss on damaged files
            raise DataError(f"The index {folder.name} cannot be read.", AGAIN) from error
        if not index._changed() and sizes_of(generation) != manifest.sizes and not index._changed():
            raise DataError(f"A file of the index {folder.name} is damaged.", AGAIN)
        if sum(manifest.sizes.values()) <= READ_WHOLE and not index._changed():
            index.verify()
        return index

    def _changed(self) -> bool:
        return self.store.version() != self._built.version

    def _check_current(self) -> None:
        if not self._generation.is_dir():
            raise DataError(f"The index {self._folder.name} was built again since it was opened.", "Open it again.")


class LocalBackend:
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
    ) -> LocalCollection:
        """Build the collection, or go on where a build of the same source was stopped: no part is taken twice.

        Until it is whole, `open` gives the collection as it was before. Changes made to that one do not go over.

        Args:
            source: identity of the whole source; another one cannot be continued. progress: told of every step.

        Raises:
            InputError: a part that cannot be taken. DataError: an unfinished build of another source, or one that
                another process is busy with.
        """
        place = self._place(name)
        work, say = _work_of(place), progress or (lambda *_: None)
        with locked(place, PATIENCE):
            identity = f"{FORMAT}:{source}:{encoder}:{dimension}:{self._settings.model_dump_json()}"
            if not (work / FILE).exists():  # what an older version began; its parts are kept where they came from
                shutil.rmtree(work, ignore_errors=True)
            with contextlib.closing(Store(work / FILE)) as store:
                table = _begun(store, identity, encoder, dimension)
                _take(table, parts, say)
                with _writing(place):
                    self._finish(table, work, identity, say)
                count, version = len(table), store.version()
            say("checksum", 0, 1)
            with _writing(place):
                sizes = sizes_of(work)
                manifest = LocalManifest(
                    format=FORMAT,
                    encoder=encoder,
                    dimension=dimension,
                    similarity=SIMILARITY,
                    count=count,
                    version=version,
                    vectors=_kind(work, encoder, dimension),
                    source=source,
                    sizes=sizes,
                    checksum=checksum_of(work, sizes),
                    built=datetime.now(UTC).isoformat(timespec="microseconds"),
                )
                place.mkdir(parents=True, exist_ok=True, mode=0o700)
                generation = generation_name(manifest.checksum, manifest.built)
                publish(place, work, generation, manifest.model_dump_json(indent=1).encode())
        return self.open(name, encoder=encoder, dimension=dimension)

    def open(self, name: str, *, encoder: str, dimension: int) -> LocalCollection:
        """Open a collection; DataError where there is none, it is damaged, or was made with another encoder."""
        return LocalCollection.open(self._place(name), encoder, dimension)

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

    def _finish(self, table: TableIndex, work: Path, identity: str, say: Progress) -> None:
        """Make one segment of all parts, and compress the vectors of many rows; each step stands when it is done."""
        say("join words", 0, 1)
        table.tidy()
        table.store.finish()
        rows = len(table)
        if rows <= self._settings.flat_up_to or table.store.number("index.compressed"):
            return
        if not (work / COMPRESSED / "manifest.json").is_file():
            LargeIndex.build(
                work / COMPRESSED,
                _blocks(table, self._settings.block),
                encoder=table.manifest.encoder,
                dimension=table.manifest.dimension,
                source=identity,
                settings=self._settings,
                progress=say,
                total=rows,
            )
        (work / f"{COMPRESSED}.lock").unlink(missing_ok=True)
        table.compress()


def _begun(store: Store, identity: str, encoder: str, dimension: int) -> TableIndex:
    with store.write() as db:
        if store.value("identity", identity) != identity:
            raise DataError(
                f"{store.file.parent.name} holds the unfinished build of something else.",
                f"Finish it, or delete {store.file.parent}.",
            )
        store.put("identity", identity)
        db.execute("create table if not exists parts (name text primary key) without rowid")
    return TableIndex(store, "index", encoder, dimension)


def _take(table: TableIndex, parts: Iterable[Part], say: Progress) -> None:
    """Take the parts that were not taken before: each whole or not at all, whatever kills the build."""
    with table.store.read() as db:
        done = {name for (name,) in db.execute("select name from parts")}
    for part in parts:
        if part.name not in done:
            entries, vectors = part.read()
            with table.store.write() as db:
                table.add(entries, vectors)
                db.execute("insert into parts values (?)", (part.name,))
            done.add(part.name)
        say("store", len(table), 0)


def _blocks(table: TableIndex, size: int) -> Iterator[Block]:
    """The stored vectors, named by their row numbers."""
    vectors = table.stored()
    for at in range(0, len(vectors), size):
        yield f"from {at}", partial(_block, vectors, at, size)


def _block(vectors: Vectors, at: int, size: int) -> tuple[list[str], Vectors]:
    part = np.array(vectors[at : at + size])
    return [str(row) for row in range(at, at + len(part))], part


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


def _kind(work: Path, encoder: str, dimension: int) -> str:
    if not (work / COMPRESSED).is_dir():
        return "exact"
    return LargeIndex.open(work / COMPRESSED, encoder, dimension).manifest.kind


def sizes_of(folder: Path) -> dict[str, int]:
    """Bytes of every file below a folder but SQLite's own log, by its path in it."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.name.startswith(f"{FILE}-"))
    return {path.relative_to(folder).as_posix(): path.stat().st_size for path in files}


def checksum_of(folder: Path, sizes: dict[str, int]) -> str:
    """sha256 over the names and bytes of these files, in hexadecimal."""
    digest = hashlib.sha256()
    for name in sorted(sizes):
        with held_open(folder / name) if name == FILE else (folder / name).open("rb") as file:
            digest.update(f"{name}\n{hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return digest.hexdigest()
