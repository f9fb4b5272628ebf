"""Files as readers open them: sizes bounded, gzip taken off, bytes made text, every fault in words."""

from __future__ import annotations

import contextlib
import gzip
import io
import stat
import zlib
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from prompts.errors import DataError
from tools.readers.contract import Problem
from tools.recorder import lent

# ours: what one document may measure, unpacked; the text of a long book is below 5 MB, its scans below 200 MB
LARGEST_TEXT = 50_000_000
LARGEST_PDF = 200_000_000
# ours: packed text is a third to a twentieth of its size, PubMed's files a tenth; gzip's utmost is a thousandth
MOST_PACKED = 100
FREE = 50_000_000  # ours: unpacked bytes of a file that are read whatever it measures packed
FREE_TOGETHER = 500_000_000  # ours: the same of all files of a run
MARKS = (  # byte order marks of the Unicode standard, the longer before the shorter that it begins with
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
BLOCK = 1 << 20  # ours: bytes unpacked at once
BINARY = 0.01  # ours: share of control characters above which bytes that decode are still no text
PACKED = "Unpack it again from its source, or fetch it anew."


def problem(error: DataError, where: str = "") -> Problem:
    """A typed error as a row of a report."""
    return Problem(where=where, what=error.what, advice=error.advice)


def check(path: Path) -> None:
    """Raise DataError unless the path is an ordinary file with something in it that may be read."""
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise DataError("This is a folder.", "Give its files, or add the folder through the library.")
        if not stat.S_ISREG(status.st_mode):
            raise DataError("This is not an ordinary file.", "Give a file on disk.")
        if status.st_size == 0:
            raise DataError("The file is empty.", "Save the document again, or leave the file out.")
        with path.open("rb"):
            pass
    except FileNotFoundError as error:
        raise DataError("The file is not there.", "Check the path.") from error
    except PermissionError as error:
        raise DataError("The file may not be read.", "Give yourself the right to read it (chmod u+r).") from error
    except OSError as error:
        raise DataError(f"The file cannot be opened: {error.strerror}.", "Check the disk and the path.") from error


def name_of(path: Path) -> str:
    """The file's name without its suffix, ``.gz`` and what stands before it included."""
    return Path(path.stem).stem if is_packed(path) else path.stem


@dataclass
class _Sizes:
    """Bytes as they are on disk, and unpacked; so many of these are free."""

    free: int
    packed: int = 0
    unpacked: int = 0

    def add(self, packed: int, unpacked: int) -> None:
        """Count more; raises DataError for more than any text unpacks to."""
        self.packed, self.unpacked = self.packed + packed, self.unpacked + unpacked
        if self.unpacked > max(self.free, MOST_PACKED * self.packed):
            what = f"It unpacks to more than {MOST_PACKED} times its size, which no text does"
            together = self.free == FREE_TOGETHER
            raise DataError(
                f"{what}, nor do the packed files before it." if together else f"{what}.",
                "Add it by itself." if together else "Look at it unpacked (zcat FILE | head), and add what is text.",
            )


_together: ContextVar[_Sizes | None] = ContextVar("together", default=None)


@contextlib.contextmanager
def unpacked_together() -> Iterator[None]:
    """Inside, the packed files that are read count together too: many small bombs are one."""
    with lent(_together, _Sizes(FREE_TOGETHER)):
        yield


class _Unpacked(io.RawIOBase):
    """A gzip file that is unpacked as it is read, and no further than a text can be packed."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._packed = path.open("rb")
        self._file = gzip.GzipFile(fileobj=self._packed)
        self._read = 0  # of the packed bytes
        self._sizes = [_Sizes(FREE), *filter(None, [_together.get()])]

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        """Some more; raises DataError beyond the limits."""
        got = self._file.readinto(cast(bytearray, buffer))
        read, self._read = self._read, self._packed.tell()
        for sizes in self._sizes:
            sizes.add(self._read - read, got)
        return got

    def close(self) -> None:
        self._file.close()
        self._packed.close()
        super().close()


def open_bytes(path: Path) -> IO[bytes]:
    """The file's bytes, unpacked when its name ends in ``.gz``; reading it raises DataError for a packed bomb."""
    return cast(IO[bytes], io.BufferedReader(_Unpacked(path), BLOCK)) if is_packed(path) else path.open("rb")


@contextlib.contextmanager
def read_faults(name: str = "The file") -> Iterator[None]:
    """Inside, what the disk or the packing of a file does to its reading is a DataError."""
    try:
        yield
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise DataError(f"{name}, which is packed, is damaged or cut off.", PACKED) from error
    except OSError as error:
        raise DataError(f"{name} cannot be read: {error.strerror or error}.", "Check the disk.") from error


def is_packed(path: Path) -> bool:
    """Whether the name says that the file is packed."""
    return path.suffix.lower() == ".gz"


class Metered:
    """A file of many records, each of which must end before the limit of one document is spent (set ``spent`` to 0).

    The longer a record is, the larger are the pieces in which it is given, so that a parser which looks at an
    unfinished piece of markup from its beginning each time still takes time in proportion to the whole.
    """

    def __init__(self, file: IO[bytes], advice: str, most: int = 0, what: str = "One record") -> None:
        self._file, self._advice, self._most, self._what = file, advice, most or LARGEST_TEXT, what
        self.spent = 0

    def read(self, size: int = -1) -> bytes:
        """As the file's; raises DataError beyond the limit."""
        data = self._file.read(max(size, self.spent // 2) if size >= 0 else size)
        self.spent += len(data)
        if self.spent > self._most:
            raise DataError(f"{self._what} holds more than {self._most // 1_000_000} MB.", self._advice)
        return data


def read_bytes(path: Path, largest: int = LARGEST_TEXT) -> bytes:
    """All bytes of a file, unpacked; raises DataError beyond ``largest`` or when they cannot be read or unpacked."""
    with read_faults(), open_bytes(path) as file:
        data = file.read(largest + 1)
    if len(data) > largest:
        limit = f"{largest // 1_000_000} MB"
        raise DataError(f"The file holds more than {limit} for one document.", "Split it into its parts.")
    return data


def decode(data: bytes, declared: str = "utf-8") -> str:
    """Bytes as text: by their byte order mark, else as ``declared``; an encoding is never guessed.

    Raises:
        DataError: bytes of another encoding, or of no text at all.
    """
    mark, encoding = next((m for m in MARKS if data.startswith(m[0])), (b"", declared))
    try:
        text = data[len(mark) :].decode(encoding)
    except (UnicodeDecodeError, LookupError) as error:
        if not mark and b"\x00" in data[:1024]:
            raise DataError("The file is binary, not text.", "Give it the suffix of its format.") from error
        advice = "Save it as UTF-8, for example: iconv -f WINDOWS-1252 -t UTF-8 FILE."
        raise DataError(f"The text is not {encoding.upper()}.", advice) from error
    controls = sum(c < " " and c not in "\t\n\r\f\v" for c in text[:10_000])
    if controls > BINARY * min(len(text), 10_000):
        raise DataError("The file is binary, not text.", "Give it the suffix of its format.")
    if not text.strip():
        raise DataError("The file holds no text.", "Save the document again, or leave the file out.")
    return text
