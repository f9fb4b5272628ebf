"""What a build tells of itself: coverage, diversity, and how alike questions and documents are (QB-RAG, appendix E)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from tools.encoders import Vectors
from tools.questions.bags import bag
from tools.questions.collection import Collection
from tools.questions.contract import Nearness, Question

LOW_COVERAGE = 5.0  # ours: with 2 questions a document the paper falls below plain retrieval, with 8 it stands above
LOW_SHARE = 0.3  # ours: the paper keeps 0.6; half of that says that the documents answer little of what was written
SAMPLE = 1000  # ours: questions of the table of likeness; its means move by less than 0.01 with another sample
SEED = 20  # ours: of the sample


def diversity(by_document: Sequence[Sequence[Question]]) -> float:
    """Different content words over all content words of a document's questions, mean over documents; 0 without any."""
    ratios = []
    for questions in by_document:
        words = [token for question in questions for token in bag(question.text)]
        if words:
            ratios.append(len(set(words)) / len(words))
    return round(sum(ratios) / len(ratios), 4) if ratios else 0.0


def nearness(questions: Sequence[Question], vectors: Vectors, collection: Collection) -> Nearness:
    """The table of likeness, of a sample of the kept questions.

    Args:
        vectors: (questions, dimension).
    """
    if not questions:
        return Nearness()
    draw = np.random.default_rng(SEED)
    rows = np.sort(draw.choice(len(questions), min(SAMPLE, len(questions)), replace=False))
    chosen = np.asarray(vectors[rows], dtype=np.float32)
    documents = collection.nearness(chosen)
    own = [collection.number[questions[row].answers[0].document] for row in rows]
    columns = np.arange(len(rows))
    mine = documents[own, columns]
    others = (documents.sum(axis=0) - mine) / max(1, len(documents) - 1)
    same, other = _between(chosen, own)
    return Nearness(
        question_own_document=_mean(mine),
        question_other_document=_mean(others) if len(documents) > 1 else None,
        question_question_same_document=same,
        question_question_other_document=other,
    )


def siblings(questions: Sequence[Question], vectors: Vectors) -> float | None:
    """Mean cosine of two questions of one document, over a sample of documents; None where none has two."""
    rows: dict[str, list[int]] = defaultdict(list)
    for number, question in enumerate(questions):
        rows[question.answers[0].document].append(number)
    several = [members for _, members in sorted(rows.items()) if len(members) > 1]
    if not several:
        return None
    draw = np.random.default_rng(SEED)
    picked = draw.choice(len(several), min(SAMPLE, len(several)), replace=False)
    means = []
    for place in picked:
        held = np.asarray(vectors[several[place]], dtype=np.float32)
        near = held @ held.T
        count = len(held)
        means.append((near.sum() - np.trace(near)) / (count * (count - 1)))
    return _mean(np.array(means))


def warnings(share: float, coverage: float, empty: int, documents: int, foreign: int, lost: int) -> tuple[str, ...]:
    """What the reader must know of a build."""
    found = []
    if coverage < LOW_COVERAGE:
        found.append(
            f"Coverage is low: {coverage:.1f} questions a document, fewer than {LOW_COVERAGE:.0f}. Questions that were "
            "not foreseen are found better by a direct search: keep the fusion with it, or write more."
        )
    if share < LOW_SHARE:
        found.append(f"Only {share:.0%} of the questions were found answered.")
    if empty:
        found.append(f"{empty} of {documents} documents have no question; only a direct search finds them.")
    if foreign:
        found.append(
            f"{foreign} documents are not in English: the local writer has written no questions for them. "
            "A language model writes them (`--writer model`)."
        )
    if lost:
        found.append(
            f"{lost} given answers were left out, because their documents no longer hold them. "
            "Review the learnt questions."
        )
    return tuple(found)


def _between(vectors: Vectors, own: Sequence[int]) -> tuple[float | None, float | None]:
    """Mean cosine of pairs of one document, and of pairs of two."""
    near = vectors @ vectors.T
    same = np.equal.outer(np.array(own), np.array(own))
    pairs = np.triu(np.ones_like(same), 1).astype(bool)
    return _mean(near[same & pairs]), _mean(near[~same & pairs])


def _mean(values: Vectors) -> float | None:
    return round(float(values.mean()), 4) if values.size else None
