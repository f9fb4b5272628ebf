"""The answerability matrix beyond the generating pairs: which other documents answer a question (QB-RAG, future work).

Rows are questions, columns documents. The forms differ in the entries that are judged and in what stands for the rest:
``thresholded`` judges the entries of high similarity, and the rest is 0; ``completed_random`` and
``completed_thresholded`` judge some entries and complete the matrix by one of low rank; ``full`` judges every entry.
Known generating pairs stay 1.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from prompts.errors import InputError
from tools.encoders import Vectors
from tools.questions.collection import Collection
from tools.questions.contract import Answer, AnswerabilityJudge, Judgement, Question, Verdict
from tools.questions.round_trip import RoundTrip
from tools.questions.settings import MatrixSettings

MOST = 20_000_000  # ours: entries of a matrix that is completed in memory, some 200 MB
VALUES = {Verdict.FULL: 1.0, Verdict.PART: 0.5, Verdict.NO: 0.0}  # ours: half an answer is worth half
ANSWERED = 0.5  # ours: a completed entry above this is an answer; a part of an answer alone is none
ROUNDS = 50  # ours: rounds of completion; the change is below TOLERANCE after some 20
TOLERANCE = 1e-3  # ours: relative change of the matrix at which completion ends
SHRINK = 0.5  # ours: by which singular values are made smaller; less follows single entries, more loses all of them
BLOCK = 256  # ours: questions judged at once
Judged = dict[tuple[int, int], Judgement]
Mask = NDArray[np.bool_]


async def with_matrix(
    questions: Sequence[Question],
    vectors: Vectors,
    collection: Collection,
    judge: AnswerabilityJudge | RoundTrip,
    settings: MatrixSettings,
) -> list[Question]:
    """The questions with every document that the form of the settings says to answer them.

    Args:
        vectors: (questions, dimension). collection: embedded already.

    Raises:
        InputError: the matrix has too many entries for this form.
    """
    if settings.form == "vanilla" or not questions:
        return list(questions)
    count = len(questions) * len(collection.documents)
    if count > MOST:
        raise InputError(
            f"The answerability matrix would have {count:,} entries.", f"At most {MOST:,}: take fewer documents."
        )
    known = np.zeros((len(questions), len(collection.documents)), dtype=bool)
    for row, question in enumerate(questions):
        known[row, [collection.number[d] for d in question.documents]] = True
    chosen = entries(_similarity(collection, vectors), known, settings)
    judged = await _judged(questions, collection, judge, chosen & ~known)
    answered = _answered(known, chosen, judged, settings)
    return [_with(q, row, answered[row] & ~known[row], collection, judged) for row, q in enumerate(questions)]


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


async def _judged(
    questions: Sequence[Question], collection: Collection, judge: AnswerabilityJudge | RoundTrip, wanted: Mask
) -> Judged:
    places = [(int(row), int(column)) for row, column in zip(*np.nonzero(wanted), strict=True)]
    found: Judged = {}
    for at in range(0, len(places), BLOCK):
        part = places[at : at + BLOCK]
        pairs = [(questions[row], collection.documents[column]) for row, column in part]
        found.update(zip(part, await judge.judge(pairs), strict=True))
    return found


def _answered(known: Mask, chosen: Mask, judged: Judged, settings: MatrixSettings) -> Mask:
    values = known.astype(np.float32)
    for place, judgement in judged.items():
        values[place] = VALUES[judgement.verdict]
    if settings.form.startswith("completed"):
        values = complete(values, chosen, settings.rank)
    return np.asarray((values > ANSWERED) | known)


def _with(question: Question, row: int, more: Mask, collection: Collection, judged: Judged) -> Question:
    """The question with further documents; what was only completed has no span of its own: the whole document."""
    answers = list(question.answers)
    for column in np.flatnonzero(more).tolist():
        judgement = judged.get((row, column))
        document = collection.documents[column]
        start, end = (judgement.start, judgement.end) if judgement else (0, len(document.text))
        answers.append(Answer(document=document.id, start=start, end=end, support=ANSWERED))
    return question.model_copy(update={"answers": tuple(answers)})
