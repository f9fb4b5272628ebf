"""The steps of a source file, and a block of them as publications."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prompts.errors import DataError
from tools.corpus.contract import TOLD, Block, Counts, Publications
from tools.literature.publications import parse_record
from tools.mirror.sources import ALL_VERSIONS, Format, is_pmid
from tools.mirror.xml_stream import elements
from tools.readers.contract import Problem, Record
from tools.readers.jsonl import JsonLinesReader
from tools.readers.pubmed import DELETED, RECORDS, record_of

HASHED = 1 << 63  # set in the number of an id that is no PMID
FORMATS = (Format.PUBMED, Format.JSON_LINES)
MEND = "Mend or fetch the file anew and build again: finished parts of the others are kept."


class Mark(NamedTuple):
    """What a step is about: the number of its document, its version, and whether it deletes.

    ``number`` is 0 for a step that names no document.
    """

    number: int
    version: int
    deletes: bool


Kept = NDArray[np.bool_]  # (steps,): whether nothing later replaces or deletes a step


def number_of(document_id: str) -> int:
    """The number by which a document is known: its PMID, for others a hash with the highest bit set."""
    collection, _, name = document_id.partition(":")
    if collection == "pubmed" and is_pmid(name):
        return int(name)
    digest = hashlib.blake2b(document_id.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") | HASHED


def marks(path: Path, format: Format) -> Iterator[Mark]:
    """What each step of a file is about, in order. Raises DataError for a file that cannot be read to its end."""
    if format is Format.PUBMED:
        for element in _steps(path):
            yield _mark(element)
        return
    for item in _lines(path):
        yield Mark(0, 1, False) if isinstance(item, Problem) else Mark(number_of(item.id), 1, False)


def read_block(block: Block) -> Publications:
    """The publications of a block.

    Raises DataError for a file that cannot be read to the block's end, or that has changed since it was surveyed.
    """
    _check_unchanged(block)
    path, kept = Path(block.path), unpacked(block.kept, block.count)
    xml = block.format is Format.PUBMED
    steps = islice(_steps(path), block.first, None) if xml else _lines(path, block.first)
    records: list[Record] = []
    problems: list[Problem] = []
    counted = dict.fromkeys(("steps", "replaced", "deletions", "without_text", "unread"), 0)
    for keep, step in zip(kept, islice(steps, block.count), strict=False):
        counted["steps"] += 1
        found = _understood(step, keep=bool(keep), number=block.first + counted["steps"])
        if isinstance(found, Record):
            records.append(found)
        elif isinstance(found, Problem):
            counted["unread"] += 1
            problems.append(found)
        else:
            counted[found] += 1
    if counted["steps"] != block.count:
        raise DataError(f"{path.name} holds fewer records than when it was surveyed.", MEND)
    return Publications(records, Counts(**counted), problems[:TOLD])


def _check_unchanged(block: Block) -> None:
    path = Path(block.path)
    try:
        status = path.stat()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.", MEND) from error
    if (status.st_size, status.st_mtime_ns) != (block.size, block.modified):
        raise DataError(f"{path.name} has changed since it was surveyed.", "Build again when nothing writes to it.")


def packed(kept: Kept) -> str:
    """Which steps are kept, as text."""
    return np.packbits(kept).tobytes().hex()


def unpacked(text: str, count: int) -> Kept:
    """What `packed` was given."""
    return np.unpackbits(np.frombuffer(bytes.fromhex(text), dtype=np.uint8), count=count).astype(bool)


def _steps(path: Path) -> Iterator[Any]:
    """Records, and each deleted PMID by itself."""
    for element in elements(path, (*RECORDS, DELETED)):
        if element.tag == DELETED:
            yield from element.iterfind("PMID")
        else:
            yield element


def _lines(path: Path, skip: int = 0) -> Iterator[Record | Problem]:
    """The lines of a file after the first ones; a fault of the whole file is raised, for nothing tells its cost."""
    for item in JsonLinesReader().read(path, skip):
        if isinstance(item, Problem) and not item.where.startswith("line "):
            raise DataError(f"{path.name}: {item.what}", item.advice)
        yield item


def _mark(element: Any) -> Mark:
    deletes = element.tag == "PMID"
    pmid = element if deletes else element.find("MedlineCitation/PMID")
    if pmid is None:
        pmid = element.find("BookDocument/PMID")
    text = "" if pmid is None else (pmid.text or "").strip()
    version = "" if pmid is None else (pmid.get("Version") or "").strip()
    known = int(version) if version.isascii() and version.isdigit() else 0
    return Mark(int(text) if is_pmid(text) else 0, known or (ALL_VERSIONS if deletes else 1), deletes)


def _understood(step: Any, *, keep: bool, number: int) -> Record | Problem | str:
    """The record of a step, why it is none, or as what it is counted."""
    if isinstance(step, Problem):
        return step
    if isinstance(step, Record):
        return step if keep else "replaced"
    if step.tag == "PMID":
        return "deletions"
    if not keep:
        return "replaced"
    article = parse_record(step, number)
    if isinstance(article, Problem):
        return article
    return record_of(article) or "without_text"


def told(problems: Sequence[Problem]) -> str:
    """Problems in a line."""
    return "; ".join(f"{p.where}: {p.what}" if p.where else p.what for p in problems)
