"""The first pass over the source: what each step of each file is about, so that later files can replace earlier ones.

A survey is kept beside its file's checksum; the second pass then reads every block by itself, in any order and place.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prompts.errors import AnamnesisError, DataError, InputError
from tools.corpus.contract import Block, Done, Recipe, SourceFile, SurveyTask, key_of
from tools.corpus.reading import FORMATS, Kept, marks, packed
from tools.files import write_atomic
from tools.mirror.sources import Format, checked_sha256, format_of, in_order

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
