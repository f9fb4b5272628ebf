"""Settings of the tool ``find_answered_question``."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from tools.evidence import Frozen


class QuestionSettings(Frozen):
    """How stored questions stand for the one asked.

    Attributes:
        guards: the least nearness and the comparison of subjects, both ours. Without them the nearest stored questions
            stand for the one asked, however far they are (QB-RAG).
        coverage: questions of a document that count, None for all of them. Which ones is drawn by their words, so that
            a smaller set lies within a larger one (ours; QB-RAG samples the whole set down).
        stored: which questions count: those written with the documents, those generated for them, or both.
        ahead: what a language model writes first, to search for in the question's place: a hypothetical ``document``
            (HyDE) or ``answer`` (QA-RAG); comparators of QB-RAG.
        short_way: a question that a stored one answers is answered from there, without any further search.
        learn: questions of turns are noted for review, never a case; accepted ones are indexed.
    """

    guards: bool = True
    coverage: int | None = Field(default=None, ge=1)
    stored: Literal["written", "generated", "both"] = "both"
    ahead: Literal["off", "document", "answer"] = "off"
    short_way: bool = False
    learn: bool = False


class MatrixSettings(Frozen):
    """Which further documents of a question are judged (QB-RAG, future work).

    Attributes:
        form: ``vanilla`` takes the generating pairs alone; the others are in `tools.questions.matrix`.
        threshold: similarity from which an entry is judged; None takes the top ``share``.
        share: of the entries that are judged (ours: the paper leaves it open).
        rank: of the completed matrix (ours: about as many as a collection has subjects). seed: of the random entries.
    """

    form: Literal["vanilla", "thresholded", "completed_random", "completed_thresholded", "full"] = "vanilla"
    threshold: float | None = None
    share: float = Field(default=0.05, gt=0.0, le=1.0)
    rank: int = Field(default=20, ge=1)
    seed: int = 0


class BuildSettings(Frozen):
    """How an index of answered questions is built offline.

    Attributes:
        per_document: questions written for a document (paper: about 20, 27 on MedQuAD; ours: 24, because a monograph of
            the library has 22 statements and each is asked for).
        rank: the own document must be among the first so many for its question (ours: the best).
        merge: cosine from which two questions are one (ours).
        matrix: which further documents of a question are judged.
    """

    per_document: int = Field(default=24, ge=1, le=200)
    rank: int = Field(default=1, ge=1)
    merge: float = Field(default=0.95, gt=0.0, le=1.0)
    matrix: MatrixSettings = Field(default_factory=MatrixSettings)


class SearchSettings(Frozen):
    """How an index of answered questions is searched.

    Attributes:
        words: share of BM25 over the questions in a score, beside the cosine (ours; 0 is QB-RAG's).
        support: what a well supported answer adds to a score, so that of two documents asked the same the one that says
            more of it stands first (ours; 0 is QB-RAG's).
        coverage: mean number of questions a document, None for all; a sample of the whole set (QB-RAG).
    """

    words: float = Field(default=0.2, ge=0.0, le=1.0)
    support: float = Field(default=0.05, ge=0.0, le=1.0)
    coverage: float | None = Field(default=None, gt=0.0)
