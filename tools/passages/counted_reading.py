"""Passages by ICA-RAG's search: the chunks that a case's important sentences retrieve, of the documents with most."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from itertools import zip_longest
from typing import NamedTuple

import numpy as np

from tools.contract import ToolContext, unique
from tools.encoders import Encoder
from tools.evidence import Evidence, Found, content_key
from tools.passages.chunk_counted import Chunk, ChunkCounted, ChunkCountSettings, ChunkIndex, Labelled
from tools.passages.contract import Passage, StoredDocument, context_of
from tools.passages.lexical import coverage, inverse_frequency
from tools.passages.search import best_similarities, is_relevant, query_words
from tools.passages.selection import TOOL, Chosen, passage_evidence
from tools.text.tokens import tokens

STREAM = "chunk_count"
KEPT = 4  # ours: indexes kept, each of the documents of a question


class CountedReading(NamedTuple):
    """Passages, how many were relevant, and whether the whole text had to be the query."""

    evidence: list[Evidence]
    relevant: int
    whole_text: bool


class CountedReader:
    """Reads documents by chunk count; the indexes of the last questions are kept.

    Args:
        encoder: counts tokens, judges relevance, and searches in the dense variant.
        guard: leave out what is far from every query (ours).
    """

    def __init__(self, encoder: Encoder, settings: ChunkCountSettings | None = None, *, guard: bool = True) -> None:
        self._encoder, self._settings, self._guard = encoder, settings or ChunkCountSettings(), guard
        self._lock = threading.Lock()
        self._indexes: OrderedDict[str, ChunkIndex] = OrderedDict()

    def read(
        self, query: str, units: Sequence[Labelled], documents: Sequence[StoredDocument], limit: int, room: int
    ) -> CountedReading:
        """Chunks of the documents with most chunks found: each document's best, then each one's second, and so on.

        What is far in meaning and words from the query and from every sentence searched for is left out (ours), by the
        thresholds of the two-stage search.
        """
        found = self._index(documents).search(units, query, self._settings)
        turns = zip_longest(*([chunk for chunk, _ in d.chunks] for d in found.documents))
        chunks = self._relevant(
            unique([query, *found.queries]), [c for turn in turns for c in turn if c is not None], documents
        )
        chosen = Chosen(limit, room, lambda text: self._encoder.count_tokens([text])[0])
        by_id = {d.id: d for d in documents}
        for chunk in chunks:
            chosen.take(passage_evidence(by_id[chunk.document], _passage(chunk), _found(chunk, found, query)))
        return CountedReading(chosen.items(), len(chunks), found.whole_text)

    def _index(self, documents: Sequence[StoredDocument]) -> ChunkIndex:
        key = content_key("\n".join(sorted(content_key(f"{d.id}\n{d.title}\n{d.text}") for d in documents)))
        with self._lock:
            if key in self._indexes:
                self._indexes.move_to_end(key)
                return self._indexes[key]
        index = ChunkIndex.of(documents, self._encoder)
        with self._lock:
            self._indexes[key] = index
            while len(self._indexes) > KEPT:
                self._indexes.popitem(last=False)
        return index

    def _relevant(
        self, queries: Sequence[str], chunks: list[Chunk], documents: Sequence[StoredDocument]
    ) -> list[Chunk]:
        if not chunks or not self._guard:
            return chunks
        by_id = {d.id: d for d in documents}
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


def _passage(chunk: Chunk) -> Passage:
    return Passage(start=chunk.start, end=chunk.end, core_start=chunk.start, core_end=chunk.end, section=chunk.section)


def _found(chunk: Chunk, counted: ChunkCounted, query: str) -> tuple[Found, ...]:
    """The rank of the chunk's document, and its S_doc."""
    rank = next(n for n, d in enumerate(counted.documents, 1) if d.id == chunk.document)
    return (Found(tool=TOOL, stream=STREAM, query=query, rank=rank, score=float(counted.documents[rank - 1].s_doc)),)
