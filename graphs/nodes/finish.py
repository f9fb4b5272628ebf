"""The end of a turn: the answer is put together, kept, and remembered by the session."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from langchain_core.messages import ToolMessage

from graphs.answering.constrained import beside_flags, constrained
from graphs.answering.contract import Answer, Draft, Usage, patient_of
from graphs.answering.notices import notice
from graphs.completeness.contract import GateDecision
from graphs.context import TurnContext, case_facts
from graphs.nodes.step import Body, fallback_notices
from graphs.reporting.contract import Report
from graphs.reviewing.asking import with_review
from graphs.state import State
from graphs.triage.contract import Kind, RedFlag
from graphs.triage.facts import changes_in
from prompts.metering import Usage as ModelUsage
from tools.contract import Differential, Gap, Notice, RankedDisease, Severity, ToolArtifact
from tools.evidence import Evidence, SameWork
from tools.gaps.tool import points_told
from tools.literature.strategy import works_among
from tools.notices import noted

RANKED = (Kind.CASE, Kind.EXPLAIN)  # kinds of turn whose answer carries the case's differential
# Kinds of turn after which the question that was asked before still stands.
UNASKED = (Kind.SMALL_TALK, Kind.ASSISTANT, Kind.OUT_OF_SCOPE, Kind.EXPLAIN, Kind.CALCULATION)
OPEN = "gaps_left_open"  # the gap tool says so by this code
REMEMBERED = (Kind.CASE, Kind.EVIDENCE, Kind.MULTIPLE_CHOICE)  # answers that a later turn may ask about


def finish(
    state: State,
    context: TurnContext,
    draft: Draft,
    evidence: Sequence[Evidence],
    report: Report | None = None,
    suggested: Sequence[str] = (),
) -> dict[str, Any]:
    """The channels that end a turn: answer, assistant message, and the question that the next message may answer.

    ``suggested``: questions that the answer suggests.
    """
    more = fallback_notices(context.meter, state["language"])
    answer = build(state, context, draft, evidence, more)
    answer = answer.model_copy(update={"report": report, "suggested": list(suggested)})
    shown = answer.text or "\n".join(n.text for n in answer.notices)
    message = {"role": "assistant", "turn": state["turn"], "key": context.store.put(context.session, shown)}
    asked = None
    if answer.follow_up_questions:
        first = answer.follow_up_questions[0]
        asked = {"finding": first.finding, "text": first.text}
    update: dict[str, Any] = {"answer_key": context.keep(answer), "messages": [message]}
    if state["kind"] not in UNASKED or asked is not None:
        update["asked"] = asked
        update["offered"] = [{"finding": q.finding, "text": q.text} for q in answer.follow_up_questions[1:]]
    if state["kind"] in REMEMBERED and not answer.abstained:
        update["last_answer_key"] = update["answer_key"]
    if state["kind"] == Kind.CASE and answer.differential:
        named = [d.name for d in answer.diagnoses] or [_name(answer.differential[0], state["language"])]
        update["leading"] = named[0]
        update["case_differential_key"] = state["differential_key"]
        update["case_answer_key"] = update["answer_key"]
    if answer.usage.model_calls:
        update["spent_before"] = answer.usage.session.model_dump()
    cited = {c.evidence_id for s in (report.statements if report is not None else ()) for c in s.statement.citations}
    fresh = {e.id: e for e in [*draft.evidence, *(e for e in evidence if e.id in cited)]}
    if fresh:
        update["evidence"] = context.keep_evidence(list(fresh.values()))
    return update


def _within_constraints(state: State, context: TurnContext, draft: Draft) -> Draft:
    """The draft, held to the allergies and medicines that the turn and the session's case state, whatever is asked."""
    case = context.text(state.get("case_key", ""))
    return constrained(draft, context.text(state["question_key"]), case, state["options"], state["language"])


def _name(disease: RankedDisease, language: str) -> str:
    return disease.name_zh if language == "zh" and disease.name_zh else disease.name


def build(
    state: State, context: TurnContext, draft: Draft, evidence: Sequence[Evidence], more: Sequence[Notice] = ()
) -> Answer:
    """The public answer of a turn, without its report and suggestions. ``more``: notices on how it was made."""
    draft = _within_constraints(state, context, draft)
    flagged = bool(state["red_flags"] or draft.emergency)
    if flagged and state["kind"] != Kind.EXPLAIN and not state.get("replied"):
        draft = draft.model_copy(update={"follow_up_questions": ()})
    differential = context.load(Differential, state["differential_key"])
    flags = [RedFlag(**f) for f in state["red_flags"]]
    told = beside_flags(differential, flags, state["kind"]) if state["kind"] in RANKED else None
    shown = told or Differential()
    gaps = context.load_list(Gap, state["gaps_key"])
    notices = _still_open([Notice(**n) for n in state["notices"]], draft, gaps, state["language"])  # type: ignore[arg-type]
    notices += draft.notices
    notices += more
    notices.sort(key=lambda n: n.severity is not Severity.DANGER)  # what must not be given leads
    answer = Answer(
        session=context.session,
        turn=state["turn"],
        run=context.run,
        question=context.text(state["question_key"]),
        kind=state["kind"],
        language=state["language"],
        emergency=[*flags, *draft.emergency],
        statements=list(draft.statements),
        evidence=list(evidence),
        same_work=_same_work(state, context, evidence),
        differential=list(shown.ranking),
        diagnoses=list(draft.diagnoses),
        outside=shown.outside,
        unexplained=None if shown.unexplained is None else list(shown.unexplained),
        unread=list(shown.unread),
        asides=list(dict.fromkeys(f.clause for f in shown.asides)),
        added=list(shown.added),
        hypotheses=list(shown.hypotheses),
        contrasts=list(shown.contrasts),
        similar_records=list(shown.similar),
        rare_diseases=list(shown.rare),
        patient=patient_of(context.text(state.get("case_key", "") or state["question_key"])),
        superseded=list(changes_in(case_facts(state, context))) if _on_case(state) else [],
        verdict=draft.verdict,
        choice=draft.choice,
        follow_up_questions=list(draft.follow_up_questions),
        notices=list({(n.code, n.text): n for n in notices}.values()),
        abstained=draft.abstained,
        answered_on=datetime.now(UTC).date().isoformat(),
        gate=context.load(GateDecision, state["gate_key"]),
        usage=_usage(state, context),
    )
    return with_review(answer, context.text(state.get("case_key", "")) if _on_case(state) else "")


def _still_open(notices: Sequence[Notice], draft: Draft, gaps: Sequence[Gap], language: str) -> list[Notice]:
    """The notices of the research, without the points that the answer has covered since, where it tells which."""
    if draft.left_open is None:
        return list(notices)
    told = [n for n in notices if n.code != OPEN]
    said = {gap.requirement: gap.told(language) for gap in gaps}
    points = [said.get(point, point) for point in draft.left_open]
    left = [notice(OPEN, language, points_told(points, language))] if points else []
    return [*told, *left]


def _same_work(state: State, context: TurnContext, evidence: Sequence[Evidence]) -> list[SameWork]:
    """The works of the turn's searches of which a document is among the evidence."""
    keys = [m.artifact["key"] for m in state["calls"] if isinstance(m, ToolMessage) and m.artifact is not None]
    artifacts = [a for key in keys if (a := context.load(ToolArtifact, key)) is not None]
    return works_among({e.document_id for e in evidence}, [step for a in artifacts for step in a.strategy])


def _on_case(state: State) -> bool:
    """Whether the turn is about the session's case, or asks of its leading diagnosis."""
    subject = state.get("subject") or {}
    return subject.get("kind") == Kind.CASE or bool(subject.get("about_case"))


def _usage(state: State, context: TurnContext) -> Usage:
    total = context.meter.total
    return Usage(
        tool_calls=len(state["outcomes"]),
        rounds=state["rounds"],
        model_calls=total.calls,
        input_tokens=total.input_tokens,
        output_tokens=total.output_tokens,
        cost=total.cost,
        unpriced=total.unpriced,
        by_role=dict(context.meter.by_role),
        session=ModelUsage.model_validate(state.get("spent_before", {})) + total,
        seconds=dict(state.get("seconds", {})),
    )


# The respond node: small talk, the assistant itself and what is out of scope end here, without a medical statement.

AGAIN = "again"  # courtesy after something was said


def respond_node() -> Body:
    """The node's body."""

    async def body(state: State, context: TurnContext) -> dict[str, Any]:
        kind = Kind(state["kind"])
        notice = noted(kind.value, state["language"], said=f"notice.{_said(state, kind)}")
        draft = Draft(notices=(notice,), abstained=kind is Kind.OUT_OF_SCOPE)
        return {"path": "responded", **finish(state, context, draft, [])}

    return body


def _said(state: State, kind: Kind) -> str:
    """Which message: courtesy is answered otherwise once there is something to go on from."""
    return AGAIN if kind is Kind.SMALL_TALK and state.get("last_answer_key") else kind.value
