"""The report node: for a case whose report was asked for, beside the answer and from the same evidence."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from graphs.answering.contract import Draft
from graphs.context import TurnContext
from graphs.nodes.answer import answer_view
from graphs.nodes.step import SUMMARY, Body
from graphs.reporting.contract import PARTS, Report, ReportDraft, Reporter, ReportStatement, report_of
from graphs.state import State
from graphs.verification.contract import Verifier
from tools.contract import Notice
from tools.evidence import Evidence


def report_node(reporter: Reporter) -> Body:
    """The node's body around a reporter."""

    async def body(state: State, context: TurnContext) -> dict[str, Any]:
        draft = await reporter.report(answer_view(state, context))
        if draft.dropped:
            context.recorder.event("left_out", of="report", statements=list(draft.dropped))
        return {"report_key": context.keep(draft), SUMMARY: f"{len(draft.report.statements)} statements"}

    return body


async def verified_report(
    verifier: Verifier, draft: ReportDraft, known: Mapping[str, Evidence]
) -> tuple[Report, list[Notice]]:
    """The report with every part held to its evidence, and the notices of the parts; what is dropped is gone."""
    parts = [(part, discipline) for part in PARTS for discipline in _disciplines(draft.report.of(part))]
    sections = [[s for s in draft.report.of(p) if s.discipline == d] for p, d in parts]
    checked = await asyncio.gather(
        *(verifier.verify(Draft(statements=tuple(s.statement for s in section)), known) for section in sections)
    )
    statements = tuple(
        ReportStatement(part=part, discipline=discipline, statement=statement)
        for (part, discipline), verified in zip(parts, checked, strict=True)
        for statement in verified.statements
    )
    notices = [n for verified in checked for n in verified.notices]
    return report_of(statements, draft.report.questions), [*draft.notices, *notices]


def _disciplines(statements: Sequence[ReportStatement]) -> list[Any]:
    """The disciplines of a part in order of first appearance; None for a part without them."""
    return list(dict.fromkeys(s.discipline for s in statements))
