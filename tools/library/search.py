"""How a library is searched, whatever holds its rows: by words over documents, by meaning over windows, fused."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

from tools.contract import unique
from tools.encoders import Encoder, Vectors
from tools.evidence import Found
from tools.fusion import reciprocal_rank_fusion
from tools.indexes.contract import Filter, Hit, Index
from tools.library.contract import LibraryHit
from tools.library.document import SPECIAL_TOKENS, Document, Window, pack
from tools.medicines.names import forms
from tools.spelling import mended
from tools.text.abbreviations import expand
from tools.text.sentences import Span

POOL = 40  # ours: documents a stream gives to the fusion, at least
WINDOWS = 6  # ours: windows fetched for each document wanted (a monograph has about six)
# ours: a document whose best window is less similar to the query than this is no result, whatever words they share.
# Out-of-scope messages of evals/data/dev reach 0.25 at most, cases reach 0.41 at least.
MIN_SIMILARITY = 0.30
QUERY_PIECES = 16  # ours: pieces of a long query that are embedded; a whole case is rarely more than four
WORD = re.compile(r"[a-z][a-z0-9-]*[a-z0-9]")


class Query(NamedTuple):
    """A query made ready once for every collection: its text, its pieces' vectors (n, dimension), its words.

    ``least``: similarity below which a document is no result.
    """

    text: str
    vectors: Vectors
    words: str
    least: float = MIN_SIMILARITY


class Streams(NamedTuple):
    """What a collection found: the best window of each document, and documents by words; both best first."""

    dense: dict[str, Hit]
    words: dict[str, Hit]


Locate = Callable[[Hit], tuple[Document, Window]]


class Searchable(ABC):
    """A collection that is searched by words over documents and by meaning over windows, whatever holds its rows.

    Attributes:
        encoder: embeds queries; the one that made the vectors.
    """

    encoder: Encoder

    @abstractmethod
    def streams(self, query: Query, pool: int, where: Filter | None) -> Streams:
        """Documents by words and by meaning, for whoever fuses them."""

    @abstractmethod
    def window(self, hit: Hit) -> tuple[Document, Window]:
        """The window that a hit by meaning names, with its document."""

    def search(
        self,
        query: str,
        limit: int,
        where: Filter | None = None,
        *,
        also: Sequence[str] = (),
        tool: str = "search_literature",
        nearest: bool = False,
    ) -> list[LibraryHit]:
        """Documents for a query, best first: BM25 over documents and cosine over windows, fused by RRF.

        A document's place by meaning is that of its best window; a query longer than the encoder reads is embedded
        in pieces, and the best piece counts.

        Args:
            where: restrictions on documents; ``ids`` are document ids.
            also: other wordings of the query (its key terms, for example), embedded beside it.
            tool: the tool on whose behalf is searched, for `Found`.
            nearest: by cosine alone, and however far.
        """
        if limit < 1 or not query.strip():
            return []
        return self._search(make_query(query, also, self.encoder, nearest=nearest), limit, where, tool)

    def by_words(self, query: str, limit: int, *, tool: str = "search_literature") -> dict[str, list[LibraryHit]]:
        """Documents for a query by BM25 alone, each with its window nearest in meaning; none that is far from it."""
        if limit < 1 or not query.strip():
            return {}
        return {"library": first_by_words(self, make_query(query, (), self.encoder), limit, tool)}

    def _search(self, query: Query, limit: int, where: Filter | None, tool: str) -> list[LibraryHit]:
        return fuse(self.streams(query, pool_size(limit), where), query.text, limit, tool, self.window)


def windows_only(where: Filter | None, find: Callable[[str], Document | None]) -> Filter | None:
    """A restriction to documents as one to their windows."""
    if where is None or not where.ids:
        return where
    found = [document for document in map(find, where.ids) if document is not None]
    ids = tuple(d.span_id(w.start, w.end) for d in found for w in d.windows)
    return where.model_copy(update={"ids": ids or ("",)})  # an empty tuple would mean no restriction


def make_query(text: str, also: Sequence[str], encoder: Encoder, *, nearest: bool = False) -> Query:
    """A query and its other wordings, misspelt words put right; one that is longer than the encoder reads is embedded
    in pieces. With ``nearest`` as it stands, without its words and without a least similarity."""
    if nearest:
        return Query(text, _query_vectors([text, *also], encoder), "", -1.0)
    meant = mended(text)
    return Query(text, _query_vectors([meant, *also], encoder), lexical(meant))


def pool_size(limit: int) -> int:
    """Documents that a stream gives to the fusion when this many are wanted."""
    return max(POOL, 4 * limit)


def find_streams(
    query: Query,
    texts: Index,
    windows: Index,
    pool: int,
    where: Filter | None,
    window_filter: Filter | None,
    per_document: int = WINDOWS,
) -> Streams:
    """Both orders of one collection. A document's place by meaning is that of its best window.

    Args:
        where: restricts documents. window_filter: the same for windows.
        per_document: windows fetched for each document wanted.
    """
    lists = windows.search_vectors(query.vectors, per_document * pool, window_filter)
    best: dict[str, Hit] = {}
    hits = [hit for found in lists for hit in found if hit.score >= query.least]
    for hit in sorted(hits, key=lambda h: (-h.score, h.id)):
        best.setdefault(hit.id.partition("@")[0], hit)
    words = {h.id: h for h in texts.search_text(query.words, pool, where) if h.id in best} if query.words else {}
    return Streams(best, words)


def fuse(streams: Streams, query: str, limit: int, tool: str, locate: Locate) -> list[LibraryHit]:
    """The best documents of both orders by RRF, each with its best window and every way in which it was found."""
    ranked = {"bm25": streams.words, "dense": streams.dense}
    hits = []
    for item in reciprocal_rank_fusion({name: list(found) for name, found in ranked.items()})[:limit]:
        document, window = locate(streams.dense[item.id])
        found = tuple(_found(tool, name, query, item.ranks[name], ranked[name][item.id]) for name in item.ranks)
        hits.append(LibraryHit(document=document, window=window, score=item.score, found=found))
    return hits


class Streaming(Protocol):
    """A collection that gives its orders to whoever fuses them."""

    def streams(self, query: Query, pool: int, where: Filter | None) -> Streams:
        """Documents by words and by meaning."""

    def window(self, hit: Hit) -> tuple[Document, Window]:
        """The passage that a hit by meaning names, with its document."""


def first_by_words(collection: Streaming, query: Query, limit: int, tool: str) -> list[LibraryHit]:
    """The first documents of a collection by BM25, each with its window nearest in meaning."""
    streams = collection.streams(query, pool_size(limit), None)
    hits = []
    for rank, (key, hit) in enumerate(list(streams.words.items())[:limit], start=1):
        document, window = collection.window(streams.dense[key])
        found = (_found(tool, "bm25", query.text, rank, hit),)
        hits.append(LibraryHit(document=document, window=window, score=hit.score, found=found))
    return hits


def nearest_questions(question: str, limit: int, index: Index, encoder: Encoder) -> list[tuple[str, float, float]]:
    """(id, cosine, BM25 as a share of the best question's) of the nearest questions of a collection, best first."""
    lists = index.search_vectors(encoder.encode_queries(wordings(question)), limit)
    best: dict[str, float] = {}
    for hit in (hit for hits in lists for hit in hits):
        best[hit.id] = max(hit.score, best.get(hit.id, hit.score))
    words = index.search_text(lexical(question), len(index))
    shares: Mapping[str, float] = {hit.id: hit.score / words[0].score for hit in words}
    return [(key, best[key], shares.get(key, 0.0)) for key in sorted(best, key=lambda key: (-best[key], key))[:limit]]


def wordings(query: str) -> list[str]:
    """A query as it is, with abbreviations written out, and with classes for medicines: an encoder knows neither."""
    return unique([query, expand(query), *forms(query)])


def lexical(query: str) -> str:
    """A query with the words that its abbreviations and medicines stand for behind it."""
    known = query.split()
    return " ".join(unique([query, *(w for form in wordings(query) for w in form.split() if w not in known)]))


def words_of(title: str, text: str) -> set[str]:
    """The words of a document, in lower case."""
    return set(WORD.findall(f"{title} {text}".lower()))


def _query_vectors(texts: Sequence[str], encoder: Encoder) -> Vectors:
    limit = getattr(encoder, "query_limit", encoder.limit)  # MedCPT reads shorter queries
    pieces = []
    for form in unique([form for text in texts if text.strip() for form in wordings(text)]):
        spans = pack(form, Span(0, len(form)), limit - SPECIAL_TOKENS, encoder)
        pieces += [s.of(form) for s in spans[:QUERY_PIECES]]
    return encoder.encode_queries(pieces)


def _found(tool: str, stream: str, query: str, rank: int, hit: Hit) -> Found:
    return Found(tool=tool, stream=stream, query=query, rank=rank, score=hit.score)
