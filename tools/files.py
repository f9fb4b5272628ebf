"""Files under the data folder: atomic writes, private modes, locks; and workers that end with their parent."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Generic, TypeVar

from prompts.errors import DataError, InputError

Content = TypeVar("Content")
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}  # no room on the disk, in a user's share, for so large a file
FOLDER, FILE = 0o700, 0o600  # what lies in the data folder holds patients' words
REBUILD = "Run `anamnesis setup --rebuild`."  # the advice for anything built that cannot be read


class DiskFullError(DataError):
    """There is no room for what should be written. Nothing that is stored is touched by that."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"{what} cannot be written: the disk is full.",
            "Free some space and try again; nothing is damaged, and what was stored stays.",
        )


@contextlib.contextmanager
def told_when_full(what: str) -> Iterator[None]:
    """An OSError for want of room becomes a DiskFullError; every other one stays what it is."""
    try:
        yield
    except OSError as error:
        if error.errno in FULL:
            raise DiskFullError(what) from error
        raise


def private_folder(path: Path) -> Path:
    """The folder, made where it is missing with all above it; mode 0700 for each that is made, whatever the umask."""
    missing = [path, *path.parents]
    missing = missing[: next((n for n, folder in enumerate(missing) if folder.is_dir()), len(missing))]
    for folder in reversed(missing):
        folder.mkdir(exist_ok=True, mode=FOLDER)
        folder.chmod(FOLDER)
    return path


def private_file(path: Path) -> Path:
    """The file, made empty where it is missing; mode 0600, whatever the umask, and whatever an older program left."""
    private_folder(path.parent)
    path.touch(mode=FILE, exist_ok=True)
    if path.stat().st_mode & 0o777 != FILE:
        with contextlib.suppress(PermissionError):  # another user's, who has the say
            path.chmod(FILE)
    return path


def append_private(path: Path) -> IO[bytes]:
    """The file for appending without a buffer: what is written is with the system, or raises."""
    return private_file(path).open("ab", buffering=0)


def in_a_folder(path: Path) -> Path:
    """A place that a user names to be written, which must lie in a folder that is there; raises InputError."""
    if not path.parent.is_dir():
        why = "is no folder" if path.parent.exists() else "is not there"
        raise InputError(
            f"{path} cannot be written: the folder {path.parent} {why}.",
            "Make the folder first, or name another place.",
        )
    return path


def named_file(path: Path | None) -> Path | None:
    """A file that a user names to be written (`in_a_folder`), None where none is named; raises InputError."""
    if path is not None and path.is_dir():
        raise InputError(f"{path} is a folder.", "Give the name of a file.")
    return None if path is None else in_a_folder(path)


def write_atomic(path: Path, data: bytes) -> None:
    """Write a file so that a reader sees the old content or the new, never a part."""
    private_folder(path.parent)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        os.fchmod(handle, FILE)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            Path(temporary).unlink()
        raise


def sha256_of(path: Path) -> str:
    """The checksum of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextlib.contextmanager
def locked(path: Path, timeout: float = 600.0) -> Iterator[None]:
    """Hold the writers' lock beside ``path``; raises DataError after ``timeout`` seconds."""
    from filelock import FileLock, Timeout

    private_folder(path.parent)
    try:
        with FileLock(private_file(Path(f"{path}.lock")), timeout=timeout, mode=FILE):
            yield
    except Timeout as error:
        raise DataError(
            f"Another process has held {path.name} for {timeout:.0f} s.", "Wait for it to finish, or stop it."
        ) from error


class Shared(Generic[Content]):
    """What was read from files: the openings of one process share it while the files stay as they are.

    Args:
        most: how many contents are kept, the latest used ones.
    """

    def __init__(self, most: int) -> None:
        self._most, self._lock = most, threading.Lock()
        self._known: OrderedDict[tuple[object, ...], Content] = OrderedDict()

    def get(self, key: str, files: Sequence[Path], read: Callable[[], Content]) -> Content:
        """The content; ``read`` makes it where the key is new or a file has another time or size, and may write them.

        What ``read`` raises is raised, and nothing is kept.
        """
        with self._lock:
            known = self._known.pop((key, *_stamps(files)), None)
            content = read() if known is None else known
            self._known[(key, *_stamps(files))] = content
            while len(self._known) > self._most:
                self._known.popitem(last=False)
        return content


def _stamps(files: Sequence[Path]) -> list[tuple[str, int, int]]:
    """Place, time and size of every file that is there."""
    found = [(file, file.stat()) for file in files if file.exists()]
    return [(str(file), stat.st_mtime_ns, stat.st_size) for file, stat in found]


# Worker processes that do not outlive the process that started them.


def end_with_parent() -> None:
    """In a worker: end when the process that started it does, however that ended."""
    from multiprocessing import parent_process

    parent = parent_process()

    def watch() -> None:
        with contextlib.suppress(OSError):
            if parent is not None:
                parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
