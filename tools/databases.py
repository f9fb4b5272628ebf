"""What SQLite says when a file cannot be used, told as what it is: damage, a full disk, another writer, no right."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import struct
import threading
from collections.abc import Iterable, Iterator
from io import FileIO
from pathlib import Path

from prompts.errors import DataError
from tools.files import DiskFullError

DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT)
COPY = "Move it away, or restore a copy."
FAILED = (
    "cannot be read or written",
    "Check the disk, and who owns the file and its folder; it is not damaged by that.",
)
FAULTS = {  # SQLite's primary result codes that say nothing about what the file holds
    sqlite3.SQLITE_BUSY: ("is held by another process", "Wait for it to finish, or stop it."),
    sqlite3.SQLITE_LOCKED: ("is held by another process", "Wait for it to finish, or stop it."),
    sqlite3.SQLITE_READONLY: ("cannot be written", "Give its file and folder back to the user who runs this."),
    sqlite3.SQLITE_NOMEM: ("needs more memory than there is", "Close other programs and try again."),
    sqlite3.SQLITE_IOERR: FAILED,
    sqlite3.SQLITE_CANTOPEN: FAILED,
    sqlite3.SQLITE_PERM: FAILED,
    sqlite3.SQLITE_PROTOCOL: FAILED,
}
LEAVES, INNER = (10, 13), (2, 5)  # code: what the first byte of a page of SQLite says, and so how long its head is
SAMPLE = 24  # ours: bytes of a text's beginning and end by which it is found again
_kept: dict[tuple[int, int], FileIO] = {}  # database files open for reading, by device and number
_reading = threading.Lock()
NO_ROOM = 1_000_000  # ours: free bytes below which what fails on a disk fails for want of room


def fault_of(error: sqlite3.DatabaseError, file: Path, what: str, advice: str = COPY) -> DataError:
    """The error for a user.

    Args:
        what: the file in words. advice: what to do where it is damaged.
    """
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the low byte is the kind
    failed = FAULTS.get(code) is FAILED
    if code == sqlite3.SQLITE_FULL or (failed and _no_room(file)):
        return DiskFullError(what)
    if code in DAMAGE:
        return DataError(f"{what} is damaged.", advice)
    fault, what_to_do = FAULTS.get(code, ("cannot be used", advice))
    return DataError(f"{what} {fault} ({error}).", what_to_do)


@contextlib.contextmanager
def told(file: Path, what: str, advice: str = COPY) -> Iterator[None]:
    """SQLite's errors about a file as errors for a user; a mistake of the caller, such as a closed file, stays one."""
    try:
        yield
    except sqlite3.ProgrammingError:
        raise
    except sqlite3.DatabaseError as error:
        raise fault_of(error, file, what, advice) from error


def forget(db: sqlite3.Connection, file: Path, texts: Iterable[str]) -> None:
    """Take what was deleted out of the file, for which no transaction may be open.

    SQLite overwrites what it deletes (``secure_delete``), and the write-ahead log is cut off here. What it moved when
    it split a page stays behind in the unused part of that page: where a text is there, the file is written anew.
    """
    db.execute("pragma wal_checkpoint(truncate)").fetchall()
    if leftover(file, texts):
        db.execute("vacuum")
        db.execute("pragma wal_checkpoint(truncate)").fetchall()


def leftover(file: Path, texts: Iterable[str]) -> bool:
    """Whether the unused parts of the file's pages hold the beginning or the end of a text."""
    wanted = {piece for t in texts for piece in (t.encode()[:SAMPLE], t.encode()[-SAMPLE:]) if piece}
    unused = b"\0".join(_unused(file)) if wanted else b""
    return any(piece in unused for piece in wanted)


def _unused(file: Path) -> Iterator[bytes]:
    """What lies between the head and the cells of each page of a table or an index, where it is not all zero."""
    with held_open(file) as opened:
        head = opened.read(18)
        size = struct.unpack(">H", head[16:])[0] if len(head) == 18 else 0
        size = 65_536 if size == 1 else size  # code: as the format has it
        opened.seek(0)
        first = 100  # code: bytes of the file's own head, in its first page
        while size and len(page := opened.read(size)) == size:
            if page[first] in (*LEAVES, *INNER):
                cells, begin = struct.unpack(">HH", page[first + 3 : first + 7])
                unused = page[first + (8 if page[first] in LEAVES else 12) + 2 * cells : begin or 65_536]
                if unused.strip(b"\0"):
                    yield unused
            first = 0


@contextlib.contextmanager
def held_open(file: Path) -> Iterator[FileIO]:
    """A database file at its beginning, for one at a time; opened once, and closed when it is gone from the disk.

    To close a file takes away every lock that this process holds on it (POSIX), SQLite's own among them: another
    process would then delete the log that is still written to.
    """
    with _reading:
        for key in [key for key, one in _kept.items() if not os.fstat(one.fileno()).st_nlink]:
            _kept.pop(key).close()
        found = file.stat()
        key = (found.st_dev, found.st_ino)
        if key not in _kept:
            _kept[key] = file.open("rb", buffering=0)
        _kept[key].seek(0)
        yield _kept[key]


def _no_room(file: Path) -> bool:
    try:
        return shutil.disk_usage(file.parent).free < NO_ROOM
    except OSError:
        return False
