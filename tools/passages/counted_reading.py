"""Documents by ICA-RAG's search: a case's important sentences retrieve chunks, and chunks vote for whole documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from prompts.errors import InputError
from tools.contract import ToolContext, unique
from tools.encoders import Encoder, Vectors
from tools.evidence import Evidence, Found, Origin, content_key, facts_of
from tools.passages.batched_bm25 import BatchedBM25, Hits, best_rows
from tools.passages.continuity import leans_back, leans_on_next
from tools.passages.contract import ROOM, Passage, StoredDocument, Strategy, context_of
from tools.passages.lexical import coverage, inverse_frequency
from tools.passages.search import Ranked, Row, best_similarities, is_relevant, query_words
from tools.passages.units import packed, sections, sentence_units
from tools.remembered import Remembered
from tools.text.tokens import tokens

STREAM = "chunk_count"
KEPT = 4  # ours: indexes kept; one holds as a rule, that of the whole collection
WHOLE = 2048  # ours: tokens up to which a document is handed on whole; the longest of the library has 1,289


class CrossEncoder(Protocol):
    """Reads a query and texts together (`tools.literature.medcpt.published` has MedCPT's)."""

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
        *,
        guard: bool = True,
        strategy: Strategy = "chunk_counted",
        reader: CrossEncoder | None = None,
    ) -> None:
        self._encoder, self._guard = encoder, guard
        self._strategy, self._cross = strategy, reader
        self._indexes = Remembered[str, ChunkIndex](KEPT)

    def read(
        self, query: str, units: Sequence[Labelled], documents: Sequence[StoredDocument], limit: int, room: int
    ) -> CountedReading:
        """The documents with most chunks found, whole, most first; a longer one by the stretch of its chunks.

        With the guard a document stays of which a chunk is near in meaning and words to the query or to a sentence
        searched for (ours), by the thresholds of the two-stage search.
        """
        whole = self._strategy == "whole_documents"
        reader = (lambda texts: self._read_with(query, texts)) if self._strategy == "chunk_reranked" else None
        found = self._index(documents).search([] if whole else units, query, reader=reader)
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
        length = None if self._strategy == "whole_documents" else LENGTH
        made = self._indexes.read({key: documents}, lambda new: [ChunkIndex.of(d, self._encoder, length) for d in new])
        return made[key]

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


# What is handed on of the ranked passages: the best, and the neighbours that they lean on, within a room in tokens.

TOOL = "retrieve_passages"
NEIGHBOUR = "neighbour"  # the stream of what stands beside a passage that was found

Count = Callable[[str], int]


class Chosen:
    """Passages taken so far, within a number and a room in tokens.

    Args:
        limit: most passages. room: most tokens; the first passage is taken whatever it has.
        count: tokens of a text.
    """

    def __init__(self, limit: int, room: int, count: Count) -> None:
        self._limit, self._room, self._count = limit, room, count
        self._items: dict[str, Evidence] = {}

    def take(self, item: Evidence) -> bool:
        """Take a passage if there is room; one that was taken as a neighbour keeps both ways it was found."""
        known = self._items.get(item.id)
        if known is not None:
            if item.found[0].stream != NEIGHBOUR:
                self._items[item.id] = item.model_copy(update={"found": item.found + known.found})
            return True
        tokens = self._count(item.text)
        if len(self._items) >= self._limit or (self._items and tokens > self._room):
            return False
        self._room -= tokens
        self._items[item.id] = item
        return True

    def items(self) -> list[Evidence]:
        """The passages in the order in which they were taken."""
        return list(self._items.values())


def select(
    ranked: Sequence[Ranked], rows: Sequence[Row], query: str, limit: int, count: Count, room: int = ROOM
) -> list[Evidence]:
    """The passages, best first, each followed by the neighbours of its section that it leans on.

    Args:
        limit: most passages, neighbours among them. room: tokens of all of them; what does not fit is passed over.
        count: tokens of a text, in the encoder's own.
    """
    places = {(row.document.id, row.place): row for row in rows}
    chosen = Chosen(limit, room, count)
    for position, item in enumerate(ranked, start=1):
        if not chosen.take(to_evidence(item.row, streams_of(item, query))):
            continue
        found = Found(tool=TOOL, stream=NEIGHBOUR, query=query, rank=position)
        for neighbour in leaned_on(item.row, places):
            chosen.take(to_evidence(neighbour, (found,)))
    return chosen.items()


def leaned_on(row: Row, places: Mapping[tuple[str, int], Row]) -> list[Row]:
    """The passages before and after, in the same section, that a passage cannot be understood without."""
    text = row.document.text[row.passage.start : row.passage.end]
    wanted = [-1] * leans_back(text) + [1] * leans_on_next(text)
    near = [places.get((row.document.id, row.place + step)) for step in wanted]
    return [n for n in near if n is not None and n.passage.section == row.passage.section]


def to_evidence(row: Row, found: tuple[Found, ...]) -> Evidence:
    """A passage as evidence: an exact slice of the stored document."""
    return passage_evidence(row.document, row.passage, found)


def passage_evidence(document: StoredDocument, passage: Passage, found: tuple[Found, ...]) -> Evidence:
    """A passage of a document as evidence."""
    return Evidence(
        id=passage.id(document.id),
        text=document.text[passage.start : passage.end],
        kind="passage",
        origin=Origin.RETRIEVED,
        section=passage.section,
        neighbours=passage.neighbours,
        found=found,
        **facts_of(document),
    )


def streams_of(item: Ranked, query: str) -> tuple[Found, ...]:
    """How a ranked passage was found, one way a stream."""
    return tuple(
        Found(tool=TOOL, stream=name, query=query, rank=place, score=score)
        for name, (place, score) in item.streams.items()
    )


# ICA-RAG's search: every important sentence of a case is a query, and documents are ranked by their chunks found.
# Documents are cut into chunks of whole sentences within a length; each A or B sentence retrieves its top m chunks
# by BM25; C is the union of these; S_doc is the number of chunks of C from a document; the top k documents are
# kept. The source leaves m, k and the length open; ties, the fallback and the two variants are ours and named so
# below.

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

    def _hits(self, queries: Sequence[str], chosen: ChunkCountSettings) -> Hits:
        if chosen.by == "bm25":
            asked = [query_words(query) for query in queries]  # ours: abbreviations, which hamper it, are written out
            return best_rows(self.bm25.scores(asked), chosen.top_chunks)
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
