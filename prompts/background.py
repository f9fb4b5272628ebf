"""The shape of background that a model writes, as ``background.md`` and ``background_question.md`` ask for it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator

from prompts.shown import Lenient


def _text(value: Any) -> Any:
    return "" if value is None else value


class BackgroundReply(Lenient):
    """Background on a point; "" when the model does not know it."""

    text: Annotated[str, BeforeValidator(_text)]
