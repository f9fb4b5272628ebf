"""The files that are to be added: folders walked in order, contents known by their sha256."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from prompts.errors import DataError


class Candidate(NamedTuple):
    """A file to read, whether a user named it (else a folder did), and what is wrong before it is opened."""

    path: Path
    named: bool
    problem: DataError | None = None


class Content(NamedTuple):
    """A file's content: sha256 in hexadecimal, size in bytes, time of change in ns."""

    sha256: str
    size: int
    modified: int


def candidates(paths: Iterable[Path]) -> list[Candidate]:
    """The files of some paths, each once: folders are walked and sorted, what is hidden in them is left out."""
    found: dict[Path, Candidate] = {}
    for path in paths:
        whole = path.expanduser().resolve()
        inside = walk(whole) if whole.is_dir() else [Candidate(whole, named=True)]
        for candidate in inside:
            found.setdefault(candidate.path, candidate)
    return list(found.values())


def walk(folder: Path) -> Iterator[Candidate]:
    """The files below a folder; a folder that cannot be read, or holds no file, is a candidate with a problem."""
    unreadable: list[OSError] = []
    any_file = False
    for root, folders, files in os.walk(folder, onerror=unreadable.append):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if not name.startswith("."):
                any_file = True
                yield Candidate(Path(root) / name, named=False)
    for error in unreadable:
        problem = DataError(f"The folder cannot be read: {error.strerror}.", "Give yourself the right to read it.")
        yield Candidate(Path(str(error.filename)), named=True, problem=problem)
    if not any_file and not unreadable:
        yield Candidate(folder, named=True, problem=DataError("The folder holds no file.", "Name another one."))


def content_of(path: Path) -> Content:
    """The content of a file; raises DataError when it cannot be read."""
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        status = path.stat()
    except OSError as error:
        raise DataError(f"The file cannot be read: {error.strerror}.", "Check that it is there and yours.") from error
    return Content(digest, status.st_size, status.st_mtime_ns)


def near(name: str, known: Collection[str]) -> list[str]:
    """The known names most like one."""
    from difflib import get_close_matches

    tails = {path.rpartition("/")[2]: path for path in known}
    wanted = name.rpartition("/")[2]
    alike = [tails[tail] for tail in get_close_matches(wanted, tails, n=3, cutoff=0.6)]  # ours: difflib's own default
    return list(dict.fromkeys([*get_close_matches(name, known, n=3), *alike]))[:3]
