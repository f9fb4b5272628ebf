"""The shapes of a model's replies when questions are written and judged (``questions.md`` and its neighbours)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from prompts.shown import Lenient, Number, Text, listed


def _verdict(value: Any) -> Any:
    """``full``, also for yes and in capitals; what says neither is ``no``."""
    said = str(value).strip().lower()
    if said in ("full", "fully", "yes", "true", "2"):
        return "full"
    return "part" if said.startswith("part") or said == "1" else "no"


class WrittenReply(Lenient):
    """A question, and the words of the document that answer it."""

    question: Text
    quote: Text = ""


class QuestionsReply(Lenient):
    """Questions that a document answers; none is a sound reply."""

    questions: Annotated[list[WrittenReply], BeforeValidator(listed)]


class JudgedReply(Lenient):
    """The steps of one judgement."""

    number: Number
    needed: Text = ""
    quote: Text = ""
    verdict: Annotated[Literal["full", "part", "no"], BeforeValidator(_verdict)]


class AnswerabilityReply(Lenient):
    """A judgement for each question."""

    judgements: Annotated[list[JudgedReply], BeforeValidator(listed)] = Field(default_factory=list)


class AheadReply(Lenient):
    """A text to search with: a hypothetical document, or an answer."""

    text: Text
