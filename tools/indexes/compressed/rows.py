"""The stored vectors of a large index: float16 rows of unit length and their ids, memory-mapped."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from prompts.errors import DataError, InputError
from tools.encoders import Vectors
from tools.files import REBUILD, write_atomic

VECTORS = "vectors.f16"
NAMES = "ids.txt"
IDS, ORDER, DEAD = "ids.npy", "order.npy", "superseded.npy"
JOURNAL = "progress.json"
Rows = NDArray[np.int64]


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


def fingerprint(*parts: str) -> str:
    """A short identity of what is built from: the same parts give the same one."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
