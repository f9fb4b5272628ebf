"""The files of a collection's index on disk, and what it says of itself."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from prompts.errors import DataError
from tools.indexes.contract import Manifest
from tools.indexes.manifests import check_made_with

ROWS = "rows.sqlite"  # ids, fields, texts and the vocabulary
VECTORS = "vectors.f32"  # every vector: of a small collection, and of any one while it is built
LARGE = "vectors"  # the compressed index of a large collection
WORDS = "words"  # BM25, in the layout of bm25s
COLUMNS = "columns"  # what filters read
CHANGES = "changes.sqlite"  # what was added and deleted since
AGAIN = "Build the collection again with --verify: its parts are kept."
READ_WHOLE = 64 << 20  # ours: bytes up to which opening reads every byte (a tenth of a second), not sizes alone
PIECE = 1 << 20  # ours: bytes read at a time


class DiskManifest(Manifest):
    """The manifest of a `tools.indexes.disk.index.DiskIndex`.

    Attributes:
        rows: rows stored, those replaced by a later row of the same id included; ``count`` leaves them out.
        tokens: words in all rows that count.
        vectors: how they are searched: ``exact``, or the type of the compressed index.
        source: identity of what it was built from.
        sizes: bytes of each file.
    """

    rows: int
    tokens: int
    vectors: str
    source: str
    sizes: dict[str, int]


def read_disk_manifest(folder: Path, raw: bytes, encoder: str, dimension: int) -> DiskManifest:
    """The manifest of the index in a folder; a DataError with advice for any mismatch or damage."""
    try:
        manifest = DiskManifest.model_validate_json(raw)
    except ValidationError as error:
        raise DataError(f"The manifest of the index {folder.name} is damaged.", AGAIN) from error
    check_made_with(manifest, folder.name, encoder, dimension)
    return manifest


def sizes_of(folder: Path) -> dict[str, int]:
    """Bytes of every file below a folder, by its path in it."""
    return {p.relative_to(folder).as_posix(): p.stat().st_size for p in sorted(folder.rglob("*")) if p.is_file()}


def checksum_of(folder: Path, sizes: dict[str, int]) -> str:
    """sha256 over the names and bytes of these files, in hexadecimal."""
    digest = hashlib.sha256()
    for name in sorted(sizes):
        with (folder / name).open("rb") as file:
            digest.update(f"{name}\n{hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return digest.hexdigest()


def put_in_place(work: Path, place: Path) -> None:
    """Rename a folder of files, once all that they hold is on the disk."""
    for path in work.iterdir():
        with path.open("rb") as file:
            os.fsync(file.fileno())
    work.rename(place)


class ArrayFile:
    """Numbers in an append-only file; a count that is kept elsewhere says how far they are good.

    Args:
        path: of the file, made when it is not there. dtype: of the numbers. width: numbers a row; 0 for a flat array.
    """

    def __init__(self, path: Path, dtype: Any, width: int = 0) -> None:
        self.path, self._dtype, self._width = path, np.dtype(dtype), width
        self._bytes = self._dtype.itemsize * max(width, 1)

    def write(self, at: int, values: NDArray[Any]) -> None:
        """Put rows from row ``at`` on. Raises DataError when the file is shorter than that."""
        self.path.touch(mode=0o600)
        self._check(at)
        with self.path.open("r+b") as file:
            file.seek(at * self._bytes)
            file.write(np.ascontiguousarray(values, dtype=self._dtype).tobytes())

    def sync(self) -> None:
        """Wait until the file is on the disk."""
        if self.path.exists():
            with self.path.open("rb") as file:
                os.fsync(file.fileno())

    def mapped(self, count: int) -> NDArray[Any]:
        """The first ``count`` rows, memory-mapped: (count,) or (count, width)."""
        shape = (count, self._width) if self._width else (count,)
        if not count:
            return np.empty(shape, self._dtype)
        self._check(count)
        return np.asarray(np.memmap(self.path, self._dtype, "r", shape=shape))

    def _check(self, count: int) -> None:
        size = self.path.stat().st_size if self.path.exists() else 0
        if size < count * self._bytes:
            raise DataError(
                f"{self.path.name} in {self.path.parent} is shorter than its journal says.",
                "Delete that folder, and build again.",
            )


def mapped_array(path: Path) -> NDArray[Any]:
    """A .npy file, memory-mapped; an empty one is read."""
    array = np.load(path, mmap_mode="r" if path.stat().st_size > 1024 else None, allow_pickle=False)
    return np.asarray(array)
