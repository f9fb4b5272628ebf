"""The built library in memory, as it is searched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from copy import copy
from functools import cached_property
from pathlib import Path

from pydantic import ValidationError

from prompts.errors import DataError, InputError
from tools.encoders import Encoder
from tools.files import REBUILD, Shared
from tools.indexes.contract import Filter, Hit
from tools.indexes.generations import read_current
from tools.indexes.local import LocalIndex
from tools.library.build import DOCUMENTS, PROSE, LibraryManifest, question_id, read_manifest
from tools.library.contract import PublicWords, QuestionHit
from tools.library.document import Document, Window
from tools.library.monograph import COLLECTION
from tools.library.search import (
    Query,
    Searchable,
    Streams,
    find_streams,
    nearest_questions,
    windows_only,
    words_of,
)

OPENED = 2  # ours: libraries that the openings of one process share: the starter library's last two generations


class Library(Searchable):
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
        self.encoder = encoder

    @classmethod
    def open(cls, folder: Path, encoder: Encoder) -> Library:
        """Read a library that `tools.library.build.build_library` wrote.

        Raises:
            DataError: there is none, it is damaged, of another format, or was built with another encoder.
        """
        return read_current(folder, lambda raw: cls._shared(folder, raw, encoder))

    @classmethod
    def _shared(cls, folder: Path, raw: bytes, encoder: Encoder) -> Library:
        """The openings of one process share what was read while the files stay as they are."""
        manifest = read_manifest(raw)
        files = sorted(p for p in (folder / manifest.generation).rglob("*") if p.is_file())
        known = _OPENED.get(f"{raw!r} {encoder.name}", files, lambda: cls._read(folder, manifest, encoder))
        library = copy(known)
        library.encoder = encoder
        return library

    @classmethod
    def _read(cls, folder: Path, manifest: LibraryManifest, encoder: Encoder) -> Library:
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

    def ids(self) -> list[str]:
        """The ids of all documents."""
        return sorted(self._documents)

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
        """Every word of the documents that are searched in lower case, with the number of documents that hold it."""
        return Counter(w for d in self._searched for w in words_of(d.title, d.text))

    @property
    def public_words(self) -> PublicWords:
        """The same words, and the number of documents; pages of medicines hold brands, which may be names."""
        return PublicWords(self.frequencies, len(self._searched))

    @property
    def _searched(self) -> list[Document]:
        return [d for d in self._documents.values() if d.kind in PROSE]

    @cached_property
    def question_titles(self) -> tuple[str, ...]:
        """Titles of the documents that carry questions."""
        return tuple(d.title for d in self.documents if d.questions)

    def streams(self, query: Query, pool: int, where: Filter | None) -> Streams:
        """Documents by words and by meaning, for whoever fuses them."""
        narrowed = windows_only(where, self._documents.get)
        return find_streams(query, self._text_index, self._window_index, pool, where, narrowed)

    def window(self, hit: Hit) -> tuple[Document, Window]:
        """The window that a hit by meaning names, with its document."""
        return self._windows[hit.id]

    def search_questions(self, question: str, limit: int) -> list[QuestionHit]:
        """The questions of the library nearest to one asked, by cosine (QB-RAG, online part)."""
        if limit < 1 or not question.strip():
            return []
        hits = []
        for key, similarity, share in nearest_questions(question, limit, self._question_index, self.encoder):
            document, known = self._questions[key]
            hits.append(QuestionHit(document=document, question=known, similarity=similarity, lexical=share))
        return hits


_OPENED: Shared[Library] = Shared(OPENED)
