"""The shapes of a model's verdict on one document, as ``filter_case.md`` and ``filter_question.md`` ask for them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator

from prompts.shown import Lenient


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
