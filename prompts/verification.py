"""The shape of a model's check of statements, as ``verification.md`` asks for it."""

from __future__ import annotations

from pydantic import Field

from prompts.shown import Lenient, Number


class CheckedReply(Lenient):
    """Whether the quotes of one statement support it."""

    number: Number
    reason: str = ""
    supported: bool


class VerificationReply(Lenient):
    """A verdict for every statement."""

    verdicts: list[CheckedReply] = Field(default_factory=list)
