"""What every search needs of a mirror at one moment: PMIDs, dates, lengths and live documents, by document number."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from prompts.errors import DataError
from tools.mirror.bitmaps import BitMap
from tools.mirror.database import AGAIN
from tools.mirror.postings import unpack

COLUMNS = (("pmids", np.int64), ("published", np.int32), ("entered", np.int32), ("lengths", np.int32))


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A generation of the mirror; arrays of shape (documents,), dead ones included.

    Attributes:
        pmids: int64. published, entered: int32, YYYYMMDD or 0. lengths: int32, words of title and abstract.
        live: the documents that are not dead. mean_length: over the live ones.
    """

    generation: int
    pmids: npt.NDArray[np.int64]
    published: npt.NDArray[np.int32]
    entered: npt.NDArray[np.int32]
    lengths: npt.NDArray[np.int32]
    live: BitMap
    mean_length: float


def generation(database: sqlite3.Connection) -> int:
    """The number of the last commit."""
    row = database.execute("SELECT generation FROM state").fetchone()
    if row is None:
        raise DataError("The mirror has lost its state.", AGAIN)
    return int(row[0])


def read_snapshot(database: sqlite3.Connection) -> Snapshot:
    """Read the arrays; raises DataError when they do not fit together. 22 bytes a document."""
    number = generation(database)
    segments = database.execute(
        "SELECT base, size, pmids, published, entered, lengths FROM segments ORDER BY segment"
    ).fetchall()
    total = 0
    for base, size, *blobs in segments:
        fits = all(len(b) == size * np.dtype(t).itemsize for b, (_, t) in zip(blobs, COLUMNS, strict=True))
        if base != total or not fits:
            raise DataError("The mirror's segments do not fit together.", AGAIN)
        total += size
    parts = [b"".join(s[n] for s in segments) for n in range(2, 2 + len(COLUMNS))]
    pmids, published, entered, lengths = (np.frombuffer(p, dtype=t) for p, (_, t) in zip(parts, COLUMNS, strict=True))
    live = BitMap(range(total)) - unpack(row[0] for row in database.execute("SELECT documents FROM dead"))
    mean = float(lengths[np.frombuffer(live.to_array(), dtype=np.uint32)].mean()) if live else 1.0
    return Snapshot(number, pmids, published, entered, lengths, live, max(mean, 1.0))
