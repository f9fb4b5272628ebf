"""Building the index of answered questions: written, judged, merged, indexed (QB-RAG, offline)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from prompts.errors import AnamnesisError, InputError
from tools.encoders import Encoder, Vectors
from tools.evidence import content_key
from tools.files import locked
from tools.questions import stored
from tools.questions.collection import Collection, Progress
from tools.questions.contract import (
    AnswerabilityJudge,
    Question,
    QuestionsReport,
    QuestionWriter,
    SourceDocument,
)
from tools.questions.given import standing
from tools.questions.judging import Candidates, keep_answered
from tools.questions.local import Names, WriterLocal
from tools.questions.matrix import with_matrix
from tools.questions.merging import merge, merged
from tools.questions.reporting import diversity, nearness, siblings, warnings
from tools.questions.round_trip import RoundTrip
from tools.questions.settings import BuildSettings
from tools.questions.timing import TimedEncoder
from tools.questions.work import WORK, Work, Written, written_key
from tools.text.language import language_of

CHUNK = 64  # ours: documents written and embedded between two commits; so many are lost by a kill


async def build(
    documents: Sequence[SourceDocument],
    folder: Path,
    encoder: Encoder,
    settings: BuildSettings | None = None,
    *,
    writer: QuestionWriter | None = None,
    judge: AnswerabilityJudge | None = None,
    names: Names | None = None,
    given: Sequence[Question] = (),
    progress: Progress | None = None,
) -> QuestionsReport:
    """Write questions for documents, keep those that they answer, and index them.

    What was written before for the same content is taken over; a build that was killed goes on.

    Args:
        folder: of the index; its work lies beside it (``<folder>.work.sqlite``).
        writer: None writes from the documents' own words. judge: None judges by a round trip through the collection.
        names: other names of what a text mentions, for the local writer.
        given: questions that are known to be answered: a library's own, and reviewed ones from use, each with its
            answers; those of other documents are left out, and those whose words the document no longer holds.
        progress: called with (stage, done, total).

    Raises:
        InputError: there is no document, or two have one id.
        DataError: the folder is somebody else's, or the work is damaged.
    """
    chosen = settings or BuildSettings()
    check(documents)
    timed = TimedEncoder(encoder)
    started = time.perf_counter()
    collection = Collection(documents)
    own = writer or WriterLocal(collection.rarity, names)
    content = _content(documents, own, judge, chosen, given, encoder)
    with locked(folder):
        held = stored.current(folder, content)
        if held is not None:
            return held.report.model_copy(update={"reused": len(documents)})
        work = Work(folder.with_name(f"{folder.name}{WORK}"), encoder.dimension)
        try:
            drafts, reused = await _write(collection, own, chosen, timed, work, progress)
            collection.embed(timed, progress)
            judging = judge or RoundTrip(collection, timed, chosen.rank)
            kept = await keep_answered(collection, drafts, judging, work, progress)
            written = (len(drafts.questions), len(kept.questions))
            kept, lost = _with_given(kept, given, collection, timed)
            report, rows = _merge(collection, written, kept, chosen, lost)
            vectors = kept.vectors[[number for number, _ in rows]]
            questions = await with_matrix([q for _, q in rows], vectors, collection, judging, chosen.matrix)
            report = report.model_copy(
                update={
                    "reused": reused,
                    "writer": own.name,
                    "judge": judging.name,
                    "seconds": round(time.perf_counter() - started, 3),
                    "encoder_seconds": round(timed.seconds, 3),
                }
            )
            stored.write(folder, questions, vectors, documents, encoder, report, content)
        finally:
            work.close()
    return report


def check(documents: Sequence[SourceDocument]) -> None:
    """Raise InputError where there is no document, or two have one id."""
    if not documents:
        raise InputError("There are no documents to write questions for.", "Name a collection that holds some.")
    seen: set[str] = set()
    for document in documents:
        if document.id in seen:
            raise InputError(f"Two documents have the id {document.id}.", "Give each its own.")
        seen.add(document.id)


def _content(
    documents: Sequence[SourceDocument],
    writer: QuestionWriter,
    judge: AnswerabilityJudge | None,
    settings: BuildSettings,
    given: Sequence[Question],
    encoder: Encoder,
) -> str:
    """sha256 over all that an index is made from."""
    parts = [f"{stored.FORMAT} {encoder.name} {judge.name if judge else RoundTrip.name} {settings.model_dump_json()}"]
    parts += [written_key(d, writer.name, settings.per_document, encoder.name) + d.date for d in documents]
    parts += [q.model_dump_json(serialize_as_any=True) for q in given]  # with the words of a quoted answer
    return content_key("\n".join(parts))


async def _write(
    collection: Collection,
    writer: QuestionWriter,
    settings: BuildSettings,
    encoder: Encoder,
    work: Work,
    progress: Progress | None,
) -> tuple[Candidates, int]:
    """The questions of every document, written where they are not there yet."""
    documents = collection.documents
    keys = [written_key(d, writer.name, settings.per_document, encoder.name) for d in documents]
    questions: list[Question] = []
    owners: list[int] = []
    vectors: list[Vectors] = []
    reused = 0
    for at in range(0, len(documents), CHUNK):
        part, of = documents[at : at + CHUNK], keys[at : at + CHUNK]
        known = work.written(of)
        reused += len(known)
        missing = [(key, document) for key, document in zip(of, part, strict=True) if key not in known]
        fresh, failed = await _written(missing, writer, settings.per_document, encoder)
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
    return Candidates(questions, owners, _stacked(vectors, encoder.dimension)), reused


async def _written(
    missing: Sequence[tuple[str, SourceDocument]], writer: QuestionWriter, wanted: int, encoder: Encoder
) -> tuple[dict[str, Written], AnamnesisError | None]:
    """What was written by key, and the first failure: what another document got is kept all the same."""
    tries = await asyncio.gather(*(_tried(writer, document, wanted) for _, document in missing))
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


def _with_given(
    kept: Candidates, given: Sequence[Question], collection: Collection, encoder: Encoder
) -> tuple[Candidates, int]:
    """What was kept with what was given, and how many given answers no longer stand in their documents."""
    held, lost = standing(given, collection)
    if not held:
        return kept, lost
    vectors = encoder.encode_queries([q.text for q in held]).astype(np.float16)
    owners = [collection.number[q.answers[0].document] for q in held]
    return Candidates(kept.questions + held, kept.owners + owners, np.concatenate((kept.vectors, vectors))), lost


def _merge(
    collection: Collection, written: tuple[int, int], kept: Candidates, settings: BuildSettings, lost: int
) -> tuple[QuestionsReport, list[tuple[int, Question]]]:
    stands = merge(kept.questions, kept.vectors, settings.merge, collection.rarity)
    rows = merged(kept.questions, stands)
    count = len(collection.documents)
    by_document: list[list[Question]] = [[] for _ in range(count)]
    for question, owner in zip(kept.questions, kept.owners, strict=True):
        by_document[owner].append(question)
    empty = sum(not questions for questions in by_document)
    share = written[1] / max(1, written[0])
    coverage = sum(len(q.answers) for _, q in rows) / count
    foreign = sum(language_of(d.text) != "en" for d in collection.documents)
    likeness = nearness(kept.questions, kept.vectors, collection)
    likeness = likeness.model_copy(update={"question_question_same_document": siblings(kept.questions, kept.vectors)})
    report = QuestionsReport(
        documents=count,
        empty=empty,
        written=written[0],
        kept=written[1],
        given=len(kept.questions) - written[1],
        merged=len(kept.questions) - len(rows),
        questions=len(rows),
        share_kept=round(share, 4),
        coverage=round(coverage, 4),
        diversity=diversity(by_document),
        nearness=likeness,
        warnings=warnings(share, coverage, empty, count, foreign, lost),
    )
    return report, rows


def _stacked(parts: Sequence[Vectors], dimension: int) -> Vectors:
    return np.concatenate(parts) if parts else np.empty((0, dimension), dtype=np.float16)
