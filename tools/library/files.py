"""The files that are to be added: folders walked in order, contents known by their sha256."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from prompts.errors import DataError
from tools.readers.files import check


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
        whole = absolute(path)
        inside = walk(whole) if whole.is_dir() else [Candidate(whole, named=True)]
        for candidate in inside:
            found.setdefault(candidate.path, candidate)
    return list(found.values())


def absolute(path: str | Path) -> Path:
    """The path from the root, links followed and ``~`` written out; a loop of links, or an unknown ``~name``, stays."""
    return Path(os.path.realpath(os.path.expanduser(path)))  # noqa: PTH111  pathlib raises RuntimeError for both


def walk(folder: Path) -> Iterator[Candidate]:
    """The files below a folder, and the links to folders in it, which are not followed.

    A folder that cannot be read, or holds nothing of these, is a candidate with a problem.
    """
    unreadable: list[OSError] = []
    any_file = False
    for root, folders, files in os.walk(folder, onerror=unreadable.append):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        links = [name for name in folders if (Path(root) / name).is_symlink()]
        for name in sorted([*files, *links]):
            if not name.startswith("."):
                any_file = True
                yield Candidate(Path(root) / name, named=False)
    for error in unreadable:
        problem = DataError(f"The folder cannot be read: {error.strerror}.", "Give yourself the right to read it.")
        yield Candidate(Path(str(error.filename)), named=True, problem=problem)
    if not any_file and not unreadable:
        yield Candidate(folder, named=True, problem=DataError("The folder holds no file.", "Name another one."))


def content_of(path: Path) -> Content:
    """The content of a file; raises DataError for one that is not ordinary, empty, or cannot be read."""
    check(path)  # before it is opened: a pipe or a device would be read for ever
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())  # before it is read: a change from here on shows
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"The file cannot be read: {error.strerror}.", "Check that it is there and yours.") from error
    return Content(digest, status.st_size, status.st_mtime_ns)


def is_changed(path: Path, content: Content) -> bool:
    """Whether size or time of a file are no longer those of its content."""
    try:
        status = path.stat()
    except OSError:  # it is gone
        return True
    return (status.st_size, status.st_mtime_ns) != (content.size, content.modified)


def near(name: str, known: Collection[str]) -> list[str]:
    """The known names most like one."""
    from difflib import get_close_matches

    tails = {path.rpartition("/")[2]: path for path in known}
    wanted = name.rpartition("/")[2]
    alike = [tails[tail] for tail in get_close_matches(wanted, tails, n=3, cutoff=0.6)]  # ours: difflib's own default
    return list(dict.fromkeys([*get_close_matches(name, known, n=3), *alike]))[:3]
