"""Which diagnoses an answer to a case names, and the codes of these: what set-level scores and levels are counted on.

Without a language model the diagnoses are the first diseases of the differential: those with at least half of the
first one's belief, three at most. With one they are what its statements name, because the methods leave the choice to
the model; a statement that tells a diagnosis from others names these too, which lowers precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from graphs.answering.contract import Answer
from tools.contract import RankedDisease

if TYPE_CHECKING:
    from tools.icd10.linking import Linker

NAMED, HALF = 3, 0.5  # ours: diseases named at most; share of the first one's belief from which another is named


def leading(ranking: Sequence[RankedDisease]) -> list[RankedDisease]:
    """The diseases that a ranking names."""
    first = max((d.score for d in ranking), default=0.0)
    return [d for d in ranking[:NAMED] if d.score > 0 and d.score >= HALF * first]


def diagnosis_texts(answer: Answer, *, by_model: bool) -> tuple[str, ...]:
    """The texts that name the diagnoses of an answer, in its language: names of diseases, or a model's statements."""
    if by_model:
        return tuple(s.text for s in answer.statements)
    chinese = answer.language == "zh"
    return tuple((d.name_zh if chinese else "") or d.name for d in leading(answer.differential))


def codes_of(texts: Sequence[str], linker: Linker) -> frozenset[str]:
    """The ICD-10 categories that texts name."""
    return frozenset(code for text in texts for code in linker.codes(text))
