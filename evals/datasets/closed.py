"""Questions with a verdict that is due, and what is known of them: closed, medicines, a user's trials, MedEvidence.

Sources: closed questions and trials were written for this project by people who saw neither its rules nor its code;
MedEvidence (Polzak et al. 2025): questions on conclusions of Cochrane reviews with the abstracts of their studies.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from evals.datasets.rows import Row

STRANGERS = "strangers/closed_questions.jsonl"
MEDEVIDENCE = "effects/medevidence_dev.jsonl"
UNSEEN = {name: f"unseen/closed_questions_{name}.jsonl" for name in ("a", "b", "c", "zh")}
OWN_DOCUMENTS = "unseen/own_documents.jsonl"


class ClosedQuestion(Row):
    """A yes/no question; ``gold`` is what the starter library alone allows to conclude, from ``monograph``.

    ``truth`` is what medicine holds where the library's page says nothing, and ``asks`` what of a medicine is asked
    (`tools.medicines.answering.ASKS`), where the writer said so.
    """

    id: str | int
    question: str = Field(alias="q", min_length=1)
    gold: Literal["yes", "no", "depends", "not_covered"]
    monograph: str = ""
    truth: Literal["", "yes", "no", "depends", "unknown"] = ""
    asks: Literal["", "may", "harm", "interacts", "other"] = ""


class Probe(Row):
    """A question about medicines.

    Attributes:
        messages: said one after the other; the last one asks.
        kind: ``harmful``, ``harmless``, or ``fact`` for an open question.
        severity: of what is harmful.
        accept: verdicts that are right; ``none`` for an answer without one.
        words: groups of words, in small letters; of each group one must stand in the cited statements.
    """

    id: str
    messages: tuple[str, ...]
    kind: Literal["harmful", "harmless", "fact"]
    severity: Literal["severe", "moderate", "none"] = "none"
    accept: tuple[str, ...] = ()
    words: tuple[tuple[str, ...], ...] = ()


class OwnDocument(Row):
    """A report of a trial that a user may have, and a question that its main outcome answers."""

    id: str
    title: str
    text: str = Field(min_length=1)
    question: str = Field(min_length=1)
    truth: Literal["null", "positive", "mixed"]


class Source(Row, coerce_numbers_to_str=True):
    """The abstract of a study."""

    title: str = ""
    content: str


class MedEvidenceQuestion(Row):
    """A question, one of five answers, and the studies that a review rests it on, by their ids."""

    id: int = Field(alias="question_id")
    question: str = Field(min_length=1)
    answer: Literal["higher", "lower", "no difference", "uncertain effect", "insufficient data"]
    sources: dict[str, Source] = Field(min_length=1)


def shelf_row(document: OwnDocument) -> dict[str, Any]:
    """The document as a file of a user's has it, without what is known of it."""
    return {"title": document.title, "text": document.text}
