"""SEOS over many documents at once: the same passages as one by one, with all their sentences embedded in one call."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tools.encoders import Encoder
from tools.passages.continuity import continuity
from tools.passages.contract import Passage, StoredDocument, with_neighbours
from tools.passages.seos import SeosSettings, cut_parts, parts_of, to_embed


def segment_all(
    documents: Sequence[StoredDocument], encoder: Encoder, settings: SeosSettings | None = None
) -> list[tuple[Passage, ...]]:
    """What `tools.passages.seos.segment` gives for each document, in order."""
    chosen = settings or SeosSettings()
    parts = [parts_of(document, encoder, chosen) for document in documents]
    wanted = [to_embed(found, chosen) for found in parts]
    sentences = [
        document.text[u.start : u.end]
        for document, (split, _) in zip(documents, wanted, strict=True)
        for units in split
        for u in units
    ]
    vectors = encoder.encode_documents(sentences)
    passages, at = [], 0
    for document, found, (split, windows) in zip(documents, parts, wanted, strict=True):
        curves = []
        for units, window in zip(split, windows, strict=True):
            own = vectors[at : at + len(units)]
            curves.append(continuity(own, window) if len(units) else np.empty(0))
            at += len(units)
        cuts = cut_parts(document.text, found, curves, encoder, chosen)
        passages.append(with_neighbours(document.id, [p for cut in cuts for p in cut.passages]))
    return passages
