"""Sets of records: Roaring bitmaps, of a package that is had with the mirror."""

from __future__ import annotations

from array import array
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from prompts.errors import DataError, InputError

# Lists of documents as bytes: a few numbers as they are, more of them as a Roaring bitmap.
Documents = npt.NDArray[np.uint32]
PLAIN, ROARING = b"\0", b"\1"
FEW = 8  # ours: up to here four bytes a document are shorter than a bitmap's header


def pack(documents: array[int] | Documents) -> bytes:
    """Ascending document numbers (unsigned, four bytes each) as bytes."""
    if len(documents) <= FEW:
        return PLAIN + documents.tobytes()
    return ROARING + BitMap(documents).serialize()


def unpack(packed: Iterable[bytes | None]) -> BitMap:
    """The union of packed lists. Raises DataError for bytes that are no list."""
    few: list[bytes] = []
    found = BitMap()
    try:
        for blob in packed:
            if not blob:
                continue
            if blob[:1] == PLAIN:
                few.append(blob[1:])
            else:
                found |= BitMap.deserialize(blob[1:])
        if few:
            found |= BitMap(array("I", b"".join(few)))
    except ValueError as error:
        raise DataError("A list of documents in the mirror is damaged.", "Import the mirror again.") from error
    return found


def numbers(documents: BitMap) -> Documents:
    """The document numbers, ascending, shape (n,)."""
    return np.frombuffer(documents.to_array(), dtype=np.uint32)


try:
    from pyroaring import BitMap
except ImportError as error:
    raise InputError(
        "A mirror and built collections need pyroaring.", "Run: pip install 'anamnesis[mirror]'"
    ) from error

__all__ = ["BitMap"]
