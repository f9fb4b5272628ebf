"""Trained weights that the project ships: written with a checksum beside them, and read only when it fits."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prompts.errors import DataError
from tools.files import sha256_of, write_atomic


class Stored(NamedTuple):
    """The arrays of a file by name, as float32, and what is written about them."""

    arrays: dict[str, Any]
    about: dict[str, str]


def checked(path: Path, what: str, again: str) -> Path:
    """The path of weights that are there, and are what the checksum beside them says.

    Args:
        what: whose weights they are; again: what to do when they are not whole.

    Raises:
        DataError: when they are missing or damaged.
    """
    if not path.is_file():
        raise DataError(f"The weights of {what} are missing.", again)
    recorded = path.with_suffix(".sha256")
    if recorded.is_file() and recorded.read_text().strip() != sha256_of(path):
        raise DataError(f"The weights of {what} are damaged.", again)
    return path


def stored(path: Path, what: str, again: str) -> Stored:
    """The arrays of a checked file; raises DataError as `checked` does."""
    from safetensors import safe_open

    with safe_open(str(checked(path, what, again)), framework="numpy") as file:
        arrays = {name: file.get_tensor(name).astype(np.float32) for name in file.keys()}  # noqa: SIM118
        return Stored(arrays, file.metadata() or {})


def store(path: Path, arrays: Mapping[str, NDArray[Any]], about: Mapping[str, str]) -> None:
    """Write arrays, each in the order of its memory, and their checksum beside them."""
    from safetensors.numpy import save

    whole = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    write_atomic(path, save(whole, metadata=dict(about)))
    write_atomic(path.with_suffix(".sha256"), f"{sha256_of(path)}\n".encode())
