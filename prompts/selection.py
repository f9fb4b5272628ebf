"""The shape of a model's selection of documents, as ``selection.md`` asks for it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from prompts.reading import SentenceNumbers
from prompts.shown import Lenient, Number, Numbers


class KeptReply(Lenient):
    """A document that is kept: its number, the numbers of the requirements that it covers, and why."""

    number: Number
    covers: Numbers = Field(default_factory=list)
    reason: str = ""

    @model_validator(mode="before")
    @classmethod
    def _bare(cls, value: Any) -> Any:
        """A bare number is a document without a reason."""
        return {"number": value} if isinstance(value, (int, str)) else value


class SelectionReply(Lenient):
    """The documents that are kept, the most useful first."""

    keep: list[KeptReply]


# The shapes of a model's verdict on one document, as `filter_case.md` and `filter_question.md` ask for them.


def _word(value: Any) -> Any:
    """The word as the schema writes it."""
    return value.strip().strip(".").lower() if isinstance(value, str) else value


def _share(value: Any) -> float:
    """A share of 0..1: percent are taken as such, what is no number as half."""
    try:
        number = float(str(value).strip().rstrip("%"))
    except ValueError:
        return 0.5
    return min(max(number / 100 if number > 1 else number, 0.0), 1.0) if number == number else 0.5


Share = Annotated[float, BeforeValidator(_share)]


class VerdictReply(Lenient):
    """A stance, why, and in 0..1 how well the document supports or helps to answer."""

    reason: str = ""
    stance: Annotated[str, BeforeValidator(_word)]
    support: Share = 0.5


class CaseVerdictReply(VerdictReply):
    """Whether a document supports one of the diagnoses considered in a case."""

    stance: Annotated[Literal["supports", "conflicts", "irrelevant"], BeforeValidator(_word)]


class QuestionVerdictReply(VerdictReply):
    """What a document does to a question."""

    stance: Annotated[Literal["supports", "refutes", "relevant", "irrelevant"], BeforeValidator(_word)]


# The shape of a model's choice of documents with what each does, as `choosing.md` asks for it.

STANCES = ("supports", "refutes", "conflicts", "relevant", "irrelevant")
OTHER = {"silent": "irrelevant"}  # a word of the reading's that a model may take over; every other one is relevant


def _stance(value: Any) -> Any:
    word = str(value).strip().strip(".").lower()
    return word if word in STANCES else OTHER.get(word, "relevant")


class ChosenReply(KeptReply):
    """A document that is kept, and what it does to the question or in the case."""

    stance: Annotated[
        Literal["supports", "refutes", "conflicts", "relevant", "irrelevant"], BeforeValidator(_stance)
    ] = "relevant"
    support: Share = 0.5
    sentences: SentenceNumbers = Field(default_factory=list)


class ChoosingReply(Lenient):
    """The documents that are kept, the most useful first."""

    keep: list[ChosenReply]
