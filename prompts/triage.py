"""The shape of a model's reading of a message, as ``triage.md`` asks for it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator

from prompts.shown import Lenient, Text


def _word(value: Any) -> Any:
    return value.strip().lower().replace(" ", "_").replace("-", "_") if isinstance(value, str) else value


class TriageReply(Lenient):
    """The kind of a message, the question as it stands alone, whether a yes or no answers it, and why."""

    kind: Annotated[
        Literal["case", "evidence", "multiple_choice", "small_talk", "out_of_scope"], BeforeValidator(_word)
    ]
    question: Text = ""
    closed: bool = False
    reason: Text = ""
