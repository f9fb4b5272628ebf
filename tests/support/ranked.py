"""A line of a differential with what a test does not care about filled in."""

from __future__ import annotations

from typing import Any

from tools.contract import RankedDisease


def ranked(disease: str, score: float = 0.5, **more: Any) -> RankedDisease:
    """The disease under its id, of no particular group, in the starter graph."""
    plain = {"name": disease, "icd10": "J00", "l2": "a", "l1": "b", "severity": "routine"}
    return RankedDisease(disease=disease, score=score, **{**plain, "evidence_id": f"graph:starter/{disease}", **more})
