"""The steps of a source file, and a block of them as publications."""

from __future__ import annotations

import hashlib
import io
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prompts.errors import AnamnesisError, DataError, InputError
from tools.corpus.contract import TOLD, Block, Counts, Done, Publications, Recipe, SourceFile, SurveyTask, key_of
from tools.files import write_atomic
from tools.literature.publications import parse_record
from tools.mirror.sources import ALL_VERSIONS, Format, checked_sha256, format_of, in_order, is_pmid
from tools.mirror.xml_stream import elements
from tools.readers.bibliographic import DELETED, RECORDS, record_of
from tools.readers.contract import Problem, Record
from tools.readers.jsonl import JsonLinesReader

# The first pass over the source: what each step of each file is about, so that later files can replace earlier ones.
SUFFIXES = (".xml", ".xml.gz", ".jsonl", ".jsonl.gz", ".ndjson")
AGAIN = "Build again: it is made anew."


class Survey(NamedTuple):
    """A surveyed file: for each of n steps the number of its document, its version, and whether it deletes."""

    sha256: str
    numbers: NDArray[np.uint64]
    versions: NDArray[np.uint32]
    deletes: NDArray[np.bool_]

    def __len__(self) -> int:
        """Number of steps."""
        return len(self.numbers)


def source_files(paths: Sequence[Path]) -> list[SourceFile]:
    """The files of a source, folders opened, in the order in which they are applied: NLM's by year and number, last.

    Raises:
        InputError: nothing to build from, or two files of one name. DataError: a file that is none of the formats.
    """
    found: list[Path] = []
    for path in paths:
        found += [p for p in sorted(path.rglob("*")) if p.name.lower().endswith(SUFFIXES)] if path.is_dir() else [path]
    names = [path.name for path in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"{twice[0]} is given twice.", "Give each file once; a collection knows files by their names.")
    if not found:
        raise InputError("There is no file to build from.", "Give PubMed XML or JSON lines, packed with gzip or not.")
    ordered = in_order(found)
    formats = [format_of(path) for path in ordered]
    for path, found_format in zip(ordered, formats, strict=True):
        if found_format not in FORMATS:
            what = f"{path.name} is {found_format}."
            raise InputError(what, "A collection is built from PubMed XML and JSON lines.")
    return [_file(n, *each) for n, each in enumerate(zip(ordered, formats, strict=True))]


def survey(task: SurveyTask) -> Done:
    """Survey a file into its target; a file that cannot be read to its end is told in the outcome."""
    file = task.file
    try:
        sha256 = checked_sha256(Path(file.path))
        found = list(marks(Path(file.path), file.format))
    except AnamnesisError as error:
        return Done(key=task.key, what=error.what, advice=error.advice)
    if not found:
        return Done(key=task.key, what=f"{file.name} holds no record.", advice="Fetch it anew, or leave it out.")
    numbers, versions, deletes = zip(*found, strict=True)
    raw = io.BytesIO()
    np.savez_compressed(
        raw,
        sha256=np.array(sha256),
        numbers=np.array(numbers, dtype=np.uint64),
        versions=np.array(versions, dtype=np.uint32),
        deletes=np.array(deletes, dtype=np.bool_),
    )
    try:
        write_atomic(Path(task.target), raw.getvalue())
    except OSError as error:
        what = f"The survey of {file.name} cannot be written: {error.strerror or error}."
        return Done(key=task.key, what=what, advice="Check the disk, and build again.")
    return Done(key=task.key)


def read_survey(path: Path) -> Survey | None:
    """A survey that was written, None when there is none; raises DataError for a damaged one."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return Survey(str(file["sha256"]), file["numbers"], file["versions"], file["deletes"])
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, OSError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        path.unlink(missing_ok=True)
        raise DataError(f"The survey {path.name} is damaged.", AGAIN) from error


def kept_steps(surveys: Sequence[Survey]) -> list[Kept]:
    """Which steps of each file are kept, the files in their order.

    A record replaces an earlier one of the same document unless that is of a later version; a deletion takes back what
    stands before it, up to its version. A deletion itself is never kept.
    """
    sizes = [len(s) for s in surveys]
    numbers = np.concatenate([s.numbers for s in surveys]) if surveys else np.empty(0, dtype=np.uint64)
    versions = np.concatenate([s.versions for s in surveys]) if surveys else np.empty(0, dtype=np.uint32)
    deletes = np.concatenate([s.deletes for s in surveys]) if surveys else np.empty(0, dtype=np.bool_)
    kept = ~deletes
    order = np.argsort(numbers, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(numbers[order]) != 0]) if len(order) else np.empty(0, dtype=np.int64)
    ends = np.r_[starts[1:], len(order)]
    for at in np.flatnonzero(ends - starts > 1).tolist():
        steps = order[starts[at] : ends[at]]
        if numbers[steps[0]]:  # 0 names no document: each such step is told when it is read
            kept[steps] = False
            last = _standing(steps.tolist(), versions, deletes)
            if last is not None:
                kept[last] = True
    return np.split(kept, np.cumsum(sizes)[:-1])


def blocks_of(file: SourceFile, kept: Kept, recipe: Recipe) -> list[Block]:
    """The blocks of a surveyed file, in order."""
    made = []
    for first in range(0, len(kept), recipe.block):
        part = kept[first : first + recipe.block]
        bits = packed(part)
        key = key_of(recipe.model_dump_json(), file.sha256, str(first), str(len(part)), bits)
        same = file.model_dump(include={"path", "format", "size", "modified"})
        made.append(Block(key=key, first=first, count=len(part), kept=bits, **same))
    return made


def _file(number: int, path: Path, format: Format) -> SourceFile:
    try:
        place = path.resolve(strict=True)
        status = place.stat()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.", "Check the path.") from error
    return SourceFile(number=number, path=str(place), format=format, size=status.st_size, modified=status.st_mtime_ns)


def _standing(steps: Sequence[int], versions: NDArray[np.uint32], deletes: NDArray[np.bool_]) -> int | None:
    """Of the steps about one document, in order, the one that stands in the end."""
    standing: int | None = None
    for step in steps:
        if deletes[step]:
            if standing is not None and versions[standing] <= versions[step]:
                standing = None
        elif standing is None or versions[step] >= versions[standing]:
            standing = step
    return standing


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
