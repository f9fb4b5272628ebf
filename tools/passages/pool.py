"""Passages of documents, cut, tokenised and embedded once: kept in memory by content hash, least recent out first."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tools.encoders import Encoder, Vectors
from tools.evidence import content_key
from tools.passages.contract import Passage, StoredDocument
from tools.passages.seos import SeosSettings, segment
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
        self._size = size
        self._lock = threading.Lock()
        self._known: OrderedDict[str, Cut] = OrderedDict()

    def __len__(self) -> int:
        """Number of documents in memory."""
        return len(self._known)

    def cut(self, documents: Sequence[StoredDocument]) -> list[Cut]:
        """The passages of each document, in order; what is new is embedded in one call."""
        keys = [content_key(f"{d.id}\n{d.title}\n{d.text}") for d in documents]
        known = self._recall(keys)
        missing = {key: d for key, d in zip(keys, documents, strict=True) if key not in known}
        fresh = self._make(missing)
        self._keep(fresh)
        known.update(fresh)
        return [known[key] for key in keys]

    def _make(self, documents: dict[str, StoredDocument]) -> dict[str, Cut]:
        passages = {key: d.passages or segment(d, self.encoder, self._settings) for key, d in documents.items()}
        texts = [p.embedded_text(documents[key].text) for key, found in passages.items() for p in found]
        vectors = self.encoder.encode_documents(texts)
        bags = [tuple(tokens(text)) for text in texts]
        cuts: dict[str, Cut] = {}
        at = 0
        for key, found in passages.items():
            to = at + len(found)
            cuts[key] = Cut(found, tuple(bags[at:to]), np.ascontiguousarray(vectors[at:to]))
            at = to
        return cuts

    def _recall(self, keys: Sequence[str]) -> dict[str, Cut]:
        with self._lock:
            found = {key: self._known[key] for key in keys if key in self._known}
            for key in found:
                self._known.move_to_end(key)
        return found

    def _keep(self, cuts: dict[str, Cut]) -> None:
        with self._lock:
            self._known.update(cuts)
            while len(self._known) > self._size:
                self._known.popitem(last=False)
