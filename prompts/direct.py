"""The shape of an answer from a model's own knowledge, as ``direct.md`` asks for it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator

from prompts.answer import Word
from prompts.shown import Lenient


def _text(value: Any) -> Any:
    """The text of a statement that came as an object."""
    return value.get("text", value) if isinstance(value, dict) else value


class DirectReply(Lenient):
    """Sentences that nothing was retrieved for; the option taken, what of a case needs help at once, "" for none."""

    statements: list[Annotated[str, BeforeValidator(_text)]]
    option: Word = ""
    emergency: Word = ""
