"""Files as readers open them: sizes bounded, gzip taken off, bytes made text, every fault in words."""

from __future__ import annotations

import gzip
import stat
import zlib
from pathlib import Path
from typing import IO, cast

from prompts.errors import DataError
from tools.readers.contract import Problem

# ours: what one document may measure, unpacked; the text of a long book is below 5 MB, its scans below 200 MB
LARGEST_TEXT = 50_000_000
LARGEST_PDF = 200_000_000
MARKS = (  # byte order marks of the Unicode standard, the longer before the shorter that it begins with
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
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
    return Path(path.stem).stem if path.suffix.lower() == ".gz" else path.stem


def open_bytes(path: Path) -> IO[bytes]:
    """The file's bytes, unpacked when its name ends in ``.gz``."""
    return cast(IO[bytes], gzip.open(path, "rb")) if path.suffix.lower() == ".gz" else path.open("rb")


class Metered:
    """A file of many records, each of which must end before the limit of one document is spent (set ``spent`` to 0)."""

    def __init__(self, file: IO[bytes], advice: str) -> None:
        self._file, self._advice = file, advice
        self.spent = 0

    def read(self, size: int = -1) -> bytes:
        """As the file's; raises DataError beyond the limit."""
        data = self._file.read(size)
        self.spent += len(data)
        if self.spent > LARGEST_TEXT:
            raise DataError(f"One record holds more than {LARGEST_TEXT // 1_000_000} MB.", self._advice)
        return data


def read_bytes(path: Path, largest: int = LARGEST_TEXT) -> bytes:
    """All bytes of a file, unpacked; raises DataError beyond ``largest`` or when they cannot be read or unpacked."""
    try:
        with open_bytes(path) as file:
            data = file.read(largest + 1)
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise DataError("The packed file is damaged or cut off.", PACKED) from error
    except OSError as error:
        raise DataError(f"The file cannot be read: {error.strerror or error}.", "Check the disk.") from error
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
