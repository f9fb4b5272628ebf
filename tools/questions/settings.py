"""Settings of the tool ``find_answered_question``."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from tools.evidence import Frozen

# ours: characters of a document that gets ``per_document`` questions: then there is about one for each statement, which
# has 94 characters on MedQuAD's pages and 118 in the library
USUAL = 2200


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
        nearest_documents: a search gives the nearest documents of the library by meaning alone, however far (QB-RAG's
            naive retrieval); else as the product searches.
        short_way: a question that a stored one answers is answered from there, without any further search.
        learn: questions of turns are noted for review, never a case; accepted ones are indexed.
    """

    guards: bool = True
    coverage: int | None = Field(default=None, ge=1)
    stored: Literal["written", "generated", "both"] = "both"
    ahead: Literal["off", "document", "answer"] = "off"
    nearest_documents: bool = False
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
            the library has 22 statements and each is asked for). A longer one gets more in proportion.
        longest: questions written for the longest document (ours).
        rank: the own document must be among the first so many for its question (ours: the best).
        merge: cosine from which two questions are one (ours).
        matrix: which further documents of a question are judged.
        judge: who keeps questions without a model: ``round_trip`` through the collection (ours), or ``pair``, the
            question and its document alone, as QB-RAG's answerability model judges.
    """

    per_document: int = Field(default=24, ge=1, le=200)
    longest: int = Field(default=600, ge=1, le=2000)
    rank: int = Field(default=1, ge=1)
    merge: float = Field(default=0.95, gt=0.0, le=1.0)
    matrix: MatrixSettings = Field(default_factory=MatrixSettings)
    judge: Literal["round_trip", "pair"] = "round_trip"

    def wanted(self, text: str) -> int:
        """Questions that are written for a text: about one for each statement, and ``per_document`` at least."""
        words = text.split()
        length = sum(map(len, words), len(words))  # white space counts once
        return max(self.per_document, min(self.longest, self.per_document * length // USUAL))


class SearchSettings(Frozen):
    """How an index of answered questions is searched.

    Attributes:
        spans: share of the words that answer a question in its nearness by meaning, beside the question itself (ours):
            a question that nobody foresaw is often nearer to the answer of another than to that question.
        words: share of BM25 over the questions in a score, beside the cosine (ours).
        support: what a well supported answer adds to a score, so that of two documents asked the same the one that says
            more of it stands first (ours).
        several: weight of a document's next best questions beside its best one: what is asked of it in several ways
            tells more than one near question (ours).
        coverage: mean number of questions a document, None for all; a sample of the whole set (QB-RAG).
        wordings: a question is compared in other wordings too, abbreviations and classes of medicines written out
            (ours).

    The shares were set on 150 reworded and 150 unforeseen questions of the library and 998 of MedQuAD; those around
    them (spans 0.3 to 0.5, words 0.05 to 0.15, several 0.3 to 1) do as well.
    """

    spans: float = Field(default=0.4, ge=0.0, le=1.0)
    words: float = Field(default=0.1, ge=0.0, le=1.0)
    support: float = Field(default=0.05, ge=0.0, le=1.0)
    several: float = Field(default=0.5, ge=0.0, le=1.0)
    coverage: float | None = Field(default=None, gt=0.0)
    wordings: bool = True

    @classmethod
    def published(cls, coverage: float | None = None) -> SearchSettings:
        """QB-RAG's own order: by the nearest question alone."""
        return cls(spans=0.0, words=0.0, support=0.0, several=0.0, coverage=coverage, wordings=False)
