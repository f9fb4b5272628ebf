"""Changes since an index was built: rows added or replaced, searched exactly, and rows deleted, passed over."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from prompts.errors import DataError
from tools.encoders import Vectors
from tools.files import write_atomic
from tools.indexes.compressed.rows import Rows, unit_rows

FILE = "updates.npz"


class Updates:
    """Few changes beside a large index, kept in one file of its generation.

    Attributes:
        fresh: id -> unit vector, float32, in order of arrival.
        deleted: stored rows that no longer count, sorted.
    """

    def __init__(self) -> None:
        self.fresh: dict[str, Vectors] = {}
        self.deleted: Rows = np.empty(0, dtype=np.int64)
        self._matrix: Vectors | None = None

    @classmethod
    def load(cls, folder: Path, dimension: int) -> Updates:
        """Read them back; raises DataError when the file is damaged."""
        updates = cls()
        path = folder / FILE
        if not path.is_file():
            return updates
        try:
            with np.load(path, allow_pickle=False) as arrays:
                names = [bytes(name).decode() for name in arrays["ids"]]
                vectors = arrays["vectors"].astype(np.float32).reshape(len(names), dimension)
                updates.deleted = arrays["deleted"].astype(np.int64)
        except (OSError, ValueError, KeyError, BadZipFile) as error:
            raise DataError(
                f"The updates of the index {folder.parent.name} are damaged.",
                f"Restore {path} from a copy, or delete it and apply the updates again.",
            ) from error
        updates.fresh = dict(zip(names, unit_rows(vectors, names) if names else vectors, strict=True))
        return updates

    def save(self, folder: Path) -> None:
        """Write them atomically."""
        buffer = io.BytesIO()
        names = np.array([name.encode() for name in self.fresh], dtype=np.bytes_)
        np.savez(buffer, ids=names, vectors=self.matrix.astype(np.float16), deleted=self.deleted)
        write_atomic(folder / FILE, buffer.getvalue())

    @property
    def names(self) -> list[str]:
        """The fresh ids, in the order of `matrix`."""
        return list(self.fresh)

    @property
    def matrix(self) -> Vectors:
        """The fresh vectors (n, dimension)."""
        if self._matrix is None:
            self._matrix = np.stack(list(self.fresh.values())) if self.fresh else np.empty((0, 1), dtype=np.float32)
        return self._matrix

    def changed(self, put: dict[str, Vectors], drop: Sequence[str], rows: Sequence[int]) -> Updates:
        """A copy with ids added or replaced, ids dropped, and stored rows deleted: readers keep the old one."""
        after, gone = Updates(), set(drop)
        after.fresh = {name: vector for name, vector in self.fresh.items() if name not in put and name not in gone}
        after.fresh.update(put)
        after.deleted = np.union1d(self.deleted, np.asarray(rows, dtype=np.int64))
        return after
