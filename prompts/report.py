"""The shape of a report on a case, as ``report.md`` asks for it (the parts of MedRAG's report)."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field

from prompts.answer import StatementReply
from prompts.shown import Lenient

# Disciplines of treatment; ours: the source sorts by the departments of its own hospital.
Discipline = Literal["medicines", "procedures", "physiotherapy", "psychology", "self_care", "general"]
DISCIPLINES: tuple[Discipline, ...] = get_args(Discipline)


def _discipline(value: Any) -> Any:
    """The discipline as the schema writes it; any other is general."""
    said = str(value).strip().lower().replace(" ", "_").replace("-", "_")
    return said if said in DISCIPLINES else "general"


class TreatmentReply(StatementReply):
    """A suggestion of treatment, and the discipline that it belongs to."""

    discipline: Annotated[Discipline, BeforeValidator(_discipline)] = "general"


class ReportReply(Lenient):
    """A report; a part of which nothing is known is empty."""

    diagnoses: list[StatementReply]
    explanation: list[StatementReply] = Field(default_factory=list)
    treatment: list[TreatmentReply] = Field(default_factory=list)
    evaluations: list[StatementReply] = Field(default_factory=list)
