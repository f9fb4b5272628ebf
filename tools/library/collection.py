"""The library as it is searched: by words over whole documents, by meaning over windows, fused."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from pydantic import ValidationError

from prompts.errors import DataError, InputError
from tools.contract import unique
from tools.encoders import Encoder, Vectors
from tools.evidence import Evidence, Found, Frozen
from tools.files import REBUILD
from tools.fusion import reciprocal_rank_fusion
from tools.indexes.contract import Filter, Hit
from tools.indexes.generations import read_current
from tools.indexes.local import LocalIndex
from tools.library.build import DOCUMENTS, question_id, read_manifest
from tools.library.document import SPECIAL_TOKENS, Document, LibraryQuestion, Window, pack
from tools.library.monograph import COLLECTION
from tools.medicines.names import forms
from tools.text.abbreviations import expand
from tools.text.sentences import Span

POOL = 40  # ours: documents a stream gives to the fusion, at least
WINDOWS = 6  # ours: windows fetched for each document wanted (a monograph has about six)
# ours: a document whose best window is less similar to the query than this is no result, whatever words they share.
# Out-of-scope messages of tests/cases reach 0.25 at most, cases reach 0.41 at least.
MIN_SIMILARITY = 0.30
QUERY_PIECES = 16  # ours: pieces of a long query that are embedded; a whole case is rarely more than four
WORD = re.compile(r"[a-z][a-z0-9-]*[a-z0-9]")


class LibraryHit(Frozen):
    """A document that was found: its best window, its fused score, and each way in which it was found."""

    document: Document
    window: Window
    score: float
    found: tuple[Found, ...]

    def evidence(self) -> Evidence:
        """The best window as evidence, an exact slice of the document."""
        return self.document.evidence(self.window.start, self.window.end, self.found)


class QuestionHit(Frozen):
    """A question of the library near the one asked: their cosine, and BM25 as a share of the best question's, 0..1."""

    document: Document
    question: LibraryQuestion
    similarity: float
    lexical: float


class Library:
    """A built library in memory. Make one with `Library.open`."""

    def __init__(
        self,
        documents: Sequence[Document],
        texts: LocalIndex,
        windows: LocalIndex,
        questions: LocalIndex,
        encoder: Encoder,
    ) -> None:
        self._documents = {d.id: d for d in documents}
        self._windows = {d.span_id(w.start, w.end): (d, w) for d in documents for w in d.windows}
        self._questions = {question_id(d, n): (d, q) for d in documents for n, q in enumerate(d.questions)}
        self._text_index, self._window_index, self._question_index = texts, windows, questions
        self._encoder = encoder

    @classmethod
    def open(cls, folder: Path, encoder: Encoder) -> Library:
        """Read a library that `tools.library.build.build_library` wrote.

        Raises:
            DataError: there is none, it is damaged, of another format, or was built with another encoder.
        """
        return read_current(folder, lambda raw: cls._read(folder, raw, encoder))

    @classmethod
    def _read(cls, folder: Path, raw: bytes, encoder: Encoder) -> Library:
        manifest = read_manifest(raw)
        files = folder / manifest.generation
        if (manifest.encoder, manifest.dimension) != (encoder.name, encoder.dimension):
            raise DataError(f"The library was built with {manifest.encoder}, not with {encoder.name}.", REBUILD)
        try:
            documents = DOCUMENTS.validate_json((files / "documents.json").read_bytes())
        except ValidationError as error:
            raise DataError("The documents of the library are damaged.", REBUILD) from error
        if len(documents) != manifest.documents:
            raise DataError("The library holds another number of documents than it says.", REBUILD)
        texts, windows, questions = (
            LocalIndex.load(files / name, encoder.name, encoder.dimension)
            for name in ("documents", "windows", "questions")
        )
        return cls(documents, texts, windows, questions, encoder)

    def __len__(self) -> int:
        """Number of documents."""
        return len(self._documents)

    @property
    def documents(self) -> tuple[Document, ...]:
        """All documents, by id."""
        return tuple(self._documents[key] for key in sorted(self._documents))

    def document(self, id: str) -> Document:
        """The document with this id (``library:gerd``, ``gerd``, or the id of a slice of it); else InputError."""
        name = id.partition("@")[0].removeprefix(f"{COLLECTION}:")
        document = self._documents.get(f"{COLLECTION}:{name}")
        if document is None:
            raise InputError(f"The library has no document {id!r}.", "Take ids from the results of a search.")
        return document

    @cached_property
    def frequencies(self) -> Counter[str]:
        """Every word of the library in lower case, with the number of documents that hold it."""
        texts = (f"{d.title} {d.text}".lower() for d in self._documents.values())
        return Counter(w for text in texts for w in set(WORD.findall(text)))

    def search(
        self,
        query: str,
        limit: int,
        where: Filter | None = None,
        *,
        also: Sequence[str] = (),
        tool: str = "search_literature",
    ) -> list[LibraryHit]:
        """Documents for a query, best first: BM25 over documents and cosine over windows, fused by RRF.

        A document's place by meaning is that of its best window; a query longer than the encoder reads is embedded
        in pieces, and the best piece counts.

        Args:
            where: restrictions on documents; ``ids`` are document ids.
            also: other wordings of the query (its key terms, for example), embedded beside it.
            tool: the tool on whose behalf is searched, for `Found`.
        """
        if limit < 1 or not query.strip():
            return []
        pool = max(POOL, 4 * limit)
        best = self._best_windows(self._query_vectors([query, *also]), pool, where)
        words = [h for h in self._text_index.search_text(_lexical(query), pool, where) if h.id in best]
        streams = {"bm25": {h.id: h for h in words}, "dense": best}
        fused = reciprocal_rank_fusion({name: list(hits) for name, hits in streams.items()})[:limit]
        hits = []
        for item in fused:
            document, window = self._windows[best[item.id].id]
            found = [_found(tool, name, query, item.ranks[name], streams[name][item.id]) for name in item.ranks]
            hits.append(LibraryHit(document=document, window=window, score=item.score, found=tuple(found)))
        return hits

    def search_questions(self, question: str, limit: int) -> list[QuestionHit]:
        """The questions of the library nearest to one asked, by cosine (QB-RAG, online part)."""
        if limit < 1 or not question.strip():
            return []
        lists = self._question_index.search_vectors(self._encoder.encode_queries(_forms(question)), limit)
        best: dict[str, float] = {}
        for hit in (hit for hits in lists for hit in hits):
            best[hit.id] = max(hit.score, best.get(hit.id, hit.score))
        words = self._question_index.search_text(_lexical(question), len(self._question_index))
        lexical = {hit.id: hit.score / words[0].score for hit in words}
        hits = []
        for key in sorted(best, key=lambda key: (-best[key], key))[:limit]:
            document, known = self._questions[key]
            hits.append(
                QuestionHit(document=document, question=known, similarity=best[key], lexical=lexical.get(key, 0.0))
            )
        return hits

    def _best_windows(self, vectors: Vectors, pool: int, where: Filter | None) -> dict[str, Hit]:
        """Document id -> its most similar window, most similar first, among windows that are similar enough."""
        lists = self._window_index.search_vectors(vectors, WINDOWS * pool, self._window_filter(where))
        best: dict[str, Hit] = {}
        hits = [hit for hits in lists for hit in hits if hit.score >= MIN_SIMILARITY]
        for hit in sorted(hits, key=lambda h: (-h.score, h.id)):
            best.setdefault(hit.id.partition("@")[0], hit)
        return best

    def _window_filter(self, where: Filter | None) -> Filter | None:
        if where is None or not where.ids:
            return where
        wanted = [self._documents[key] for key in where.ids if key in self._documents]
        ids = tuple(d.span_id(w.start, w.end) for d in wanted for w in d.windows)
        return where.model_copy(update={"ids": ids or ("",)})  # an empty tuple would mean no restriction

    def _query_vectors(self, wordings: Sequence[str]) -> Vectors:
        limit = getattr(self._encoder, "query_limit", self._encoder.limit)  # MedCPT reads shorter queries
        pieces = []
        for form in unique([form for wording in wordings if wording.strip() for form in _forms(wording)]):
            spans = pack(form, Span(0, len(form)), limit - SPECIAL_TOKENS, self._encoder)
            pieces += [s.of(form) for s in spans[:QUERY_PIECES]]
        return self._encoder.encode_queries(pieces)


def _forms(query: str) -> list[str]:
    """A query as it is, with abbreviations written out, and with classes for medicines: an encoder knows neither."""
    return unique([query, expand(query), *forms(query)])


def _lexical(query: str) -> str:
    """A query with the words that its abbreviations and medicines stand for behind it."""
    known = query.split()
    return " ".join(unique([query, *(w for form in _forms(query) for w in form.split() if w not in known)]))


def _found(tool: str, stream: str, query: str, rank: int, hit: Hit) -> Found:
    return Found(tool=tool, stream=stream, query=query, rank=rank, score=hit.score)
