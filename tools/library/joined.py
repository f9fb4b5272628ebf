"""The starter collection and a user's own documents, searched as one library."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tools.encoders import Encoder
from tools.fusion import balanced_pool
from tools.indexes.contract import Filter, Hit
from tools.library.collection import Library
from tools.library.contract import LibraryHit, PublicWords, QuestionHit
from tools.library.document import Document, Window
from tools.library.monograph import COLLECTION
from tools.library.search import Streams, fuse, make_query, pool_size
from tools.library.shelf import Shelf, shelf_file

NEAR = 4  # ours: decimals of a cosine beyond which two documents are equally near; the user's stands first then


class JoinedLibrary:
    """A `tools.library.contract.SearchableLibrary` over two collections.

    By meaning both are one order, because cosines compare. By words each collection has its own order, and they take
    turns (MedRGAG's source-balanced retrieval): BM25 does not compare between collections. Both orders are fused. While
    the shelf is empty or was never made, every answer is that of the starter collection. What another process puts on
    the shelf is found by the next search.

    Args:
        starter: the starter collection.
        folder: the folder of the shelf; it need not be there.
        encoder: the encoder of both.

    Raises:
        DataError: the shelf that is there cannot be used (`Shelf`).
    """

    def __init__(self, starter: Library, folder: Path, encoder: Encoder) -> None:
        self._starter, self._folder, self._encoder = starter, folder, encoder
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
        return len(self._starter) + (len(shelf) if shelf else 0)

    @property
    def public_words(self) -> PublicWords:
        """The words of the starter collection alone: a user's documents may name people."""
        return self._starter.public_words

    @property
    def question_titles(self) -> tuple[str, ...]:
        """Titles of the documents that carry questions."""
        shelf = self._shelf()
        return self._starter.question_titles + (shelf.question_titles if shelf else ())

    def document(self, id: str) -> Document:
        """The document with this id, or with the id of a slice of it; else InputError."""
        shelf = self._shelf()
        collection, colon, _ = id.partition(":")
        if shelf is not None and colon and collection != COLLECTION:
            return shelf.document(id)
        return self._starter.document(id)

    def search(
        self,
        query: str,
        limit: int,
        where: Filter | None = None,
        *,
        also: Sequence[str] = (),
        tool: str = "search_literature",
    ) -> list[LibraryHit]:
        """Documents for a query, best first."""
        shelf = self._shelf()
        if shelf is None or limit < 1 or not query.strip():
            return self._starter.search(query, limit, where, also=also, tool=tool)
        ready, pool = make_query(query, also, self._encoder), pool_size(limit)
        starter = self._starter.streams(ready, pool, where)

        def both() -> list[LibraryHit]:
            own = shelf.streams(ready, pool, where)

            def locate(hit: Hit) -> tuple[Document, Window]:
                return shelf.window(hit) if hit.id.partition("@")[0] in own.dense else self._starter.window(hit)

            return fuse(_joined(own, starter), query, limit, tool, locate)

        return shelf.store.snapshot(both)

    def search_questions(self, question: str, limit: int) -> list[QuestionHit]:
        """The questions nearest to one asked, by cosine; of equally near ones the user's stand first."""
        shelf = self._shelf()
        known = self._starter.search_questions(question, limit)
        own = shelf.search_questions(question, limit) if shelf is not None and len(shelf.questions) else []
        both = [*((h, 0) for h in own), *((h, 1) for h in known)]
        return [hit for hit, _ in sorted(both, key=lambda p: (-round(p[0].similarity, NEAR), p[1]))][:limit]

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


def _joined(own: Streams, starter: Streams) -> Streams:
    """Both collections' streams as one."""
    dense = {**own.dense, **starter.dense}
    order = sorted(
        dense, key=lambda key: (-round(dense[key].score, NEAR), key not in own.dense, -dense[key].score, key)
    )
    words = {**own.words, **starter.words}
    turns = balanced_pool({"own": list(own.words), "starter": list(starter.words)}, len(words))
    return Streams({key: dense[key] for key in order}, {key: words[key] for key in turns})
