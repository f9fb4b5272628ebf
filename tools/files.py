"""Files under the data folder: atomic writes, private modes, locks."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from prompts.errors import DataError

REBUILD = "Run `anamnesis setup --rebuild`."  # the advice for anything built that cannot be read


def write_atomic(path: Path, data: bytes) -> None:
    """Write a file so that a reader sees the old content or the new, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
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

    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        with FileLock(f"{path}.lock", timeout=timeout, mode=0o600):
            yield
    except Timeout as error:
        raise DataError(
            f"Another process has held {path.name} for {timeout:.0f} s.", "Wait for it to finish, or stop it."
        ) from error
