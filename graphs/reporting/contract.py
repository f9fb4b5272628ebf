"""The report on a case, as MedRAG names its parts, and the judgement that writes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

from pydantic import Field

from prompts.answer import Discipline
from tools.contract import FollowUpQuestion, Notice
from tools.evidence import Evidence, Frozen, Statement

if TYPE_CHECKING:
    from graphs.answering.contract import AnswerView

Part = Literal["diagnoses", "explanation", "treatment", "evaluations"]
PARTS: tuple[Part, ...] = ("diagnoses", "explanation", "treatment", "evaluations")


class ReportStatement(Frozen):
    """A sentence of the report: its part, for treatment its discipline, and the statement, cited or parametric."""

    part: Part
    statement: Statement
    discipline: Discipline | None = None


class Report(Frozen):
    """A report on a case.

    Attributes:
        statements: part by part; `of` gives those of one.
        questions: what to ask the patient, by the graph, most useful first.
        unknown: parts of which nothing that was found says anything. They are told, not filled.
    """

    statements: tuple[ReportStatement, ...] = ()
    questions: tuple[FollowUpQuestion, ...] = ()
    unknown: tuple[Part, ...] = ()

    def of(self, part: Part) -> tuple[ReportStatement, ...]:
        """The sentences of a part."""
        return tuple(s for s in self.statements if s.part == part)


class ReportDraft(Frozen):
    """A report before it is verified, and the evidence that it cites.

    ``generated`` and ``dropped`` are as in an answer's draft: what rests on generated background, and what could not
    stand.
    """

    report: Report
    evidence: tuple[Evidence, ...] = ()
    generated: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    notices: tuple[Notice, ...] = ()
    dropped: tuple[str, ...] = ()


class Reporter(Protocol):
    """Writes the report on a case from what the answer is given, and from nothing else."""

    async def report(self, view: AnswerView) -> ReportDraft:
        """Every statement cites evidence of the view or of the draft, or is parametric."""


def report_of(statements: tuple[ReportStatement, ...], questions: tuple[FollowUpQuestion, ...]) -> Report:
    """The report of these statements, ordered by part; the parts without one are unknown."""
    ordered = tuple(s for part in PARTS for s in statements if s.part == part)
    told = {s.part for s in ordered}
    return Report(statements=ordered, questions=questions, unknown=tuple(p for p in PARTS if p not in told))
