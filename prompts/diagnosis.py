"""The shape of a diagnosis by a model, as ``diagnosis.md`` asks for it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator

from prompts.shown import Lenient


def _text(value: Any) -> Any:
    """A text; the first of several, "" for null."""
    if isinstance(value, list):
        value = value[0] if value else None
    return "" if value is None else value


class DiagnosisReply(Lenient):
    """The most likely disease, "" for none."""

    diagnosis: Annotated[str, BeforeValidator(_text)]
