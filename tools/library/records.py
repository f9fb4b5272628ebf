"""The tables of a shelf: documents, the files that gave them, and the words in use."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence

from pydantic import ValidationError

from prompts.errors import DataError
from tools.evidence import Frozen, content_key
from tools.indexes.store import Store
from tools.library.document import Document
from tools.library.search import words_of

TABLES = """
create table if not exists documents (
    id text primary key, title text, kind text, status text, language text, date text, level text, characters integer,
    windows integer, questions integer, fingerprint text, text_sha256 text, body text
);
create table if not exists files (path text primary key, sha256 text, size integer, modified integer, outcome text);
create index if not exists files_by_content on files (sha256);
create table if not exists sources (path text, id text, primary key (path, id)) without rowid;
create index if not exists sources_by_document on sources (id);
create table if not exists words (word text primary key, documents integer) without rowid;
"""
LISTED = "id, title, kind, status, language, date, level, characters, windows"
DAMAGED = "Run `anamnesis library check`; remove the document and add its file again."


class Listed(Frozen):
    """A document as it is listed: what is known of it without its text, and the files that gave it."""

    id: str
    title: str
    kind: str
    status: str
    language: str
    date: str
    level: str | None
    characters: int
    windows: int
    files: tuple[str, ...] = ()


class KnownFile(Frozen):
    """A file that was read: sha256 of its bytes, size, time of change (ns), and whether all of it was taken in."""

    path: str
    sha256: str
    size: int
    modified: int
    outcome: str


def make_tables(store: Store) -> None:
    """Make what is not there."""
    with store.write() as db:
        for statement in TABLES.split(";"):
            db.execute(statement)


def put_document(db: sqlite3.Connection, document: Document, fingerprint: str) -> None:
    """Store a document that is not there, and count its words."""
    db.execute(
        f"insert into documents values ({','.join('?' * 13)})",
        (
            document.id, document.title, document.kind, document.status.value, document.language, document.date,
            document.level, len(document.text), len(document.windows), len(document.questions), fingerprint,
            content_key(document.text), document.model_dump_json(),
        ),
    )  # fmt: skip
    db.executemany(
        "insert into words values (?, 1) on conflict (word) do update set documents = documents + 1",
        [(word,) for word in sorted(words_of(document.title, document.text))],
    )


def drop_document(db: sqlite3.Connection, document: Document) -> None:
    """Forget a document and its words; the files that gave it keep their link."""
    db.execute("delete from documents where id = ?", (document.id,))
    words = [(word,) for word in words_of(document.title, document.text)]
    db.executemany("update words set documents = documents - 1 where word = ?", words)
    db.executemany("delete from words where word = ? and documents < 1", words)


def get_document(db: sqlite3.Connection, id: str) -> Document | None:
    """A document with its text; raises DataError for one that is damaged."""
    row = db.execute("select body from documents where id = ?", (id,)).fetchone()
    if row is None:
        return None
    try:
        return Document.model_validate_json(row[0])
    except ValidationError as error:
        raise DataError(f"The document {id} is damaged.", DAMAGED) from error


def fingerprint_of(db: sqlite3.Connection, id: str) -> str | None:
    """What `put_document` kept beside a document, None when it is not there."""
    row = db.execute("select fingerprint from documents where id = ?", (id,)).fetchone()
    return None if row is None else str(row[0])


def status_of(db: sqlite3.Connection, id: str) -> str | None:
    """The editorial status of a stored document, None when it is not there."""
    row = db.execute("select status from documents where id = ?", (id,)).fetchone()
    return None if row is None else str(row[0])


def put_body(db: sqlite3.Connection, document: Document) -> None:
    """Store a document again whose windows alone have changed."""
    db.execute(
        "update documents set windows = ?, body = ? where id = ?",
        (len(document.windows), document.model_dump_json(), document.id),
    )


def list_documents(db: sqlite3.Connection) -> Iterator[Listed]:
    """All documents by id, without their texts."""
    for row in db.execute(f"select {LISTED} from documents order by id"):
        files = db.execute("select path from sources where id = ? order by path", (row[0],)).fetchall()
        fields = dict(zip(LISTED.split(", "), row, strict=True))
        yield Listed(**fields, files=tuple(path for (path,) in files))


def document_ids(db: sqlite3.Connection) -> list[str]:
    """Ids of all documents, in order."""
    return [key for (key,) in db.execute("select id from documents order by id")]


def files(db: sqlite3.Connection, column: str = "1", value: str | int = 1) -> list[KnownFile]:
    """The files that were read, by path; those with a value in a column, when one is given."""
    found = db.execute(f"select * from files where {column} = ? order by path", (value,)).fetchall()
    return [KnownFile(**dict(zip(KnownFile.model_fields, row, strict=True))) for row in found]


def paths(db: sqlite3.Connection) -> list[str]:
    """Paths of all files that gave something, one whose reading was interrupted included."""
    return [path for (path,) in db.execute("select path from files union select path from sources order by path")]


def put_file(db: sqlite3.Connection, file: KnownFile) -> None:
    """Remember that a file was read."""
    db.execute("insert or replace into files values (?, ?, ?, ?, ?)", tuple(file.model_dump().values()))


def link(db: sqlite3.Connection, path: str, ids: Sequence[str]) -> None:
    """Remember which documents a file gave."""
    db.executemany("insert or ignore into sources values (?, ?)", [(path, key) for key in ids])


def given_by(db: sqlite3.Connection, path: str) -> list[str]:
    """Ids of the documents that a file gave."""
    return [key for (key,) in db.execute("select id from sources where path = ? order by id", (path,))]


def unlink(db: sqlite3.Connection, path: str, ids: Sequence[str]) -> list[str]:
    """Take documents off a file; returns those that no file gives any more."""
    db.executemany("delete from sources where path = ? and id = ?", [(path, key) for key in ids])
    return [key for key in ids if db.execute("select 1 from sources where id = ?", (key,)).fetchone() is None]


class Words(Mapping[str, int]):
    """Words in use with the number of documents that hold them, looked up where they are stored."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __getitem__(self, word: str) -> int:
        """Documents that hold a word; KeyError when none does."""
        with self._store.read() as db:
            row = db.execute("select documents from words where word = ?", (word,)).fetchone()
        if row is None:
            raise KeyError(word)
        return int(row[0])

    def __iter__(self) -> Iterator[str]:
        """Every word."""
        with self._store.read() as db:
            found = db.execute("select word from words order by word").fetchall()
        return iter([word for (word,) in found])

    def __len__(self) -> int:
        """Number of words."""
        with self._store.read() as db:
            return int(db.execute("select count(*) from words").fetchone()[0])
