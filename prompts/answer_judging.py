"""The shapes of a model's judgements of answers: guideline, adherence, relevancy, faithfulness, Mini-CEX."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from prompts.shown import Lenient, Number

MiniCexItem = Literal[
    "interviewing", "examination", "professionalism", "judgement", "counselling", "organisation", "overall"
]


def _lower(value: object) -> object:
    return value.strip().lower() if isinstance(value, str) else value


class GuidelineReply(Lenient):
    """The points that a good answer makes, most important first."""

    points: list[str] = Field(min_length=1)


class PointVerdict(Lenient):
    """How far an answer fulfils one point."""

    number: Number
    reason: str = ""
    verdict: Annotated[Literal["full", "part", "no"], BeforeValidator(_lower)]


class AdherenceReply(Lenient):
    """A verdict for every point."""

    verdicts: list[PointVerdict] = Field(min_length=1)


class RelevancyReply(Lenient):
    """What is asked, what is told, and how well the one meets the other, 1 to 5."""

    asked: str = ""
    told: str = ""
    score: Annotated[Number, Field(ge=1, le=5)]


class StatementVerdict(Lenient):
    """Whether a statement rests on the supplied texts."""

    number: Number
    quote: str = ""
    verdict: Annotated[Literal["supported", "extrapolated", "unsupported"], BeforeValidator(_lower)]


class FaithfulnessReply(Lenient):
    """A verdict for every statement."""

    verdicts: list[StatementVerdict] = Field(min_length=1)


class ScoredItem(Lenient):
    """An item of the Mini-CEX with its score, 1 to 9."""

    item: Annotated[MiniCexItem, BeforeValidator(_lower)]
    reason: str = ""
    score: Annotated[Number, Field(ge=1, le=9)]


class MiniCexReply(Lenient):
    """The seven items."""

    items: list[ScoredItem] = Field(min_length=1)
