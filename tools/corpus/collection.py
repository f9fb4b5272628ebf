"""A finished collection as it is searched: passages by words and by meaning, documents by id, what is retracted never.

Passages lie in the index of the backend, documents in the parts. What another process builds in its place is seen by
the next search.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from prompts.errors import DataError, InputError
from tools.corpus.folder import Folder, Standing
from tools.corpus.parts import Catalogue
from tools.encoders import Encoder
from tools.indexes.contract import Backend, CollectionIndex, Filter, Hit
from tools.library.document import Document, Window
from tools.library.search import Query, Searchable, Streams, windows_only
from tools.recorder import timed

DEPTH = 3  # ours: passages fetched for each document wanted; an abstract has two on average
REBUILT = "Ask again: the collection is being built anew. If it stays so, build it again."


class _Open(NamedTuple):
    standing: Standing
    catalogue: Catalogue
    passages: CollectionIndex


class Corpus(Searchable):
    """A collection by its name. Safe to use from threads.

    Args:
        corpora: the folder of all collections. encoder: must be the one that it was built with.
        backend: where its index lies.

    Raises:
        DataError: it is not built, or is damaged. InputError: it was built with another encoder.
    """

    def __init__(self, corpora: Path, name: str, encoder: Encoder, backend: Backend) -> None:
        self.name = name
        self._folder, self.encoder, self._backend = Folder(corpora, name), encoder, backend
        self._lock = threading.Lock()
        self._stamp = self._folder.stamp()
        self._opened = self._open()
        self._before: Catalogue | None = None  # of what was replaced last: a search may have begun in it

    def __len__(self) -> int:
        """Number of documents that can be found."""
        counts = self._now().standing.counts
        return counts.publications - counts.retracted

    @property
    def standing(self) -> Standing:
        """What it was built from, how and when."""
        return self._now().standing

    def get(self, id: str) -> Document | None:
        """The document with this id, or with the id of a slice of it, a retracted one too; None when it has none."""
        return self._now().catalogue.document(id.partition("@")[0])

    def document(self, id: str) -> Document:
        """The same; InputError when there is none."""
        found = self.get(id)
        if found is None:
            raise InputError(f"The collection {self.name} has no document {id!r}.", "Take ids from a search.")
        return found

    def streams(self, query: Query, pool: int, where: Filter | None) -> Streams:
        """Documents by words and by meaning; both places of a document are those of its best passage.

        Among millions, a document that shares the words is often not among the nearest: its passages are compared by
        themselves, so that what is too far from the query is no result here either.
        """
        with timed("retrieval", source="collection") as told:
            opened = self._now()
            try:
                found = _streams(opened, query, pool, where)
            except DataError:
                again = self._now()
                if again is opened:
                    raise
                found = _streams(again, query, pool, where)  # it was replaced in the middle of the search
            told["hits"] = len(found.dense)
        return found

    def window(self, hit: Hit) -> tuple[Document, Window]:
        """The passage that a hit names, with its document; of a search that was overtaken, as it found them."""
        for catalogue in filter(None, (self._now().catalogue, self._before)):
            document = catalogue.document(_document_of(hit))
            for window in document.windows if document is not None else ():
                if document is not None and document.span_id(window.start, window.end) == hit.id:
                    return document, window
        raise DataError(f"The collection {self.name} does not hold the passage {hit.id}.", REBUILT)

    def _now(self) -> _Open:
        """What stands now; opened again when another process has put another collection in its place."""
        with self._lock:
            stamp = self._folder.stamp()
            if stamp != self._stamp:
                opened = self._open()
                if opened.standing.identity != self._opened.standing.identity:
                    self._before = self._opened.catalogue
                self._opened, self._stamp = opened, stamp
            return self._opened

    def _open(self) -> _Open:
        standing = self._folder.standing()
        if standing is None:
            advice = f"Build it: anamnesis index build FILES --name {self.name}."
            raise DataError(f"There is no finished collection {self.name}.", advice)
        recipe = standing.recipe
        if (recipe.encoder, recipe.dimension) != (self.encoder.name, self.encoder.dimension):
            raise InputError(
                f"The collection {self.name} was built with {recipe.encoder}, not {self.encoder.name}.",
                "Set ANAMNESIS_ENCODER to that, or build the collection with --afresh.",
            )
        catalogue = Catalogue(self._folder.root / standing.catalogue, self._folder.parts, standing.parts)
        index = self._backend.open(standing.index, encoder=recipe.encoder, dimension=recipe.dimension)
        return _Open(standing, catalogue, index)


def _streams(opened: _Open, query: Query, pool: int, where: Filter | None) -> Streams:
    narrowed = windows_only(where, opened.catalogue.document)
    near = opened.passages.search_vectors(query.vectors, DEPTH * pool, narrowed)
    shared = opened.passages.search_text(query.words, DEPTH * pool, narrowed)
    hits = [hit for found in near for hit in found]
    known = {_document_of(hit) for hit in hits}
    others = tuple(hit.id for hit in shared if _document_of(hit) not in known)
    if others:
        of_these = opened.passages.search_vectors(query.vectors, len(others), Filter(ids=others))
        hits += [hit for found in of_these for hit in found]
    best: dict[str, Hit] = {}
    for hit in sorted(hits, key=lambda h: (-h.score, h.id)):
        if hit.score >= query.least:
            best.setdefault(_document_of(hit), hit)
    words: dict[str, Hit] = {}
    for hit in shared:
        if _document_of(hit) in best:
            words.setdefault(_document_of(hit), hit)
    return Streams(_first(best, pool, words), _first(words, pool))


def _document_of(hit: Hit) -> str:
    return hit.id.partition("@")[0]


def _first(hits: dict[str, Hit], most: int, also: Iterable[str] = ()) -> dict[str, Hit]:
    """The first documents of an order, and some others of it in their places."""
    kept = {*list(hits)[:most], *also}
    return {key: hit for key, hit in hits.items() if key in kept}
