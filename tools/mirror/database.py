"""The mirror's file: SQLite with records, postings by segment, and an FTS5 table for phrases and proximity.

The FTS5 table has no content of its own and gets the words that `tools.mirror.words` made, so its tokeniser only
splits at spaces. Single words, headings and all other exact fields are answered from the postings, which is ten times
as fast as FTS5 for common words; FTS5 answers where positions matter.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from prompts.errors import DataError
from tools.databases import fault_of
from tools.indexes.postings import BLOCKS
from tools.mirror.entries import COLUMNS

FORMAT = 3  # raised with every change of the tables or of `tools.mirror.words`
FILE = "mirror.sqlite"
APPLICATION = 0x414E4D52  # "ANMR", in the file's header
BUSY = 60.0  # seconds to wait for another writer's commit; ours
AGAIN = "Import the mirror again."
HASH = 64_000_000  # ours: bytes of positions gathered before FTS5 writes; its own default merges far more often
SCHEMA = f"""
CREATE TABLE records (document INTEGER PRIMARY KEY, pmid INTEGER NOT NULL UNIQUE, version INTEGER NOT NULL,
    record BLOB NOT NULL);
CREATE TABLE segments (segment INTEGER PRIMARY KEY, base INTEGER NOT NULL, size INTEGER NOT NULL,
    pmids BLOB NOT NULL, published BLOB NOT NULL, entered BLOB NOT NULL, lengths BLOB NOT NULL);
{BLOCKS.format(table="words")};
{BLOCKS.format(table="keys")};
CREATE TABLE headings (key TEXT PRIMARY KEY, name TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE dead (segment INTEGER PRIMARY KEY, documents BLOB NOT NULL);
CREATE TABLE sources (name TEXT PRIMARY KEY, records INTEGER NOT NULL, at TEXT NOT NULL);
CREATE TABLE files (sha256 TEXT PRIMARY KEY, name TEXT NOT NULL, bytes INTEGER NOT NULL, begun INTEGER NOT NULL,
    position INTEGER NOT NULL, records INTEGER NOT NULL, deleted INTEGER NOT NULL, unread INTEGER NOT NULL,
    done INTEGER NOT NULL, at TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE descriptors (key TEXT PRIMARY KEY, name TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE tree (number TEXT PRIMARY KEY, key TEXT NOT NULL, name TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX tree_keys ON tree (key);
CREATE TABLE state (generation INTEGER NOT NULL, documents INTEGER NOT NULL);
INSERT INTO state VALUES (0, 0);
CREATE VIRTUAL TABLE positions USING fts5({", ".join(COLUMNS)}, content='', columnsize=0, tokenize='ascii');
INSERT INTO positions (positions, rank) VALUES ('hashsize', {HASH});
"""


@contextlib.contextmanager
def guarded(folder: Path) -> Iterator[None]:
    """Turn what SQLite says of a damaged or missing file into a DataError."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            advice = "Wait for the import to finish, or stop it."
            raise DataError(f"The mirror in {folder.name} is being written.", advice) from error
        raise fault_of(error, folder / FILE, f"The mirror in {folder.name}", AGAIN) from error
    except sqlite3.DatabaseError as error:
        raise fault_of(error, folder / FILE, f"The mirror in {folder.name}", AGAIN) from error


def connect(folder: Path) -> sqlite3.Connection:
    """A connection for reading. Raises DataError when there is no mirror, or one of another format."""
    path = folder / FILE
    if not path.is_file():
        raise DataError(f"There is no mirror in {folder}.", "Import PubMed files first.")
    # Where nothing can be written no log can be kept beside the file, and none can be waiting there.
    options = "" if os.access(folder, os.W_OK) else "?immutable=1"
    with guarded(folder):
        database = _opened(f"{path.resolve().as_uri()}{options}")
        database.execute("PRAGMA query_only = 1")
        _check(database, folder)
    return database


def connect_writer(folder: Path) -> sqlite3.Connection:
    """A connection for writing, to a new mirror when there is none. The caller holds the writers' lock."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / FILE
    with guarded(folder):
        database = _opened(path.resolve().as_uri())
        if not _version(database)[0] and not _tables(database):
            database.execute("PRAGMA page_size = 8192")  # ours: a posting list of a common word fills several KB
            database.execute("PRAGMA journal_mode = WAL")  # searches go on while records are added
            database.executescript(
                f"BEGIN;{SCHEMA}PRAGMA user_version = {FORMAT};PRAGMA application_id = {APPLICATION};COMMIT;"
            )
            path.chmod(0o600)
        _check(database, folder)
        database.execute("PRAGMA synchronous = NORMAL")  # with WAL: a crash may lose the last commit, never the file
    return database


def _opened(uri: str) -> sqlite3.Connection:
    return sqlite3.connect(uri, uri=True, timeout=BUSY, isolation_level=None, check_same_thread=False)


def _version(database: sqlite3.Connection) -> tuple[int, int]:
    found = database.execute("PRAGMA user_version").fetchone()[0]
    return int(found), int(database.execute("PRAGMA application_id").fetchone()[0])


def _tables(database: sqlite3.Connection) -> int:
    return int(database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])


def _check(database: sqlite3.Connection, folder: Path) -> None:
    version, application = _version(database)
    if application != APPLICATION:
        database.close()
        raise DataError(f"{FILE} in {folder} is not a mirror.", "Choose another folder, or import again.")
    if version != FORMAT:
        database.close()
        raise DataError(f"The mirror in {folder} has format {version}, not {FORMAT}.", AGAIN)
