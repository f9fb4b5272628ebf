"""The request for a review, put on an answer: its reasons for programs, a notice for people."""

from __future__ import annotations

from graphs.answering.contract import Answer
from graphs.answering.notices import notice
from graphs.reviewing.rule import review_reasons


def with_review(answer: Answer, case: str) -> Answer:
    """The answer with the reasons for a review and their notice, unchanged where none is needed."""
    reasons = review_reasons(answer, case)
    if not reasons:
        return answer
    told = notice("clinician_review", answer.language, ", ".join(r.text for r in reasons))
    return answer.model_copy(update={"review_reasons": reasons, "notices": [*answer.notices, told]})
