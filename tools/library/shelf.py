"""A user's own documents: stored, indexed and searched in one folder that grows file by file."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from prompts.errors import DataError, InputError
from tools.encoders import Encoder
from tools.indexes.contract import Filter, Hit
from tools.indexes.store import Store
from tools.indexes.table import TableIndex, Weighing
from tools.library import records
from tools.library.build import entry_of, question_id
from tools.library.contract import LibraryHit, PublicWords, QuestionHit
from tools.library.document import Document, Window
from tools.library.own import Embedded, mean
from tools.library.search import (
    WINDOWS,
    Query,
    Searchable,
    Streams,
    find_streams,
    nearest_questions,
    windows_only,
)

FILE = "shelf.sqlite"
FORMAT = 1  # raised with every change of the tables or of what is embedded
INDEXES = ("documents", "windows", "questions")
WEIGHING = Weighing(k1=1.2, repeats=False)  # code: SQLite's FTS5, which ranked these documents before
LOCK_WAIT = 10.0  # ours: seconds; adding takes long, so a second writer is told rather than kept waiting
REEMBED = "Run `anamnesis library check --rebuild`: the texts are stored and will be embedded again."


def shelf_file(folder: Path) -> Path:
    """The database of a shelf: there is a shelf when this file is there."""
    return folder / FILE


class Shelf(Searchable):
    """The shelf of a folder, a `tools.library.contract.SearchableLibrary`. Safe to use from threads.

    What another process adds or removes is seen by the next search. Adding and removing are in
    `tools.library.adding`, checking in `tools.library.upkeep`.

    Args:
        folder: mode 0700; it is made when it is not there.
        encoder: embeds queries; its name and dimension must be those of the vectors.
        check_encoder: False opens a shelf whose vectors are about to be made again.

    Raises:
        DataError: the shelf is damaged, of another format, or was made with another encoder.
    """

    def __init__(self, folder: Path, encoder: Encoder, *, check_encoder: bool = True) -> None:
        self.folder, self.encoder = folder, encoder
        self.store = Store(shelf_file(folder))
        self._check_format()
        made_with = self.made_with or (encoder.name, encoder.dimension)
        if check_encoder:
            self._check_encoder()
        self.texts, self.windows, self.questions = (
            TableIndex(self.store, f"{name}_index", *made_with, WEIGHING) for name in INDEXES
        )
        self.frequencies: Mapping[str, int] = records.Words(self.store)

    @property
    def made_with(self) -> tuple[str, int] | None:
        """Name and dimension of the encoder of the vectors, None before there are any."""
        name = str(self.store.value("windows_index.encoder", ""))
        return (name, self.store.number("windows_index.dimension")) if name else None

    def __len__(self) -> int:
        """Number of documents, retracted ones left out."""
        return len(self.texts)

    @property
    def public_words(self) -> PublicWords:
        """None: a user's documents may name people."""
        return PublicWords({}, 0)

    def holds_any(self) -> bool:
        """Whether there is any document, a retracted one included."""
        with self.store.read() as db:
            return db.execute("select 1 from documents limit 1").fetchone() is not None

    @property
    def question_titles(self) -> tuple[str, ...]:
        """Titles of the documents that carry questions."""
        with self.store.read() as db:
            found = db.execute("select title from documents where questions > 0 order by id").fetchall()
        return tuple(title for (title,) in found)

    def documents(self) -> list[records.Listed]:
        """All documents by id, without their texts."""
        with self.store.read() as db:
            return list(records.list_documents(db))

    def ids(self) -> list[str]:
        """The ids of all documents."""
        return [row.id for row in self.documents()]

    def holds(self, id: str) -> bool:
        """Whether there is a document with this id, or with the id of a slice of it."""
        with self.store.read() as db:
            return records.status_of(db, id.partition("@")[0]) is not None

    def document(self, id: str) -> Document:
        """The document with this id, or with the id of a slice of it; else InputError."""
        with self.store.read() as db:
            found = records.get_document(db, id.partition("@")[0])
        if found is None:
            raise InputError(f"The library has no document {id!r}.", "Take ids from the results of a search.")
        return found

    def _search(self, query: Query, limit: int, where: Filter | None, tool: str) -> list[LibraryHit]:
        searched = super()._search
        return self.store.snapshot(lambda: searched(query, limit, where, tool))

    def streams(self, query: Query, pool: int, where: Filter | None) -> Streams:
        """Documents by words and by meaning, for whoever fuses them."""
        self._check_encoder()
        per_document = max(WINDOWS, math.ceil(len(self.windows) / max(1, len(self))))
        with self.store.read() as db:
            narrowed = windows_only(where, lambda key: records.get_document(db, key))
        return self.store.snapshot(
            lambda: find_streams(query, self.texts, self.windows, pool, where, narrowed, per_document)
        )

    def window(self, hit: Hit) -> tuple[Document, Window]:
        """The window that a hit by meaning names, with its document."""
        document = self.document(hit.id)
        for window in document.windows:
            if document.span_id(window.start, window.end) == hit.id:
                return document, window
        raise DataError(f"The document {document.id} does not hold the window {hit.id}.", records.DAMAGED)

    def search_questions(self, question: str, limit: int) -> list[QuestionHit]:
        """The questions nearest to one asked, by cosine."""
        if limit < 1 or not question.strip():
            return []
        self._check_encoder()
        return self.store.snapshot(
            lambda: [
                self._question(key, similarity, share)
                for key, similarity, share in nearest_questions(question, limit, self.questions, self.encoder)
            ]
        )

    def put(self, embedded: Embedded, fingerprint: str) -> None:
        """Store and index a document, in the place of one with the same id; one transaction, or part of one."""
        document = embedded.document
        with self.store.write() as db:
            self.drop([document.id])
            records.put_document(db, document, fingerprint)
            self.index(embedded)

    def index(self, embedded: Embedded) -> None:
        """Put a stored document into the indexes; a retracted one, or a notice, is kept out of them."""
        document = embedded.document
        if not document.status.usable or not document.windows:
            return
        with self.store.write():
            entries = [entry_of(document, document.span_id(w.start, w.end), "") for w in document.windows]
            self.windows.add(entries, embedded.windows)  # their words are searched in the document
            numbered = enumerate(document.questions)
            asked = [entry_of(document, question_id(document, n), f"{q.text} {document.title}") for n, q in numbered]
            self.questions.add(asked, embedded.questions)
            whole = entry_of(document, document.id, f"{document.title}\n{document.text}")
            self.texts.add([whole], mean(embedded.windows))

    def drop(self, ids: Sequence[str]) -> int:
        """Take documents out of the indexes and the store; returns how many there were."""
        with self.store.write() as db:
            found = [d for d in (records.get_document(db, key) for key in ids) if d is not None]
            for document in found:
                self.windows.delete([document.span_id(w.start, w.end) for w in document.windows])
                self.questions.delete([question_id(document, n) for n in range(len(document.questions))])
                self.texts.delete([document.id])
                records.drop_document(db, document)
        return len(found)

    def close(self) -> None:
        """Close the files."""
        self.store.close()

    def _check_format(self) -> None:
        found = self.store.number("shelf.format")
        if not found:
            records.make_tables(self.store)
            self.store.put("shelf.format", FORMAT)
        elif found != FORMAT:
            self.store.close()
            raise DataError(
                f"Your documents are stored in format {found}, not {FORMAT}.",
                f"Move {self.folder} away and add the documents again.",
            )

    def _check_encoder(self) -> None:
        """Raise DataError unless the vectors are this encoder's; another process may embed them again at any time."""
        made_with = self.made_with
        if made_with is not None and made_with != (self.encoder.name, self.encoder.dimension):
            raise DataError(f"Your documents are embedded with {made_with[0]}, not {self.encoder.name}.", REEMBED)

    def _question(self, key: str, similarity: float, share: float) -> QuestionHit:
        name, _, number = key.rpartition("/q")
        document = self.document(name)
        question = document.questions[int(number)]
        return QuestionHit(document=document, question=question, similarity=similarity, lexical=share)
