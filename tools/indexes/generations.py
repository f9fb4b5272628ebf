"""A folder whose content changes at one instant: complete generations beside each other, and a manifest that names one.

A folder that is not empty cannot be replaced by one rename. So the content lies in a sub-folder of its own, which is
written under a temporary name and renamed when complete; then ``manifest.json`` is replaced, which is one rename. A
reader that saw the old manifest just before its generation was cleared away reads the manifest again (`read_current`).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from prompts.errors import DataError
from tools.files import REBUILD, write_atomic

MANIFEST = "manifest.json"
ATTEMPTS = 10  # ours: a reader meets a writer that often in a row only if something is wrong
TEMPORARY = ".new-"  # ours: what an unfinished generation's folder begins with
OURS = re.compile(r"[0-9a-f]{16}-\d+")  # as `generation_name` writes them
KEYS = {"format", "encoder", "built"}  # ours: what the manifests of an index and of a library have in common
Content = TypeVar("Content")


@contextlib.contextmanager
def unfinished(folder: Path) -> Iterator[Path]:
    """An empty temporary folder inside ``folder``, gone afterwards unless `publish` renamed it.

    Raises DataError when ``folder`` is somebody else's (see `publish`), before any work is done.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    _check_ours(folder)
    temporary = Path(tempfile.mkdtemp(dir=folder, prefix=TEMPORARY))
    try:
        yield temporary
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def publish(folder: Path, temporary: Path, generation: str, manifest: bytes) -> None:
    """Make ``temporary`` the current generation of ``folder``; the caller holds the writers' lock.

    Older generations and unfinished ones are removed; anything else in the folder stays.

    Args:
        generation: a name never used before in this folder (`generation_name`).

    Raises:
        DataError: the folder holds files, but no manifest and no generation written here.
    """
    _check_ours(folder)
    target = folder / generation
    temporary.rename(target)
    write_atomic(folder / MANIFEST, manifest)
    for other in folder.iterdir():
        if other != target and (_is_generation(other) or _is_unfinished(other)):
            shutil.rmtree(other, ignore_errors=True)


def generation_name(identity: str, built: str) -> str:
    """The folder of what was built at a moment: no two have the same, even with the same content."""
    return f"{identity[:16]}-{''.join(c for c in built if c.isdigit())}"


def read_current(folder: Path, read: Callable[[bytes], Content]) -> Content:
    """Call ``read`` with the manifest's bytes; when it fails and a writer was there meanwhile, call it again.

    Raises DataError when there is no manifest, when a file that it promises is missing, or what ``read`` raises.
    """
    for _ in range(ATTEMPTS):
        manifest = _manifest(folder)
        try:
            return read(manifest)
        except FileNotFoundError as error:
            if _manifest(folder) == manifest:
                raise DataError(f"A file of {folder.name} is missing.", REBUILD) from error
        except DataError:
            if _manifest(folder) == manifest:
                raise
    raise DataError(f"{folder.name} changes faster than it can be read.", "Try again when its writer has finished.")


def checksum(folder: Path) -> str:
    """sha256 over the names and bytes of all files below a folder, in hexadecimal."""
    digest = hashlib.sha256()
    for file in sorted(p for p in folder.rglob("*") if p.is_file()):
        with file.open("rb") as handle:
            inner = hashlib.file_digest(handle, "sha256").hexdigest()
        digest.update(f"{file.relative_to(folder).as_posix()}\n{inner}\n".encode())
    return digest.hexdigest()


def _is_generation(path: Path) -> bool:
    return OURS.fullmatch(path.name) is not None and path.is_dir()


def _is_unfinished(path: Path) -> bool:
    """Whether a writer that was interrupted left this: a generation's folder, or a manifest not yet in place."""
    return path.name.startswith((TEMPORARY, f".{MANIFEST}."))


def _check_ours(folder: Path) -> None:
    """Raise DataError when publishing here could overwrite what was not written here."""
    found = [path for path in folder.iterdir() if not _is_unfinished(path)]
    if found and not any(_is_generation(path) for path in found) and not _has_our_manifest(folder):
        raise DataError(
            f"The folder {folder} holds files that are not an index.", "Choose an empty folder, or move them away."
        )


def _has_our_manifest(folder: Path) -> bool:
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
    except (OSError, ValueError):  # there is none, or it is damaged: no proof that it was written here
        return False
    return isinstance(manifest, dict) and manifest.keys() >= KEYS


def _manifest(folder: Path) -> bytes:
    try:
        return (folder / MANIFEST).read_bytes()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise DataError(f"There is nothing built at {folder}.", "Build it first.") from error
