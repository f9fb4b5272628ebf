"""The answer and report nodes: each is given what was kept, the graph's differential whole, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from langgraph.config import get_stream_writer

from graphs.answering.constrained import beside_flags
from graphs.answering.contract import Answer, Answerer, AnswerView, Draft, Said
from graphs.answering.drafting import Listener, listening
from graphs.completeness.contract import GateDecision
from graphs.context import TurnContext, findings_of
from graphs.differential_filter.contract import Verdict
from graphs.judging.orders import REASON
from graphs.kads.contract import Selection
from graphs.nodes.step import SUMMARY, Body
from graphs.reporting.contract import PARTS, Report, ReportDraft, Reporter, ReportStatement, report_of
from graphs.state import State
from graphs.triage.contract import Explain, Kind, RedFlag
from graphs.verification.contract import Verifier
from tools.contract import AnsweredQuestion, Differential, DocumentReading, Gap, Notice
from tools.evidence import Evidence, Origin


def answer_node(answerer: Answerer) -> Body:
    """The node's body around an answerer."""

    async def body(state: State, context: TurnContext) -> dict[str, Any]:
        with listening(_listener() if context.listened_to else None):
            draft = await answerer.answer(answer_view(state, context))
        if draft.dropped:
            context.recorder.event("left_out", statements=list(draft.dropped))
        if draft.leaning is not None:
            context.recorder.event("leaning", **draft.leaning._asdict())
        if draft.stage is not None:
            context.recorder.event("verdict_stage", stage=draft.stage.value)
        state_of = "abstained" if draft.abstained else f"{len(draft.statements)} statements"
        return {"draft_key": context.keep(draft), SUMMARY: state_of}

    return body


def _listener() -> Listener:
    """Streams the draft of an answer as it is written, as steps of status ``text``."""
    write = get_stream_writer()
    return lambda text: write({"step": "answer", "status": "text", "text": text})


def answer_view(state: State, context: TurnContext) -> AnswerView:
    """All that an answer may rest on."""
    flags = tuple(RedFlag(**f) for f in state["red_flags"])
    whole = context.load(Differential, state["differential_key"])
    differential = beside_flags(whole, flags, state["kind"], replied=state.get("replied", False))
    if differential is not None and whole is not None:  # what a model proposed it may take up, whatever is told beside
        differential = differential.model_copy(update={"hypotheses": whole.hypotheses})
    verdicts = context.load_list(Verdict, state["verdicts_key"])
    return AnswerView(
        question=context.text(state["question_key"]),
        case=context.text(state.get("case_key", "")),
        kind=state["kind"],
        language=state["language"],
        path=state["path"],
        closed=state["closed"],
        options=state["options"],
        findings=tuple(findings_of(state, differential)),
        evidence=tuple(kept_evidence(state, context, verdicts)),
        background=tuple(e for e in context.load_evidence(state, state["found"]) if e.origin is Origin.GENERATED),
        verdicts=tuple(verdicts),
        selection=context.load(Selection, state["selection_key"]),
        differential=differential,
        answered=tuple(_answered(state, context)),
        gaps=tuple(context.load_list(Gap, state["gaps_key"])),
        readings=tuple(context.load_list(DocumentReading, state.get("readings_key", ""))),
        gate=context.load(GateDecision, state["gate_key"]),
        red_flags=flags,
        said=_said(state, context) if state["kind"] == Kind.EXPLAIN else None,
    )


def _answered(state: State, context: TurnContext) -> list[AnsweredQuestion]:
    """The answered questions, less those whose document the selector refused for speaking to machines."""
    selection = context.load(Selection, state["selection_key"])
    refused = {d.evidence_id for d in selection.dropped if d.reason == REASON} if selection is not None else set()
    answered = context.load_list(AnsweredQuestion, state["answered_key"])
    return [a for a in answered if a.evidence.id not in refused]


def _said(state: State, context: TurnContext) -> Said:
    """What a question about what was said is answered from; nothing when nothing was said."""
    asked = Explain.model_validate(state["explain"])
    key = state.get("case_answer_key", "") if asked.of_case else state.get("last_answer_key", "")
    held = bool(state.get("case_differential_key")) if asked.of_case else True
    return Said(
        asked=asked,
        case=context.text(state.get("case_key", "")) if asked.of_case else "",
        answer=context.load(Answer, key) if held else None,
    )


def kept_evidence(state: State, context: TurnContext, verdicts: list[Verdict]) -> list[Evidence]:
    """What the filter kept, then the graph's own entries and similar records, which nothing cuts."""
    kept = context.load_evidence(state, [v.evidence_id for v in verdicts if v.keep])
    whole = [
        e
        for e in context.load_evidence(state, state["found"])
        if e.origin is Origin.KNOWLEDGE_GRAPH or e.kind == "record"
    ]
    return kept + whole


# The report node: for a case whose report was asked for, beside the answer and from the same evidence.


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
