"""Passages of documents, cut, tokenised and embedded once: kept in memory by content hash, least recent out first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tools.encoders import Encoder, Vectors
from tools.evidence import content_key
from tools.passages.contract import Passage, StoredDocument
from tools.passages.seos import SeosSettings, segment
from tools.remembered import Remembered
from tools.text.tokens import tokens

SIZE = 512  # ours: documents kept; about 20 kB each with the embedded encoder


class Cut(NamedTuple):
    """A document's passages with their token lists and vectors (len(passages), dimension)."""

    passages: tuple[Passage, ...]
    bags: tuple[tuple[str, ...], ...]
    vectors: Vectors


class PassagePool:
    """Cuts documents that are not cut yet, and remembers.

    Args:
        encoder: what embeds the passages; a `CachedEncoder` keeps their vectors on disk too.
        settings: how SEOS cuts.
        size: documents kept in memory.
    """

    def __init__(self, encoder: Encoder, settings: SeosSettings | None = None, size: int = SIZE) -> None:
        self.encoder = encoder
        self._settings = settings or SeosSettings()
        self._known = Remembered[str, Cut](size)

    def __len__(self) -> int:
        """Number of documents in memory."""
        return len(self._known)

    def cut(self, documents: Sequence[StoredDocument]) -> list[Cut]:
        """The passages of each document, in order; what is new is embedded in one call."""
        keys = [content_key(f"{d.id}\n{d.title}\n{d.text}") for d in documents]
        known = self._known.read(dict(zip(keys, documents, strict=True)), self._make)
        return [known[key] for key in keys]

    def _make(self, documents: Sequence[StoredDocument]) -> Iterator[Cut]:
        passages = [d.passages or segment(d, self.encoder, self._settings) for d in documents]
        texts = [p.embedded_text(d.text) for d, found in zip(documents, passages, strict=True) for p in found]
        vectors = self.encoder.encode_documents(texts)
        bags = [tuple(tokens(text)) for text in texts]
        at = 0
        for found in passages:
            to = at + len(found)
            yield Cut(found, tuple(bags[at:to]), np.ascontiguousarray(vectors[at:to]))
            at = to
