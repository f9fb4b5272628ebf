"""Parts on disk: a folder a part, which appears whole or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import shutil
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError

from prompts.errors import DataError
from tools.corpus.contract import Embedded, PartManifest, Publications
from tools.corpus.reading import number_of
from tools.encoders import Encoder, Vectors
from tools.indexes.contract import Entry
from tools.library.document import Document

# Where each document of a collection lies: a sorted table of numbers, mapped into memory.
ROW = np.dtype([("number", "<u8"), ("part", "<u4"), ("start", "<u8"), ("length", "<u4")])
AGAIN = "Build the collection again: finished parts are kept."


def write_catalogue(path: Path, parts: Path, keys: Sequence[str]) -> None:
    """Write the table of the documents of some parts; 24 bytes a document in memory meanwhile."""
    found = []
    for at, key in enumerate(keys):
        place = read_places(parts, key)
        rows = np.zeros(len(place.number), dtype=ROW)
        rows["number"], rows["start"], rows["length"], rows["part"] = place.number, place.start, place.length, at
        found.append(rows)
    table = np.concatenate(found) if found else np.zeros(0, dtype=ROW)
    table = table[np.argsort(table["number"], kind="stable")]
    work = path.with_name(f".{path.name}")
    with work.open("wb") as file:
        np.save(file, table, allow_pickle=False)
        file.flush()
        os.fsync(file.fileno())
    work.replace(path)


class Catalogue:
    """The documents of a finished collection, by id. Raises DataError for a table that cannot be read."""

    def __init__(self, path: Path, parts: Path, keys: Sequence[str]) -> None:
        self._parts, self._keys = parts, keys
        try:
            self._table: NDArray[np.void] = np.load(path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            raise DataError(f"The catalogue {path} is damaged or gone.", AGAIN) from error
        self._numbers = self._table["number"]

    def __len__(self) -> int:
        """Number of documents, retracted ones included."""
        return len(self._table)

    def document(self, id: str) -> Document | None:
        """The document with this id, None when the collection does not hold it."""
        number = np.uint64(number_of(id))
        at = int(np.searchsorted(self._numbers, number))
        while at < len(self._table) and self._numbers[at] == number:  # numbers of hashed ids may meet
            found = self._read(at)
            if found.id == id:
                return found
            at += 1
        return None

    def documents(self) -> Iterator[Document]:
        """All documents, by number."""
        return (self._read(at) for at in range(len(self._table)))

    def _read(self, at: int) -> Document:
        row = self._table[at]
        return read_document(self._parts, self._keys[int(row["part"])], int(row["start"]), int(row["length"]))


MANIFEST = "part.json"
ENTRIES, VECTORS, DOCUMENTS, PLACES = "entries.jsonl.z", "vectors.npy", "documents.bin", "places.npy"
COMPRESSION = 1  # zlib's fastest: a third of the size at a tenth of the time of its best
UNFINISHED = ".part-"
ANEW = "Build again with --verify: damaged parts are made anew."
PLACE = np.dtype([("number", "<u8"), ("start", "<u8"), ("length", "<u4")])  # of a document in documents.bin
ROWS = TypeAdapter(list[Entry])


class Place(NamedTuple):
    """Where the documents of a part lie: ``number`` of each, and its bytes, all of shape (documents,)."""

    number: NDArray[np.uint64]
    start: NDArray[np.uint64]
    length: NDArray[np.uint32]


def part_folder(parts: Path, key: str) -> Path:
    """Where a part lies; two levels, so that no folder holds more than some hundreds."""
    return parts / key[:2] / key[2:18]


def has_part(parts: Path, key: str) -> bool:
    """Whether a finished part is there."""
    return (part_folder(parts, key) / MANIFEST).is_file()


def finished(parts: Path) -> int:
    """Number of finished parts."""
    return sum(1 for _ in parts.glob(f"??/*/{MANIFEST}"))


def write_part(parts: Path, key: str, read: Publications, embedded: Embedded, encoder: Encoder) -> None:
    """Write a part; of two that are written at once the first stays."""
    target = part_folder(parts, key)
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    work = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=parts))
    try:
        files = {
            ENTRIES: zlib.compress(ROWS.dump_json(list(embedded.entries)), COMPRESSION),
            VECTORS: _array(embedded.vectors),
            **_documents(embedded.documents),
        }
        counts = read.counts.model_copy(
            update={
                "publications": len(embedded.documents),
                "retracted": sum(not d.status.usable for d in embedded.documents),
                "passages": len(embedded.entries),
            }
        )
        manifest = PartManifest(
            key=key,
            encoder=encoder.name,
            dimension=encoder.dimension,
            counts=counts,
            problems=tuple(read.problems),
            files={name: (len(data), hashlib.sha256(data).hexdigest()) for name, data in files.items()},
        )
        for name, data in {**files, MANIFEST: manifest.model_dump_json().encode()}.items():
            _write(work / name, data)
        if not _published(work, target):
            raise DataError(f"The part {target} cannot be put in its place.", "Build again with --verify.")
    finally:
        shutil.rmtree(work, ignore_errors=True)


def read_manifest(parts: Path, key: str) -> PartManifest:
    """What a part says of itself; raises DataError when it is damaged or not there."""
    try:
        return PartManifest.model_validate_json((part_folder(parts, key) / MANIFEST).read_bytes())
    except (OSError, ValidationError) as error:
        raise _damaged(key) from error


def read_rows(parts: Path, key: str) -> tuple[Sequence[Entry], Vectors]:
    """The rows of a part and their vectors (n, dimension); raises DataError when they are not what was written."""
    files = read_manifest(parts, key).files
    try:
        entries = ROWS.validate_json(zlib.decompress(_checked(parts, key, ENTRIES, files)))
    except (zlib.error, ValidationError, KeyError) as error:
        raise _damaged(key) from error
    vectors: Vectors = _loaded(_checked(parts, key, VECTORS, files))
    return entries, vectors


def read_places(parts: Path, key: str) -> Place:
    """Where the documents of a part lie."""
    rows = _loaded(_checked(parts, key, PLACES, read_manifest(parts, key).files))
    return Place(rows["number"], rows["start"], rows["length"])


def read_document(parts: Path, key: str, start: int, length: int) -> Document:
    """A document by its bytes; raises DataError when they are damaged or gone."""
    try:
        with (part_folder(parts, key) / DOCUMENTS).open("rb") as file:
            file.seek(start)
            return Document.model_validate_json(zlib.decompress(file.read(length)))
    except (OSError, zlib.error, ValidationError) as error:
        raise _damaged(key) from error


def check_part(parts: Path, key: str) -> bool:
    """Read every byte of a part; whether all are as they were written."""
    try:
        files = read_manifest(parts, key).files
        for name in files:
            _checked(parts, key, name, files)
    except DataError:
        return False
    return True


def remove_part(parts: Path, key: str) -> None:
    """Remove a part; its manifest goes first, so that what a kill leaves is no part."""
    folder = part_folder(parts, key)
    with contextlib.suppress(FileNotFoundError):
        (folder / MANIFEST).unlink()
    shutil.rmtree(folder, ignore_errors=True)


def sweep(parts: Path, keep: frozenset[str]) -> None:
    """Remove what is no finished part, and the parts whose keys are not among these."""
    short = {part_folder(parts, key) for key in keep}
    for unfinished in parts.glob(f"{UNFINISHED}*"):
        shutil.rmtree(unfinished, ignore_errors=True)
    for folder in parts.glob("??/*"):
        if folder not in short or not (folder / MANIFEST).is_file():
            with contextlib.suppress(FileNotFoundError):
                (folder / MANIFEST).unlink()
            shutil.rmtree(folder, ignore_errors=True)


def _documents(documents: Sequence[Document]) -> dict[str, bytes]:
    bodies = [zlib.compress(d.model_dump_json(exclude_defaults=True).encode(), COMPRESSION) for d in documents]
    places = np.zeros(len(bodies), dtype=PLACE)
    places["number"] = [number_of(d.id) for d in documents]
    places["length"] = [len(body) for body in bodies]
    places["start"] = np.concatenate(([0], np.cumsum(places["length"], dtype=np.uint64)))[:-1]
    return {DOCUMENTS: b"".join(bodies), PLACES: _array(places)}


def _array(array: NDArray[Any]) -> bytes:
    raw = io.BytesIO()
    np.save(raw, np.ascontiguousarray(array), allow_pickle=False)
    return raw.getvalue()


def _loaded(data: bytes) -> Any:
    return np.load(io.BytesIO(data), allow_pickle=False)


def _write(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _published(work: Path, target: Path) -> bool:
    for _ in range(2):
        try:
            work.rename(target)
        except OSError:
            if (target / MANIFEST).is_file():  # another attempt at the same block was first
                return True
            shutil.rmtree(target, ignore_errors=True)  # what a kill left while a part was removed
        else:
            return True
    return False


def _checked(parts: Path, key: str, name: str, files: dict[str, tuple[int, str]]) -> bytes:
    try:
        data = (part_folder(parts, key) / name).read_bytes()
    except OSError as error:
        raise _damaged(key) from error
    if (len(data), hashlib.sha256(data).hexdigest()) != tuple(files.get(name, ())):
        raise _damaged(key)
    return data


def _damaged(key: str) -> DataError:
    return DataError(f"The part {key[2:18]} of the collection is damaged.", ANEW)
