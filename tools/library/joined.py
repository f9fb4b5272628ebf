"""The starter collection, a user's own documents and collections built at scale, searched as one library."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from tools.encoders import Encoder
from tools.fusion import balanced_pool
from tools.indexes.contract import Filter, Hit
from tools.library.collection import Library
from tools.library.contract import LibraryHit, PublicWords, QuestionHit
from tools.library.document import Document, Window
from tools.library.monograph import COLLECTION
from tools.library.search import Locate, Streaming, Streams, first_by_words, fuse, make_query, pool_size
from tools.library.shelf import Shelf, shelf_file
from tools.recorder import timed

NEAR = 4  # ours: decimals of a cosine beyond which two documents are equally near; the user's stands first then


class Built(Streaming, Protocol):
    """A collection that was built at scale (`tools.corpus.collection.Corpus`)."""

    def __len__(self) -> int:
        """Number of documents that can be found."""

    def get(self, id: str) -> Document | None:
        """The document with this id, a retracted one too; None when it has none."""


class _Searched(NamedTuple):
    """What a collection found, and how its hits are located."""

    streams: Streams
    locate: Locate


class JoinedLibrary:
    """A `tools.library.contract.SearchableLibrary` over several collections.

    By meaning all are one order, because cosines compare. By words each collection has its own order, and they take
    turns (MedRGAG's source-balanced retrieval): BM25 does not compare between collections. Both orders are fused. While
    the shelf is empty or was never made, and no collection was built, every answer is that of the starter collection.
    What another process puts on the shelf is found by the next search. A document that the shelf or a built collection
    holds as retracted is not found in another, and is given as the one that knows of the retraction has it.

    Args:
        starter: the starter collection.
        folder: the folder of the shelf; it need not be there.
        encoder: the encoder of all.
        built: collections built at scale, looked at anew by each search. Their words are never counted: they are too
            many to look through.

    Raises:
        DataError: the shelf that is there cannot be used (`Shelf`).
    """

    def __init__(self, starter: Library, folder: Path, encoder: Encoder, built: Sequence[Built] = ()) -> None:
        self._starter, self._folder, self._encoder, self._built = starter, folder, encoder, built
        self._lock = threading.Lock()
        self._opened: tuple[tuple[int, int], Shelf] | None = None
        self.frequencies: Mapping[str, int] = _Frequencies(self)
        self._shelf()

    @property
    def starter(self) -> Library:
        """The starter collection."""
        return self._starter

    @property
    def shelf(self) -> Shelf | None:
        """The user's documents, None when there are none."""
        return self._shelf()

    def __len__(self) -> int:
        """Number of documents that can be found."""
        shelf = self._shelf()
        return len(self._starter) + (len(shelf) if shelf else 0) + sum(map(len, self._built))

    @property
    def public_words(self) -> PublicWords:
        """The words of the starter collection alone: a user's documents may name people."""
        return self._starter.public_words

    @property
    def question_titles(self) -> tuple[str, ...]:
        """Titles of the documents that carry questions."""
        shelf = self._shelf()
        return self._starter.question_titles + (shelf.question_titles if shelf else ())

    def ids(self) -> list[str] | None:
        """The id of every document; None with a collection that was built at scale."""
        if self._built:
            return None
        shelf = self._shelf()
        return [*self._starter.ids(), *(shelf.ids() if shelf is not None else [])]

    def document(self, id: str) -> Document:
        """The document with this id, or with the id of a slice of it; else InputError."""
        shelf = self._shelf()
        collection, colon, _ = id.partition(":")
        if not colon or collection == COLLECTION:
            return self._starter.document(id)
        copies = list(self._copies(id, shelf))
        if not copies:
            return (shelf or self._starter).document(id)
        return next((one for one in copies if not one.status.usable), copies[0])

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
        """Documents for a query, best first; with ``nearest`` by cosine alone, and however far."""
        with timed("retrieval", source="library") as told:
            hits = self._search(query, limit, where, also, tool, nearest=nearest)
            told["hits"] = len(hits)
        return hits

    def _search(
        self, query: str, limit: int, where: Filter | None, also: Sequence[str], tool: str, *, nearest: bool
    ) -> list[LibraryHit]:
        shelf = self._shelf()
        if (shelf is None and not self._built) or limit < 1 or not query.strip():
            return self._starter.search(query, limit, where, also=also, tool=tool, nearest=nearest)
        ready, pool = make_query(query, also, self._encoder, nearest=nearest), pool_size(limit)
        known: list[Streaming] = [self._starter, *self._built]
        held = [_Searched(one.streams(ready, pool, where), one.window) for one in known]

        def fused(searched: Sequence[_Searched]) -> list[LibraryHit]:
            return self._usable(searched, shelf, lambda streams, locate: fuse(streams, query, limit, tool, locate))

        if shelf is None:
            return fused(held)
        own = shelf
        return own.store.snapshot(lambda: fused([_Searched(own.streams(ready, pool, where), own.window), *held]))

    def by_words(self, query: str, limit: int, *, tool: str = "search_literature") -> dict[str, list[LibraryHit]]:
        """At most ``limit`` documents of each collection by BM25 alone, by the collection's name; none retracted."""
        if limit < 1 or not query.strip():
            return {}
        shelf, ready = self._shelf(), make_query(query, (), self._encoder)
        names = [getattr(built, "name", f"collection {n}") for n, built in enumerate(self._built, start=1)]
        each: dict[str, Streaming] = {"library": self._starter, **dict(zip(names, self._built, strict=True))}
        found = {name: first_by_words(one, ready, limit, tool) for name, one in each.items()}
        if shelf is not None:
            own = shelf
            found["own"] = own.store.snapshot(lambda: first_by_words(own, ready, limit, tool))
        return {
            name: [h for h in hits if all(d.status.usable for d in self._copies(h.document.id, shelf))]
            for name, hits in found.items()
        }

    def search_questions(self, question: str, limit: int) -> list[QuestionHit]:
        """The questions nearest to one asked, by cosine; of equally near ones the user's stand first."""
        shelf = self._shelf()
        with timed("retrieval", source="questions") as told:
            known = self._starter.search_questions(question, limit)
            own = shelf.search_questions(question, limit) if shelf is not None and len(shelf.questions) else []
            told["hits"] = min(limit, len(known) + len(own))
        both = [*((h, 0) for h in own), *((h, 1) for h in known)]
        return [hit for hit, _ in sorted(both, key=lambda p: (-round(p[0].similarity, NEAR), p[1]))][:limit]

    def _copies(self, id: str, shelf: Shelf | None) -> Iterator[Document]:
        """A document as each holds it that does: the shelf, then the built collections."""
        if shelf is not None and shelf.holds(id):
            yield shelf.document(id)
        yield from filter(None, (built.get(id) for built in self._built))

    def _usable(
        self, searched: Sequence[_Searched], shelf: Shelf | None, fused: Callable[[Streams, Locate], list[LibraryHit]]
    ) -> list[LibraryHit]:
        """The hits of all collections, without what any of them holds as retracted."""
        gone: set[str] = set()
        while True:
            kept = [_Searched(_without(s.streams, gone), s.locate) for s in searched]
            hits = fused(_joined([s.streams for s in kept]), _located(kept))
            ids = [hit.document.id for hit in hits] if self._built else []
            held = [document for key in ids for document in self._copies(key, shelf)]
            back = {document.id for document in held if not document.status.usable}
            if not back:
                return hits
            gone |= back

    def _shelf(self) -> Shelf | None:
        """The shelf when it is there and holds something; opened once, and again when its file is another."""
        try:
            status = shelf_file(self._folder).stat()
        except OSError:  # there is none
            return None
        identity = (status.st_dev, status.st_ino)
        with self._lock:
            if self._opened is None or self._opened[0] != identity:
                self._opened = (identity, Shelf(self._folder, self._encoder))
            shelf = self._opened[1]
        return shelf if shelf.holds_any() else None


class _Frequencies(Mapping[str, int]):
    """The words of both collections, each with the number of documents that hold it; looked up, never copied."""

    def __init__(self, library: JoinedLibrary) -> None:
        self._library = library

    def _parts(self) -> list[Mapping[str, int]]:
        shelf = self._library.shelf
        return [self._library.starter.frequencies, *([shelf.frequencies] if shelf is not None else [])]

    def __getitem__(self, word: str) -> int:
        """Documents that hold a word; KeyError when none does."""
        found = sum(part.get(word, 0) for part in self._parts())
        if not found:
            raise KeyError(word)
        return found

    def __iter__(self) -> Iterator[str]:
        """Every word, each once."""
        return iter(dict.fromkeys(word for part in self._parts() for word in part))

    def __len__(self) -> int:
        """Number of words."""
        return sum(1 for _ in self)


def _joined(found: Sequence[Streams]) -> Streams:
    """The collections' streams as one; of equally near documents those of the first collection stand first."""
    dense: dict[str, Hit] = {}
    place: dict[str, int] = {}
    words: dict[str, Hit] = {}
    for n, streams in enumerate(found):
        for key, hit in streams.dense.items():
            dense.setdefault(key, hit)
            place.setdefault(key, n)
        for key, hit in streams.words.items():
            words.setdefault(key, hit)
    order = sorted(dense, key=lambda key: (-round(dense[key].score, NEAR), place[key], -dense[key].score, key))
    turns = balanced_pool({str(n): list(streams.words) for n, streams in enumerate(found)}, len(words))
    return Streams({key: dense[key] for key in order}, {key: words[key] for key in turns})


def _located(searched: Sequence[_Searched]) -> Locate:
    """The window of a hit, from the first collection that found its document."""

    def locate(hit: Hit) -> tuple[Document, Window]:
        key = hit.id.partition("@")[0]
        return next(one for one in searched if key in one.streams.dense).locate(hit)

    return locate


def _without(streams: Streams, gone: set[str]) -> Streams:
    if not gone:
        return streams
    return Streams(*({key: hit for key, hit in found.items() if key not in gone} for found in streams))
