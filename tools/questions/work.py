"""The first steps of a build, nothing done twice: what is not kept yet is written and judged."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from pydantic import TypeAdapter, ValidationError

from prompts.errors import AnamnesisError, DataError
from tools.encoders import Encoder, Vectors
from tools.indexes.store import Store
from tools.questions.collection import Collection, Progress
from tools.questions.contract import AnswerabilityJudge, Judgement, Question, QuestionWriter, SourceDocument, Verdict
from tools.questions.round_trip import RoundTrip
from tools.questions.settings import BuildSettings

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


# The first step of a build: questions for every document, written where they are not there yet.
CHUNK = 64  # ours: documents written and embedded between two commits; so many are lost by a kill


def keys_of(
    documents: Sequence[SourceDocument], writer: QuestionWriter, settings: BuildSettings, encoder: Encoder
) -> list[str]:
    """The key of each document's questions in the work."""
    return [written_key(d, writer.name, settings.wanted(d.text), encoder.name) for d in documents]


async def write_questions(
    collection: Collection,
    writer: QuestionWriter,
    settings: BuildSettings,
    encoder: Encoder,
    work: Work,
    progress: Progress | None,
) -> tuple[Drafts, int]:
    """The questions of every document, and the number of documents that had theirs already.

    Raises:
        AnamnesisError: the writer's; what was written for other documents is kept.
    """
    documents = collection.documents
    keys = keys_of(documents, writer, settings, encoder)
    questions: list[Question] = []
    owners: list[int] = []
    vectors: list[Vectors] = []
    reused = 0
    for at in range(0, len(documents), CHUNK):
        part, of = documents[at : at + CHUNK], keys[at : at + CHUNK]
        known = work.written(of)
        reused += len(known)
        missing = [(key, document) for key, document in zip(of, part, strict=True) if key not in known]
        fresh, failed = await _write_missing(missing, writer, settings, encoder)
        work.put_written(fresh, dict(missing))
        if failed is not None:
            raise failed
        known |= fresh
        for number, key in enumerate(of, start=at):
            questions += known[key].questions
            owners += [number] * len(known[key].questions)
            vectors.append(known[key].vectors.astype(np.float16))
        if progress is not None:
            progress("questions", min(at + CHUNK, len(documents)), len(documents))
    work.keep_only(documents)
    return Drafts(questions, owners, _stacked(vectors, encoder.dimension)), reused


def _stacked(parts: Sequence[Vectors], dimension: int) -> Vectors:
    return np.concatenate(parts) if parts else np.empty((0, dimension), dtype=np.float16)


async def _write_missing(
    missing: Sequence[tuple[str, SourceDocument]], writer: QuestionWriter, settings: BuildSettings, encoder: Encoder
) -> tuple[dict[str, Written], AnamnesisError | None]:
    """What was written by key, and the first failure: what another document got is kept all the same."""
    tries = await asyncio.gather(*(_tried(writer, document, settings.wanted(document.text)) for _, document in missing))
    failed = next((found for found in tries if isinstance(found, AnamnesisError)), None)
    done = [(key, found) for (key, _), found in zip(missing, tries, strict=True) if isinstance(found, list)]
    vectors = encoder.encode_queries([q.text for _, questions in done for q in questions])
    out, at = {}, 0
    for key, questions in done:
        out[key] = Written(questions, vectors[at : at + len(questions)])
        at += len(questions)
    return out, failed


async def _tried(writer: QuestionWriter, document: SourceDocument, wanted: int) -> list[Question] | AnamnesisError:
    try:
        return await writer.write(document, wanted)
    except AnamnesisError as error:
        return error


# The second step of a build: which of the written questions their documents answer.
JUDGED = 256  # ours: pairs judged at once, and kept in one commit
Pair = tuple[Question, SourceDocument]


class Drafts(NamedTuple):
    """Questions with the numbers of their documents, and their vectors (questions, dimension), float16."""

    questions: list[Question]
    owners: list[int]
    vectors: Vectors


async def keep_answered(
    collection: Collection,
    drafts: Drafts,
    judge: AnswerabilityJudge | RoundTrip,
    work: Work,
    progress: Progress | None,
) -> Drafts:
    """The questions that their documents answer, each with the span that supports it."""
    kept: list[Question] = []
    rows: list[int] = []
    for at in range(0, len(drafts.questions), JUDGED):
        here = range(at, min(at + JUDGED, len(drafts.questions)))
        pairs = [(drafts.questions[n], collection.documents[drafts.owners[n]]) for n in here]
        if isinstance(judge, RoundTrip):  # it takes the vectors that are there
            found = judge.judge_embedded(pairs, drafts.vectors[at : here.stop].astype(np.float32))
        else:
            found = await judge_kept(pairs, judge, work)
        for number, (question, _), judgement in zip(here, pairs, found, strict=True):
            if judgement.verdict is Verdict.FULL:
                kept.append(_supported(question, judgement))
                rows.append(number)
        if progress is not None:
            progress("judgements", here.stop, len(drafts.questions))
    return Drafts(kept, [drafts.owners[n] for n in rows], drafts.vectors[rows])


async def judge_kept(pairs: Sequence[Pair], judge: AnswerabilityJudge, work: Work) -> list[Judgement]:
    """Judgements, those of the pair alone taken from the work where they were made before."""
    if not judge.of_pair:
        return await judge.judge(pairs)
    keys = [judged_key(question.text, document, judge.name) for question, document in pairs]
    found = {key: judgement for key in keys if (judgement := work.judged(key)) is not None}
    missing = [n for n, key in enumerate(keys) if key not in found]
    fresh = {keys[n]: j for n, j in zip(missing, await judge.judge([pairs[n] for n in missing]), strict=True)}
    work.put_judged(fresh)
    found |= fresh
    return [found[key] for key in keys]


def _supported(question: Question, judgement: Judgement) -> Question:
    """The question with the span that the judge found, in the place of that it was written from."""
    if judgement.end <= judgement.start or not question.answers:
        return question
    if (question.answers[0].start, question.answers[0].end) == (judgement.start, judgement.end):
        return question
    first = question.answers[0].model_copy(update={"start": judgement.start, "end": judgement.end})
    return question.model_copy(update={"answers": (first, *question.answers[1:])})
