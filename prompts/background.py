"""Background that a model writes: on one point (``background.md``, ``background_question.md``), or on several
(``background_points.md``)."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from prompts.shown import Lenient, Number


def _text(value: Any) -> Any:
    return "" if value is None else value


class BackgroundReply(Lenient):
    """Background on a point; "" when the model does not know it."""

    text: Annotated[str, BeforeValidator(_text)]


class PointReply(BackgroundReply):
    """Background on the point of a number."""

    number: Number


class BackgroundPointsReply(Lenient):
    """Background on the points that the model knows."""

    points: list[PointReply] = Field(default_factory=list)
