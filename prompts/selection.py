"""The shape of a model's selection of documents, as ``selection.md`` asks for it."""

from __future__ import annotations

from typing import Any

from pydantic import Field, model_validator

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
