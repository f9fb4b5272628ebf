"""The differential document filter (ICA-RAG): for a case only what supports stays; conflicts are named."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

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
