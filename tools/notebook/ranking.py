"""A ranking of diseases as people read it: the first rows, with what speaks for and against each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tools.messages import messages
from tools.notebook.markup import element, listed, table

if TYPE_CHECKING:
    from tools.contract import RankedDisease

ROWS = 5  # diseases shown, as on the command line; the JSON form has all
LEAST_SHARE = 0.01  # ours: belief below which a disease is not shown


def shown_diseases(ranking: Sequence[RankedDisease]) -> list[RankedDisease]:
    """The first diseases of a ranking that are worth a row."""
    return [d for d in ranking[:ROWS] if d.score >= LEAST_SHARE] or list(ranking[:1])


def ranking_table(ranking: Sequence[RankedDisease], language: str = "en") -> Any:
    """The table; ``language`` is ``en`` or ``zh``."""
    words = messages(language)
    heads = ("", *(words[f"answer.{name}"] for name in ("disease", "icd10", "share", "for", "against")))
    rows = (
        (
            str(place),
            element("b", words.name_of(disease)),
            disease.icd10,
            f"{disease.score:.0%}",
            listed(disease.findings_for),
            listed(disease.findings_against),
        )
        for place, disease in enumerate(shown_diseases(ranking), start=1)
    )
    return table(heads, rows)
