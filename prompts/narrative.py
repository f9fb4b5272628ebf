"""The shapes of a model's replies when a question is told as a narrative (``narrative.md``, ``narrative_check.md``)."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator

from prompts.shown import Lenient


def _text(value: Any) -> Any:
    return "" if value is None else value


class NarrativeReply(Lenient):
    """The narrative; "" where none keeps what the answer needs."""

    narrative: Annotated[str, BeforeValidator(_text)]


class NarrativeCheckReply(Lenient):
    """Whether the narrative has the same answer, and why."""

    same: bool
    reason: Annotated[str, BeforeValidator(_text)] = ""
