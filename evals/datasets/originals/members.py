"""The files of a release: one file, those of a folder, or the members of a zip archive, as bytes and as text."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import IO, NamedTuple

from evals.datasets.originals.contract import Problem
from prompts.errors import DataError
from tools.readers.files import check, decode, open_bytes

LARGEST = 500_000_000  # ours: bytes of a file that is read as a whole; the training sets of BioASQ are below 100 MB


class Member(NamedTuple):
    """A file of a release. ``name`` is its path below what was given, ``open`` opens its unpacked bytes."""

    name: str
    open: Callable[[], IO[bytes]]

    @property
    def stem(self) -> str:
        """The name without folders and suffixes."""
        return self.name.rpartition("/")[2].partition(".")[0]

    @property
    def folder(self) -> str:
        """The name of the folder that it lies in; "" for none."""
        return self.name.rpartition("/")[0].rpartition("/")[2]


def members(path: Path, fits: Callable[[str], bool]) -> Iterator[Member | Problem]:
    """The files whose names fit, in the order of their names; a single file is taken whatever its name.

    Hidden files are passed over. A place without any is a problem.
    """
    if path.is_dir():
        names = sorted(p.relative_to(path).as_posix() for p in path.rglob("*") if p.is_file())
        chosen = [n for n in names if fits(n) and not _hidden(n)]
        yield from (_of_folder(path, name) for name in chosen)
        if not chosen:
            yield Problem(path.name, 0, "The folder holds no file of this format.")
        return
    try:
        check(path)
    except DataError as error:
        yield Problem(path.name, 0, f"{error.what} {error.advice}")
        return
    if path.suffix.lower() == ".zip":
        yield from _of_archive(path, fits)
    else:
        yield Member(path.name, lambda: open_bytes(path))


def bytes_of(member: Member) -> bytes:
    """All bytes of a file; raises DataError when they cannot be read, or are more than `LARGEST`."""
    try:
        with member.open() as file:
            data = file.read(LARGEST + 1)
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile, RuntimeError) as error:
        raise DataError(f"The file cannot be read ({error}).", "Fetch it again.") from error
    if len(data) > LARGEST:
        raise DataError(f"The file holds more than {LARGEST // 1_000_000} MB.", "Give its parts.")
    return data


def text_of(member: Member) -> str:
    """The file as text; raises DataError as `bytes_of` does, and for what is no text."""
    return decode(bytes_of(member))


def _of_folder(path: Path, name: str) -> Member:
    return Member(name, lambda: open_bytes(path / name))


def _of_archive(path: Path, fits: Callable[[str], bool]) -> Iterator[Member | Problem]:
    try:
        with zipfile.ZipFile(path) as archive:
            names = sorted(i.filename for i in archive.infolist() if not i.is_dir() and not _hidden(i.filename))
            chosen = [name for name in names if fits(name)] or names[: len(names) == 1]
            if not chosen:
                yield Problem(path.name, 0, "The archive holds no file of this format.")
            for name in chosen:
                yield Member(name, partial(archive.open, name))
    except (zipfile.BadZipFile, OSError) as error:
        yield Problem(path.name, 0, f"The archive cannot be read ({error}).")


def _hidden(name: str) -> bool:
    return any(part.startswith((".", "__MACOSX")) for part in name.split("/"))
