"""The shape of what a model finds missing, as ``gaps.md`` asks for it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, model_validator

from prompts.shown import Lenient, Numbers


def _listed(value: Any) -> Any:
    """A list, also of one bare value; nothing for null."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


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

    missing: Annotated[list[Annotated[str, BeforeValidator(_point)]], BeforeValidator(_listed)]
    covered: Annotated[list[CoveredReply], BeforeValidator(_listed)] = Field(default_factory=list)
