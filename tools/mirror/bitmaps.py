"""Sets of records: Roaring bitmaps, of a package that is had with the mirror."""

from __future__ import annotations

from prompts.errors import InputError

try:
    from pyroaring import BitMap
except ImportError as error:
    raise InputError(
        "A mirror and built collections need pyroaring.", "Run: pip install 'anamnesis[mirror]'"
    ) from error

__all__ = ["BitMap"]
