"""The answerability matrix beyond the generating pairs: which other documents answer a question (QB-RAG, future work).

Rows are questions, columns documents. The forms differ in the entries that are judged and in what stands for the rest:
``thresholded`` judges the entries of high similarity, and the rest is 0; ``completed_random`` and
``completed_thresholded`` judge some entries and complete the matrix by one of low rank; ``full`` judges every entry.
Known generating pairs stay 1.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prompts.errors import InputError
from tools.encoders import Vectors
from tools.questions.collection import Collection, Progress
from tools.questions.contract import Answer, AnswerabilityJudge, Judgement, Question, Verdict
from tools.questions.round_trip import RoundTrip
from tools.questions.settings import MatrixSettings
from tools.questions.work import Work, judge_kept

MOST = 40_000_000  # ours: entries of a matrix that is completed in memory, some 300 MB
VALUES = {Verdict.FULL: 1.0, Verdict.PART: 0.5, Verdict.NO: 0.0}  # ours: half an answer is worth half
ANSWERED = 0.5  # ours: a completed entry above this is an answer; a part of an answer alone is none
ROUNDS = 50  # ours: rounds of completion; the change is below TOLERANCE after some 20
TOLERANCE = 1e-3  # ours: relative change of the matrix at which completion ends
SHRINK = 0.5  # ours: by which singular values are made smaller; less follows single entries, more loses all of them
BLOCK = 256  # ours: questions, or pairs, that are judged at once and kept in one commit
Judged = dict[int, dict[int, Judgement]]  # by row and column
Mask = NDArray[np.bool_]


class Matrix(NamedTuple):
    """What a matrix is judged with: a collection that is embedded already, a judge, and where judgements are kept."""

    collection: Collection
    judge: AnswerabilityJudge | RoundTrip
    work: Work
    progress: Progress | None = None


def check_size(questions: int, documents: int, settings: MatrixSettings) -> None:
    """Raise InputError where a matrix of at most so many questions would not fit into memory."""
    count = questions * documents
    if settings.form != "vanilla" and count > MOST:
        raise InputError(
            f"The answerability matrix may have {count:,} entries; at most {MOST:,} fit.",
            "Take fewer documents, or fewer questions a document.",
        )


async def with_matrix(
    questions: Sequence[Question], vectors: Vectors, matrix: Matrix, settings: MatrixSettings
) -> list[Question]:
    """The questions with every document that the form of the settings says to answer them.

    Args:
        vectors: (questions, dimension).

    Raises:
        InputError: the matrix has too many entries for this form.
    """
    if settings.form == "vanilla" or not questions:
        return list(questions)
    collection = matrix.collection
    check_size(len(questions), len(collection.documents), settings)
    known = np.zeros((len(questions), len(collection.documents)), dtype=bool)
    for row, question in enumerate(questions):
        known[row, [collection.number[d] for d in question.documents]] = True
    chosen = entries(_similarity(collection, vectors), known, settings)
    judged = await _judged(questions, vectors, matrix, chosen & ~known)
    answered = _answered(known, chosen, judged, settings)
    more = answered & ~known
    return [_with(q, vectors[row], more[row], collection, judged.get(row, {})) for row, q in enumerate(questions)]


def entries(similarity: Vectors, known: Mask, settings: MatrixSettings) -> Mask:
    """The entries that are judged, (questions, documents); the known ones always count.

    Args:
        similarity: (questions, documents).
    """
    if settings.form == "full":
        return np.ones_like(known)
    if settings.form == "completed_random":
        drawn = np.random.default_rng(settings.seed).random(known.shape) < settings.share
        return np.asarray(drawn | known)
    least = settings.threshold if settings.threshold is not None else np.quantile(similarity, 1 - settings.share)
    return np.asarray((similarity >= least) | known)


def complete(values: Vectors, observed: Mask, rank: int) -> Vectors:
    """A matrix of at most ``rank`` that keeps near what is observed: soft-thresholded singular values, in rounds.

    Args:
        values: (rows, columns); what is not observed is not read. observed: the same shape.

    Returns:
        Array (rows, columns): observed entries as they are, the others estimated.
    """
    filled = np.where(observed, values, 0.0).astype(np.float64)
    most = max(1, min(rank, *values.shape))
    for _ in range(ROUNDS):
        left, sizes, right = _singular(filled, most)
        low = (left * np.maximum(sizes - SHRINK, 0.0)) @ right
        after = np.where(observed, values, low)
        change = np.linalg.norm(after - filled) / max(float(np.linalg.norm(filled)), 1e-9)
        filled = after
        if change < TOLERANCE:
            break
    return np.asarray(filled, dtype=np.float32)


def _singular(matrix: NDArray[np.float64], most: int) -> tuple[NDArray[np.float64], ...]:
    """The largest singular values with their vectors."""
    if most >= min(matrix.shape) // 2:
        left, sizes, right = np.linalg.svd(matrix, full_matrices=False)
        return left[:, :most], sizes[:most], right[:most]
    from scipy.sparse.linalg import svds

    left, sizes, right = svds(matrix, k=most, v0=np.ones(min(matrix.shape)))
    return left, sizes, right


def _similarity(collection: Collection, vectors: Vectors) -> Vectors:
    blocks = [
        collection.nearness(np.asarray(vectors[at : at + BLOCK], dtype=np.float32)).T
        for at in range(0, len(vectors), BLOCK)
    ]
    return np.concatenate(blocks)


async def _judged(questions: Sequence[Question], vectors: Vectors, matrix: Matrix, wanted: Mask) -> Judged:
    """The judgements of the wanted entries other than "not answered"; those of the pair alone are kept in the work."""
    judge, documents = matrix.judge, matrix.collection.documents
    found: Judged = defaultdict(dict)
    if isinstance(judge, RoundTrip):  # it takes the vectors that are there, and compares a question once
        for at in range(0, len(questions), BLOCK):
            block = slice(at, at + BLOCK)
            made = judge.judge_entries(questions[block], np.asarray(vectors[block], dtype=np.float32), wanted[block])
            for row, column, judgement in made:
                found[at + row][column] = judgement
            _report(matrix, min(at + BLOCK, len(questions)), len(questions))
        return found
    places = [(int(row), int(column)) for row, column in zip(*np.nonzero(wanted), strict=True)]
    for at in range(0, len(places), BLOCK):
        part = places[at : at + BLOCK]
        pairs = [(questions[row], documents[column]) for row, column in part]
        for (row, column), judgement in zip(part, await judge_kept(pairs, judge, matrix.work), strict=True):
            if judgement.verdict is not Verdict.NO:
                found[row][column] = judgement
        _report(matrix, min(at + BLOCK, len(places)), len(places))
    return found


def _report(matrix: Matrix, done: int, total: int) -> None:
    if matrix.progress is not None:
        matrix.progress("matrix", done, total)


def _answered(known: Mask, chosen: Mask, judged: Judged, settings: MatrixSettings) -> Mask:
    values = known.astype(np.float32)
    for row, found in judged.items():
        for column, judgement in found.items():
            values[row, column] = VALUES[judgement.verdict]
    if settings.form.startswith("completed"):
        values = complete(values, chosen, settings.rank)
    return np.asarray((values > ANSWERED) | known)


def _with(
    question: Question, vector: Vectors, more: Mask, collection: Collection, judged: Mapping[int, Judgement]
) -> Question:
    """The question with further documents; what was only completed has the nearest window, and answers nothing."""
    answers = list(question.answers)
    for column in np.flatnonzero(more).tolist():
        found = judged.get(column)
        start, end = (
            collection.best_window(column, np.asarray(vector, dtype=np.float32))
            if found is None
            else (found.start, found.end)
        )
        document = collection.documents[column].id
        answers.append(Answer(document=document, start=start, end=end, support=ANSWERED, judged=found is not None))
    return question.model_copy(update={"answers": tuple(answers)})
