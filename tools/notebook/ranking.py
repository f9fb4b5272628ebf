"""A ranking of diseases as people read it: the first rows, with what speaks for and against each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tools.notebook.markup import element, listed, table

if TYPE_CHECKING:
    from tools.contract import RankedDisease

ROWS = 5  # diseases shown, as on the command line; the JSON form has all
LEAST_SHARE = 0.01  # ours: belief below which a disease is not shown
HEADS = {
    "en": ("", "Disease", "ICD-10", "Share", "For", "Against"),
    "zh": ("", "疾病", "ICD-10", "占比", "支持", "不支持"),
}


def shown_diseases(ranking: Sequence[RankedDisease]) -> list[RankedDisease]:
    """The first diseases of a ranking that are worth a row."""
    return [d for d in ranking[:ROWS] if d.score >= LEAST_SHARE] or list(ranking[:1])


def disease_name(disease: RankedDisease, language: str) -> str:
    """Its name in the language, where it has one."""
    return disease.name_zh if language == "zh" and disease.name_zh else disease.name


def ranking_table(ranking: Sequence[RankedDisease], language: str = "en") -> Any:
    """The table; ``language`` is ``en`` or ``zh``."""
    rows = (
        (
            str(place),
            element("b", disease_name(disease, language)),
            disease.icd10,
            f"{disease.score:.0%}",
            listed(disease.findings_for),
            listed(disease.findings_against),
        )
        for place, disease in enumerate(shown_diseases(ranking), start=1)
    )
    return table(HEADS["zh" if language == "zh" else "en"], rows)
