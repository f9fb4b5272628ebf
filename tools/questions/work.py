"""What a build has done: questions and their vectors by document, and judgements, so that nothing is done twice."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
from pydantic import TypeAdapter, ValidationError

from prompts.errors import DataError
from tools.encoders import Vectors
from tools.indexes.store import Store
from tools.questions.contract import Judgement, Question, SourceDocument

QUESTIONS = TypeAdapter(list[Question])
TABLES = (
    "create table if not exists written (key text primary key, questions blob, vectors blob, document) without rowid",
    "create table if not exists judged (key text primary key, judgement text) without rowid",
)
WORK = ".work.sqlite"  # what follows the name of an index in that of its work
ROWS = 500  # ours: look-ups a statement, below SQLite's limit on variables


class Written:
    """Questions of a document, with their vectors (questions, dimension)."""

    __slots__ = ("questions", "vectors")

    def __init__(self, questions: list[Question], vectors: Vectors) -> None:
        self.questions, self.vectors = questions, vectors


class Work:
    """The file of a build, beside its index; every `put` is on disk when it returns.

    Args:
        file: mode 0600. dimension: columns of the vectors.
    """

    def __init__(self, file: Path, dimension: int) -> None:
        self._store, self._dimension = Store(file), dimension
        with self._store.write() as db:
            for table in TABLES:
                db.execute(table)
            if "document" not in {row[1] for row in db.execute("pragma table_info(written)")}:
                db.execute("alter table written add column document text")  # of a file that was made before

    def written(self, keys: Iterable[str]) -> dict[str, Written]:
        """What was written under these keys. Raises DataError when it is damaged."""
        found = {}
        wanted = list(keys)
        for at in range(0, len(wanted), ROWS):
            part = wanted[at : at + ROWS]
            marks = ",".join("?" * len(part))
            with self._store.read() as db:
                rows = db.execute(f"select key, questions, vectors from written where key in ({marks})", part)
                found.update({key: self._read(questions, vectors) for key, questions, vectors in rows.fetchall()})
        return found

    def put_written(self, written: Mapping[str, Written], documents: Mapping[str, SourceDocument]) -> None:
        """Keep what was written; one transaction. ``documents`` has what each key was written for."""
        rows = [
            (
                key,
                QUESTIONS.dump_json(w.questions),
                np.asarray(w.vectors, dtype=np.float16).tobytes(),
                document_key(documents[key]),
            )
            for key, w in written.items()
        ]
        with self._store.write() as db:
            db.executemany(
                "insert or replace into written (key, questions, vectors, document) values (?, ?, ?, ?)", rows
            )

    def judged(self, key: str) -> Judgement | None:
        """A judgement that was kept."""
        with self._store.read() as db:
            row = db.execute("select judgement from judged where key = ?", (key,)).fetchone()
        return None if row is None else Judgement.model_validate_json(row[0])

    def put_judged(self, judged: Mapping[str, Judgement]) -> None:
        """Keep judgements; one transaction."""
        with self._store.write() as db:
            rows = [(key, j.model_dump_json()) for key, j in judged.items()]
            db.executemany("insert or replace into judged values (?, ?)", rows)

    def keep_only(self, documents: Iterable[SourceDocument]) -> None:
        """Forget what was written of documents that are gone or changed.

        What other writers wrote for the same documents stays, because a model's work is paid for; and so does what a
        file that was made before does not say the document of.
        """
        with self._store.write() as db:
            db.execute("create temp table if not exists current (document text primary key)")
            db.execute("delete from current")
            db.executemany("insert or ignore into current values (?)", [(document_key(d),) for d in documents])
            db.execute("delete from written where document not in (select document from current)")

    def close(self) -> None:
        """Close the file."""
        self._store.close()

    def _read(self, questions: bytes, vectors: bytes) -> Written:
        try:
            found = QUESTIONS.validate_json(questions)
            rows = np.frombuffer(vectors, dtype=np.float16).reshape(len(found), self._dimension)
        except (ValidationError, ValueError) as error:
            what = f"{self._store.file.name} is damaged."
            raise DataError(what, "Delete it; the questions are then written again.") from error
        return Written(found, rows.astype(np.float32))


def written_key(document: SourceDocument, writer: str, wanted: int, encoder: str) -> str:
    """By content: another text, title, writer, number or encoder is other work."""
    parts = (document.id, document.title, document.text, document.language, writer, str(wanted), encoder)
    return hashlib.sha256("\x00".join(parts).encode()).hexdigest()


def document_key(document: SourceDocument) -> str:
    """By content, whoever writes for it."""
    return hashlib.sha256(f"{document.id}\x00{document.title}\x00{document.text}".encode()).hexdigest()


def judged_key(question: str, document: SourceDocument, judge: str) -> str:
    """By content of the pair, and who judged."""
    return hashlib.sha256(f"{question}\x00{document.title}\x00{document.text}\x00{judge}".encode()).hexdigest()
