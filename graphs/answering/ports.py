"""What the local answerer is lent: a ranker of sentences, whole documents, the knowledge graph's entries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from tools.evidence import Evidence

WholeText = Callable[[str], str]
"""The whole text of a document by its id, "" for one that is not kept whole."""


class Pages(Protocol):
    """Documents that are kept whole, by their ids."""

    def whole(self, id: str, /) -> str:
        """The whole text of a document, "" for one that is not kept whole."""

    def said(self, id: str, text: str, /) -> Evidence | None:
        """A part of a document's text as evidence; None where there is none."""

    def prepared(self, id: str, /) -> Sequence[tuple[str, Evidence]]:
        """Questions that a document was written to answer, each with its answer."""


class NoPages:
    """Where nothing is kept whole."""

    def whole(self, _id: str, /) -> str:
        """Nothing."""
        return ""

    def said(self, _id: str, _text: str, /) -> Evidence | None:
        """Nothing."""
        return None

    def prepared(self, _id: str, /) -> Sequence[tuple[str, Evidence]]:
        """Nothing."""
        return ()


class SentenceRanker(Protocol):
    """Ranks the sentences of texts for a query."""

    def __call__(self, query: str, texts: Sequence[str]) -> Sequence[tuple[int, int, int, float]]:
        """(index, start, end, score) of sentences, best first; ``texts[index][start:end]`` is the sentence."""


class GraphEntries(Protocol):
    """The knowledge graph's own texts, as evidence (``graph:starter/<disease>``)."""

    def entry(self, disease: str, language: str) -> Evidence | None:
        """The entry of a disease, None when the graph has none."""

    def sentence_for(self, disease: str, finding: str, language: str) -> tuple[int, int] | None:
        """Characters of the entry's text that say what a finding means for the disease; None when it does not say."""
