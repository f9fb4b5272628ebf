"""Documents by ICA-RAG's search: a case's important sentences retrieve chunks, and chunks vote for whole documents."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from tools.contract import ToolContext, unique
from tools.encoders import Encoder
from tools.evidence import Evidence, Found, content_key
from tools.passages.chunk_counted import (
    LENGTH,
    Chunk,
    ChunkCounted,
    ChunkCountSettings,
    ChunkIndex,
    CountedDocument,
    Labelled,
)
from tools.passages.contract import Passage, StoredDocument, Strategy, context_of
from tools.passages.lexical import coverage, inverse_frequency
from tools.passages.search import best_similarities, is_relevant, query_words
from tools.passages.selection import TOOL, Chosen, passage_evidence
from tools.text.tokens import tokens

STREAM = "chunk_count"
KEPT = 4  # ours: indexes kept; one holds as a rule, that of the whole collection
WHOLE = 2048  # ours: tokens up to which a document is handed on whole; the longest of the library has 1,289


class CrossEncoder(Protocol):
    """Reads a query and texts together (`tools.literature.medcpt.reranking` has MedCPT's)."""

    def rerank(self, query: str, articles: Sequence[str]) -> NDArray[np.float32]:
        """Array (len(articles),): higher is more relevant."""


class CountedReading(NamedTuple):
    """Documents, how many were relevant, and whether the whole text had to be the query."""

    evidence: list[Evidence]
    relevant: int
    whole_text: bool


class CountedReader:
    """Finds documents by their chunks; the indexes of the last collections are kept.

    Args:
        encoder: counts tokens, judges relevance, and searches in the dense variant.
        guard: leave out what is far from every query (ours).
        strategy: ``chunk_counted`` as published; ``chunk_reranked`` orders the same documents by their best chunk as
            ``reader`` reads it with the case, by the encoder's cosine without one; ``whole_documents`` searches for
            the whole case in whole documents.
    """

    def __init__(
        self,
        encoder: Encoder,
        settings: ChunkCountSettings | None = None,
        *,
        guard: bool = True,
        strategy: Strategy = "chunk_counted",
        reader: CrossEncoder | None = None,
    ) -> None:
        self._encoder, self._settings, self._guard = encoder, settings or ChunkCountSettings(), guard
        self._strategy, self._cross = strategy, reader
        self._lock = threading.Lock()
        self._indexes: OrderedDict[str, ChunkIndex] = OrderedDict()

    def read(
        self, query: str, units: Sequence[Labelled], documents: Sequence[StoredDocument], limit: int, room: int
    ) -> CountedReading:
        """The documents with most chunks found, whole, most first; a longer one by the stretch of its chunks.

        With the guard a document stays of which a chunk is near in meaning and words to the query or to a sentence
        searched for (ours), by the thresholds of the two-stage search.
        """
        whole = self._strategy == "whole_documents"
        reader = (lambda texts: self._read_with(query, texts)) if self._strategy == "chunk_reranked" else None
        found = self._index(documents).search([] if whole else units, query, self._settings, reader)
        by_id = {d.id: d for d in documents}
        chunks = [chunk for d in found.documents for chunk, _ in d.chunks]
        near = set(self._relevant(unique([query, *found.queries]), chunks, by_id))
        kept = [d for d in found.documents if any(chunk in near for chunk, _ in d.chunks)]
        chosen = Chosen(limit, room, self._tokens)
        for counted in kept:
            document = by_id[counted.id]
            chosen.take(passage_evidence(document, self._stretch(document, counted), _found(counted, found, query)))
        return CountedReading(chosen.items(), len(kept), found.whole_text and not whole)

    def _index(self, documents: Sequence[StoredDocument]) -> ChunkIndex:
        key = content_key("\n".join(sorted(content_key(f"{d.id}\n{d.title}\n{d.text}") for d in documents)))
        with self._lock:
            if key in self._indexes:
                self._indexes.move_to_end(key)
                return self._indexes[key]
        length = None if self._strategy == "whole_documents" else LENGTH
        index = ChunkIndex.of(documents, self._encoder, length)
        with self._lock:
            self._indexes[key] = index
            while len(self._indexes) > KEPT:
                self._indexes.popitem(last=False)
        return index

    def _read_with(self, query: str, texts: Sequence[str]) -> list[float]:
        """How well each chunk fits the whole case."""
        if self._cross is not None:
            return [float(score) for score in self._cross.rerank(query, texts)]
        near = best_similarities([query], self._encoder.encode_documents(texts), self._encoder)
        return [float(score) for score in near]

    def _stretch(self, document: StoredDocument, counted: CountedDocument) -> Passage:
        """The whole document; of one that is too long, from its best chunk on as many of the next best as fit."""
        start, end = 0, len(document.text)
        if self._tokens(document.text) > WHOLE:
            (start, end), rest = counted.chunks[0][0][1:3], counted.chunks[1:]
            for chunk, _ in rest:
                wider = min(start, chunk.start), max(end, chunk.end)
                if self._tokens(document.text[slice(*wider)]) <= WHOLE:
                    start, end = wider
        return Passage(start=start, end=end, core_start=start, core_end=end)

    def _tokens(self, text: str) -> int:
        return self._encoder.count_tokens([text])[0]

    def _relevant(self, queries: Sequence[str], chunks: list[Chunk], by_id: dict[str, StoredDocument]) -> list[Chunk]:
        if not chunks or not self._guard:
            return chunks
        texts = [_embedded(by_id[c.document], c) for c in chunks]
        bags = [tokens(text) for text in texts]
        weights, vectors = inverse_frequency(bags), self._encoder.encode_documents(texts)
        shared = np.max([coverage(query_words(query), bags, weights) for query in queries], axis=0)
        near = best_similarities(queries, vectors, self._encoder)
        return [c for c, relevant in zip(chunks, is_relevant(near, shared).tolist(), strict=True) if relevant]


def units_for(query: str, context: ToolContext) -> list[Labelled]:
    """The labelled sentences of the case when the query is the case, else the query as one important sentence."""
    return list(context.units) if context.units and query.strip() == context.question.strip() else [(query, "A")]


def _embedded(document: StoredDocument, chunk: Chunk) -> str:
    return f"{context_of(document.title, chunk.section)}\n{document.text[chunk.start : chunk.end]}"


def _found(document: CountedDocument, counted: ChunkCounted, query: str) -> tuple[Found, ...]:
    """The rank of the document, and its S_doc."""
    rank = counted.documents.index(document) + 1
    return (Found(tool=TOOL, stream=STREAM, query=query, rank=rank, score=float(document.s_doc)),)
