"""Pages ordered for a text by words (BM25), by meaning (windows of the encoder's length), and by the graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tools.contract import Differential
from tools.encoders import Encoder
from tools.indexes.lexical import Lexicon
from tools.library.document import SPECIAL_TOKENS, pack
from tools.library.search import lexical, make_query
from tools.text.sentences import Span


class Page(NamedTuple):
    """A text that can be the right one, by the id of its disease where it is about one."""

    id: str
    text: str


class Pages:
    """Pages in memory, each cut into windows that the encoder reads whole."""

    def __init__(self, pages: Sequence[Page], encoder: Encoder) -> None:
        self._ids, self._encoder = [p.id for p in pages], encoder
        self._lexicon = Lexicon([p.text for p in pages])
        budget = encoder.limit - SPECIAL_TOKENS
        windows = [[s.of(p.text) for s in pack(p.text, Span(0, len(p.text)), budget, encoder)] for p in pages]
        self._owner = np.repeat(np.arange(len(pages)), [len(w) for w in windows])
        self._vectors = encoder.encode_documents([text for texts in windows for text in texts])

    def by_words(self, text: str) -> list[str]:
        """Ids of the pages that share a word with the text, best first."""
        scores = self._lexicon.scores(lexical(text))
        return [self._ids[i] for i in np.argsort(-scores, kind="stable") if scores[i] > 0]

    def by_meaning(self, text: str) -> list[str]:
        """Ids of all pages, by the most similar pair of a window and a piece of the text."""
        similar = (self._vectors @ make_query(text, (), self._encoder).vectors.T).max(axis=1)
        best = np.full(len(self._ids), -1.0, dtype=np.float32)
        np.maximum.at(best, self._owner, similar)
        return [self._ids[i] for i in np.argsort(-best, kind="stable")]


def orders(pages: Pages, text: str, english: Differential) -> dict[str, list[str]]:
    """Orders of English pages: of the text itself, of the English names of what the graph read in it, the graph's own.

    Args:
        english: the look-up of the text with English names.
    """
    read = ". ".join(dict.fromkeys(f.name for f in english.findings if f.id and f.present))
    return {
        "dense": pages.by_meaning(text),
        "bm25": pages.by_words(text),
        "findings_dense": pages.by_meaning(read) if read else [],
        "findings_bm25": pages.by_words(read) if read else [],
        "graph": [r.disease for r in english.ranking],
    }
