"""The manifest of an index on disk, checked before anything else is read."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import ValidationError

from prompts.errors import DataError
from tools.files import REBUILD
from tools.indexes.contract import Manifest

FORMAT = 1  # raised with every change of the files
SIMILARITY = "cosine"


def read_manifest(folder: Path, raw: bytes, encoder_name: str, dimension: int) -> Manifest:
    """The manifest of an index in ``folder``; a DataError with advice for any mismatch or damage."""
    try:
        found = json.loads(raw)
        manifest = Manifest.model_validate(found)
    except (ValueError, ValidationError) as error:
        raise DataError(f"The manifest of the index {folder.name} is damaged.", "Build the index again.") from error
    check_made_with(manifest, folder.name, encoder_name, dimension)
    return manifest


def check_made_with(manifest: Manifest, name: str, encoder_name: str, dimension: int) -> None:
    """Raise DataError with advice unless an index is of this format, and its vectors of this encoder."""
    if manifest.format != FORMAT or manifest.similarity != SIMILARITY:
        raise DataError(f"The index {name} has format {manifest.format}, not {FORMAT}.", REBUILD)
    if (manifest.encoder, manifest.dimension) != (encoder_name, dimension):
        raise DataError(
            f"The index {name} was made with {manifest.encoder} ({manifest.dimension} dimensions), "
            f"not with {encoder_name} ({dimension}).",
            "Choose that encoder again, or build the index again.",
        )
