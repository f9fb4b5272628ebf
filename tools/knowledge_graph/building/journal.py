"""What a build has done so far: one JSON line a judgement, so that a killed build goes on where it was."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from prompts.errors import DataError
from tools.files import private_file, told_when_full


class Journal:
    """A file of (key, value) lines. A torn last line, of a kill, is dropped and its work done again.

    Args:
        path: the file; made when missing, mode 0600, because values quote records.
    """

    def __init__(self, path: Path) -> None:
        self._known: dict[str, Any] = {}
        self._name = path.name
        whole = self._read(path) if path.exists() else 0
        handle = os.open(private_file(path), os.O_RDWR)
        os.ftruncate(handle, whole)
        os.lseek(handle, 0, os.SEEK_END)
        self._file = os.fdopen(handle, "wb")

    def __len__(self) -> int:
        """Number of judgements kept."""
        return len(self._known)

    def get(self, what: str, of: Any) -> Any | None:
        """What was judged of this before; None when it was not."""
        return self._known.get(_key(what, of))

    def put(self, what: str, of: Any, value: Any) -> None:
        """Keep a judgement; it is on disk when this returns."""
        key = _key(what, of)
        self._known[key] = value
        with told_when_full(self._name):
            self._file.write(json.dumps([key, value], ensure_ascii=False).encode() + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())

    def __enter__(self) -> Self:
        """The journal itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file."""
        self._file.close()

    def _read(self, path: Path) -> int:
        """Take the lines in; returns how many bytes are whole."""
        data = path.read_bytes()
        whole = data.rfind(b"\n") + 1
        for number, line in enumerate(data[:whole].splitlines(), start=1):
            try:
                key, value = json.loads(line)
            except ValueError as error:
                raise DataError(
                    f"{path.name}, line {number} is damaged.", f"Delete {path.name}; the build then begins again."
                ) from error
            self._known[key] = value
        return whole


def _key(what: str, of: Any) -> str:
    text = json.dumps([what, of], ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
