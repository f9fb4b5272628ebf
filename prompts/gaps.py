"""The shape of what a model finds missing, as ``gaps.md`` asks for it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, model_validator

from prompts.shown import Lenient, Number, Numbers, Text, listed


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
