"""Settings of the tool ``find_answered_question``."""

from __future__ import annotations

from pydantic import Field

from tools.evidence import Frozen


class QuestionSettings(Frozen):
    """How stored questions stand for the one asked.

    Attributes:
        guards: the least nearness and the comparison of subjects, both ours. Without them the nearest stored questions
            stand for the one asked, however far they are (QB-RAG).
        coverage: questions of a document that count, None for all of them. Which ones is drawn by their words, so that
            a smaller set lies within a larger one (ours; QB-RAG samples the whole set down).
    """

    guards: bool = True
    coverage: int | None = Field(default=None, ge=1)
