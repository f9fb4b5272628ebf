"""The findings that the clauses of records are read as, kept on disk: a collection is read once, not at each start."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from tools.files import locked, write_atomic
from tools.text.clauses import Clause

FORMAT = 1  # raised when the file, or what is read into it, changes its shape


class BestFinding(NamedTuple):
    """The position of a finding in the graph, whether it is denied, and how surely it is told, 0..1."""

    finding: int
    denied: bool
    score: float


Read = Callable[[Sequence[Clause]], list[BestFinding | None]]
Readings = list[list[BestFinding | None]]


def readings_of(clauses: Sequence[Sequence[Clause]], read: Read, folder: Path, reader: str) -> Readings:
    """For each record the finding of each clause, None for none.

    What is known of these clauses by this reader is taken from the folder; the file holds positions, no text.

    Args:
        clauses: of each record. read: reads the clauses of one record.
        folder: where the file lies. reader: names all that the readings depend on (graph, encoder).
    """
    told = json.dumps([[(c.text, c.plain, c.present) for c in record] for record in clauses], ensure_ascii=False)
    key = hashlib.sha256(f"{FORMAT}\0{reader}\0{told}".encode()).hexdigest()
    path = folder / f"records-{key[:16]}.json"
    known = _read(path, [len(record) for record in clauses])
    if known is not None:
        return known
    found = [read(record) for record in clauses]
    with locked(path):
        write_atomic(path, json.dumps(found, separators=(",", ":")).encode())
    return found


def _read(path: Path, lengths: Sequence[int]) -> Readings | None:
    """What the file holds; None for a missing or damaged one, which is then written again."""
    try:
        rows = json.loads(path.read_bytes())
        found = [[None if b is None else BestFinding(int(b[0]), bool(b[1]), float(b[2])) for b in r] for r in rows]
    except (OSError, ValueError, TypeError, IndexError):
        return None
    return found if [len(row) for row in found] == list(lengths) else None
