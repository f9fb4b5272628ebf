"""The shapes of a model's research: what it plans to search, reads, finds missing and selects, as ``.md`` files ask."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from prompts.shown import Lenient, Number, Numbers, Strict, Text, listed

# The shape of what a model read in the documents of a turn, as ``reading.md`` asks for it.

MOST = 200  # ours: sentences that a range may name; more is a slip
LABEL = re.compile(r"(?:\d{1,4}\.)?(\d{1,4})(?:\s*[-–]\s*(?:\d{1,4}\.)?(\d{1,4}))?")
DOCUMENT_STANCES = ("supports", "refutes", "mixed", "speaks", "silent")


def sentence_numbers(value: Any) -> list[int]:
    """The numbers of sentences of what a model gave for them: ``[2, "3.4", "5-7"]``, ``"[3.2], [3.5]"``, null."""
    items = value if isinstance(value, (list, tuple)) else [value]
    out: list[int] = []
    for first, last in (found.groups() for item in items for found in LABEL.finditer(str(item))):
        out += range(int(first), min(int(last or first), int(first) + MOST) + 1)
    return out


def _document_stance(value: Any) -> Any:
    """The word as the schema writes it; a word that it does not have says that the document speaks."""
    word = str(value).strip().strip(".").lower()
    return word if word in DOCUMENT_STANCES else "speaks"


SentenceNumbers = Annotated[list[int], BeforeValidator(sentence_numbers)]


class DocumentReply(Lenient):
    """A document that says something: its number, what it does to the question, and the sentences that say it."""

    number: Number
    stance: Annotated[
        Literal["supports", "refutes", "mixed", "speaks", "silent"], BeforeValidator(_document_stance)
    ] = "speaks"
    sentences: SentenceNumbers = Field(default_factory=list)


class NeedReply(Lenient):
    """A need, and the numbers of the documents that answer it."""

    number: Number
    documents: Numbers = Field(default_factory=list)


class MissingReply(Lenient):
    """What no document says: the need that it belongs to, 0 for a new one, what to search for, and the need in the
    reader's language where that is not English."""

    need: Number = 0
    query: str
    said: Text = ""

    @model_validator(mode="before")
    @classmethod
    def _bare(cls, value: Any) -> Any:
        """A bare phrase is a new need."""
        return {"query": value} if isinstance(value, str) else value


class ReadingReply(Lenient):
    """What each document says, which needs are answered, and what is missing."""

    documents: Annotated[list[DocumentReply], BeforeValidator(listed)]
    needs: Annotated[list[NeedReply], BeforeValidator(listed)] = Field(default_factory=list)
    missing: Annotated[list[MissingReply], BeforeValidator(listed)] = Field(default_factory=list)


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


# The shape of what a model finds missing, as ``gaps.md`` asks for it.


def _point(value: Any) -> Any:
    """A phrase, also out of an object that holds one."""
    if isinstance(value, dict):
        return next((v for v in value.values() if isinstance(v, str)), value)
    return value


class CoveredReply(Lenient):
    """A knowledge point, and the numbers of the summaries that give it."""

    need: str
    documents: Numbers = Field(default_factory=list)

    @model_validator(mode="before")
    @classmethod
    def _bare(cls, value: Any) -> Any:
        """A bare phrase is a point without documents."""
        return {"need": value} if isinstance(value, str) else value


class GapsReply(Lenient):
    """What is missing, most important first, and what is there."""

    missing: Annotated[list[Annotated[str, BeforeValidator(_point)]], BeforeValidator(listed)]
    covered: Annotated[list[CoveredReply], BeforeValidator(listed)] = Field(default_factory=list)


# Background that a model writes: on one point (`background.md`, `background_question.md`), or on several
# (`background_points.md`).


class BackgroundReply(Lenient):
    """Background on a point; "" when the model does not know it."""

    text: Text


class PointReply(BackgroundReply):
    """Background on the point of a number."""

    number: Number


class BackgroundPointsReply(Lenient):
    """Background on the points that the model knows."""

    points: list[PointReply] = Field(default_factory=list)


# The shape of a model's summary of one document, as `summary.md` asks for it.


class SummaryReply(Lenient):
    """Whether a document is useful to a question, and what it says to it."""

    useful: bool
    summary: Text = ""


# The shape of a model's search plan, as ``query_plan.md`` asks for it.


class TermReply(Strict):
    """A term of the plan."""

    text: str = Field(min_length=2, max_length=80)
    group: Literal["P", "I", "C", "O", "other"] = "other"
    synonyms: list[str] = Field(default_factory=list, max_length=8)
    broader: str = Field(default="", max_length=80)
    mesh: str = Field(default="", max_length=80)


class QueryPlanReply(Strict):
    """A search plan. ``since`` and ``until`` are years."""

    terms: list[TermReply] = Field(min_length=1, max_length=12)
    intent: Literal["treatment", "diagnosis", "prognosis", "aetiology", "harm", "prevention", "mechanism", "other"] = (
        "other"
    )
    since: int | None = Field(default=None, ge=1781, le=3000)  # PubMed's first year, and its open end
    until: int | None = Field(default=None, ge=1781, le=3000)
