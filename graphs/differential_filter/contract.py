"""The differential document filter (ICA-RAG): for a case only what supports stays; conflicts are named."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

from graphs.judging.orders import REASON, instructing
from tools.contract import Differential, Finding
from tools.evidence import Evidence, Frozen


class Stance(StrEnum):
    """What a document does to the question."""

    SUPPORTS = "supports"
    REFUTES = "refutes"
    RELEVANT = "relevant"
    CONFLICTS = "conflicts"
    IRRELEVANT = "irrelevant"


class Verdict(Frozen):
    """Whether a document stays, its stance and why. ``support`` is in 0..1."""

    evidence_id: str
    keep: bool
    stance: Stance
    support: float
    reason: str


class DocumentFilter(Protocol):
    """Judges documents one by one."""

    async def judge(
        self,
        question: str,
        kind: str,
        findings: Sequence[Finding],
        differential: Differential | None,
        documents: Sequence[Evidence],
    ) -> list[Verdict]:
        """One verdict a document, in order.

        A case: keep what supports. Otherwise: keep what is relevant, refuting too.
        """


# What no filter may keep, whoever judges.


def unusable(documents: Sequence[Evidence]) -> list[Verdict]:
    """A verdict for each document that may not stay, whatever it says."""
    why = {
        **dict.fromkeys(instructing(documents), REASON),
        **{d.id: "retracted" for d in documents if not d.status.usable},
    }
    return [
        Verdict(evidence_id=i, keep=False, stance=Stance.IRRELEVANT, support=0.0, reason=reason)
        for i, reason in why.items()
    ]
