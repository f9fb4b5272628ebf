"""ICA-RAG's search: every important sentence of a case is a query, and documents are ranked by their chunks found.

Documents are cut into chunks of whole sentences within a length; each A or B sentence retrieves its top m chunks by
BM25; C is the union of these; S_doc is the number of chunks of C from a document; the top k documents are kept. The
source leaves m, k and the length open; ties, the fallback and the two variants are ours and named so below.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from prompts.errors import InputError
from tools.contract import unique
from tools.encoders import Encoder, Vectors
from tools.passages.batched_bm25 import BatchedBM25, Hits, best_rows
from tools.passages.contract import StoredDocument, context_of
from tools.passages.search import query_words
from tools.passages.units import packed, sections, sentence_units
from tools.text.tokens import tokens

TOP_CHUNKS = 10  # ours: m, chunks that a sentence retrieves
TOP_DOCUMENTS = 8  # ours: k, as many documents as the two-stage search reads
LENGTH = 128  # ours: tokens of a chunk, SEOS's own budget
IMPORTANT = frozenset("AB")  # paper: A decides, B helps the search; C is left out

Labelled = tuple[str, str]  # a sentence of the case and its label: A, B or C
Reader = Callable[[Sequence[str]], Sequence[float]]  # texts of chunks to scores, higher for what fits the case better


class Chunk(NamedTuple):
    """Characters ``start`` to ``end`` of a document: whole sentences of one section."""

    document: str
    start: int
    end: int
    section: str | None = None


@dataclass(frozen=True)
class ChunkCountSettings:
    """How to search.

    Attributes:
        top_chunks, top_documents: m and k.
        with_multiplicity: a chunk counts once for every sentence that retrieves it (ours); else once, as published.
        by: ``bm25`` as published; ``dense`` compares vectors instead (ours).
    """

    top_chunks: int = TOP_CHUNKS
    top_documents: int = TOP_DOCUMENTS
    with_multiplicity: bool = False
    by: Literal["bm25", "dense"] = "bm25"


class CountedDocument(NamedTuple):
    """A document found: S_doc, its best chunk's score, and its chunks in C with their best scores, best first."""

    id: str
    s_doc: int
    best: float
    chunks: tuple[tuple[Chunk, float], ...]


class ChunkCounted(NamedTuple):
    """The documents, most chunks first; ties by best chunk score, then id (ours).

    ``whole_text``: no sentence was A or B, so that the whole text was the one query (ours).
    """

    documents: tuple[CountedDocument, ...]
    queries: tuple[str, ...]
    whole_text: bool


class ChunkIndex:
    """Chunks of documents, searched by many sentences at once.

    Args:
        chunks: in order; a tie between equal scores is settled by this order.
        texts: of each chunk, as it is searched in.
        encoder: for the dense variant, None without it. ``vectors``: (chunks, dimension), else made when first needed.
    """

    def __init__(
        self,
        chunks: Sequence[Chunk],
        texts: Sequence[str],
        encoder: Encoder | None = None,
        vectors: Vectors | None = None,
    ) -> None:
        self.chunks, self._texts = tuple(chunks), tuple(texts)
        self._encoder, self._vectors = encoder, vectors
        self.bm25 = BatchedBM25([tokens(text) for text in texts])

    @classmethod
    def of(cls, documents: Sequence[StoredDocument], encoder: Encoder, length: int | None = LENGTH) -> ChunkIndex:
        """The index of documents, in the order of their ids. A chunk is searched in with its title and section.

        ``length``: tokens of a chunk; None for one chunk a document, the whole of it.
        """
        chunks: list[Chunk] = []
        texts: list[str] = []
        for document in sorted(documents, key=lambda d: d.id):
            whole = [Chunk(document.id, 0, len(document.text))]
            for chunk in whole if length is None else chunks_of(document, encoder, length):
                chunks.append(chunk)
                context = context_of(document.title, chunk.section)
                texts.append(f"{context}\n{document.text[chunk.start : chunk.end]}")
        return cls(chunks, texts, encoder)

    def search(
        self,
        units: Sequence[Labelled],
        text: str,
        settings: ChunkCountSettings | None = None,
        reader: Reader | None = None,
    ) -> ChunkCounted:
        """The documents for a case.

        Args:
            units: its sentences with their labels. text: the whole of it, the query when no label is A or B.
            reader: orders the documents by their best chunk as it scores it, in place of the count (the source's arm).
        """
        chosen = settings or ChunkCountSettings()
        queries = important(units)
        wanted = queries or [text]
        counted = self._count(self._hits(wanted, chosen), chosen, reader)
        return ChunkCounted(counted, tuple(wanted), not queries)

    def query_tokens(self, queries: Sequence[str]) -> list[list[str]]:
        """The tokens of each query, abbreviations written out beside them (ours: they hamper the search)."""
        return [query_words(query) for query in queries]

    def _hits(self, queries: Sequence[str], chosen: ChunkCountSettings) -> Hits:
        if chosen.by == "bm25":
            return best_rows(self.bm25.scores(self.query_tokens(queries)), chosen.top_chunks)
        if self._encoder is None:
            raise InputError("The dense variant needs an encoder.", "Give one, or search by bm25.")
        if self._vectors is None:
            self._vectors = self._encoder.encode_documents(self._texts)
        return best_rows(self._vectors @ self._encoder.encode_queries(queries).T, chosen.top_chunks)

    def _count(self, hits: Hits, chosen: ChunkCountSettings, reader: Reader | None) -> tuple[CountedDocument, ...]:
        best: dict[int, float] = {}
        times: dict[int, int] = {}
        for row, score in zip(hits.row.tolist(), hits.score.tolist(), strict=True):
            best[row] = max(score, best.get(row, score))
            times[row] = times.get(row, 0) + 1
        if reader is not None and best:
            best = dict(zip(best, reader([self._texts[row] for row in best]), strict=True))
        rows: dict[str, list[int]] = {}
        for row in best:
            rows.setdefault(self.chunks[row].document, []).append(row)
        found = [
            CountedDocument(
                document,
                sum(times[r] for r in own) if chosen.with_multiplicity else len(own),
                max(best[r] for r in own),
                tuple((self.chunks[r], best[r]) for r in sorted(own, key=lambda r: (-best[r], r))),
            )
            for document, own in rows.items()
        ]
        found.sort(key=lambda d: (-d.s_doc if reader is None else 0, -d.best, d.id))
        return tuple(found[: chosen.top_documents])


def important(units: Sequence[Labelled]) -> list[str]:
    """The sentences that are searched for, each once."""
    return unique([unit for unit, label in units if label in IMPORTANT and unit.strip()])


def chunks_of(document: StoredDocument, encoder: Encoder, length: int = LENGTH) -> list[Chunk]:
    """Chunks of whole sentences with at most ``length`` tokens each, within a section; a longer sentence is cut."""
    parts = sections(document.text)
    found: list[Chunk] = []
    for part, units in zip(parts, sentence_units(document.text, parts, [length] * len(parts), encoder), strict=True):
        found += [Chunk(document.id, run.start, run.end, part.title) for run in packed(units, length)]
    return found
