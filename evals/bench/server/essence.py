"""What all clients must agree on: the diseases in their order, what is cited with its quotes, what is asked next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from graphs.answering.contract import Answer

TURNS = (
    "A 30-year-old woman has had palpitations and chest tightness since this morning.",
    "no",
    "Why not pulmonary embolism?",
)  # ours: a case, the answer to the follow-up question, a question about what was said


class Essence(NamedTuple):
    """Of one answer.

    Attributes:
        turn: its number in the session. diseases: ids, best first.
        citations: evidence id and quote, in the order of the statements. asked: ids of the findings asked for next.
    """

    turn: int
    diseases: tuple[str, ...]
    citations: tuple[tuple[str, str], ...]
    asked: tuple[str, ...]


def essence(answer: Answer | dict[str, Any]) -> Essence:
    """The essence of an answer, or of one as JSON."""
    whole = answer if isinstance(answer, Answer) else Answer.model_validate(answer)
    return Essence(
        whole.turn,
        tuple(ranked.disease for ranked in whole.differential),
        tuple((c.evidence_id, c.quote) for s in whole.statements for c in s.citations),
        tuple(question.finding for question in whole.follow_up_questions),
    )


def differences(ours: Sequence[Any], theirs: Sequence[Any]) -> list[str]:
    """In what two conversations differ, a named tuple with its ``turn`` for each; empty where they are the same."""
    found = [f"{len(ours)} turns against {len(theirs)}"] if len(ours) != len(theirs) else []
    for one, other in zip(ours, theirs, strict=False):
        found += [f"turn {one.turn}: {field}" for field in one._fields if getattr(one, field) != getattr(other, field)]
    return found
