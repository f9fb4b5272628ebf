"""The shape of a model's summary of one document, as ``summary.md`` asks for it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator

from prompts.shown import Lenient


def _text(value: Any) -> Any:
    return "" if value is None else value


class SummaryReply(Lenient):
    """Whether a document is useful to a question, and what it says to it."""

    useful: bool
    summary: Annotated[str, BeforeValidator(_text)] = ""
