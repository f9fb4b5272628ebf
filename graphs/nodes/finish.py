"""The end of a turn: every cited statement is held to its evidence, the answer put together, kept and remembered.

Whoever listens is told of the answer as soon as its own statements are verified, before a report is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from langchain_core.messages import ToolMessage
from langgraph.config import get_stream_writer

from graphs.answering.constrained import beside_flags, constrained
from graphs.answering.contract import Answer, Draft, Usage, patient_of
from graphs.answering.notices import notice
from graphs.answering.presentation import as_data, present, settled, verified_lines
from graphs.answering.rendering import markdown_so_far
from graphs.completeness.contract import GateDecision
from graphs.context import Questions, TurnContext, case_facts
from graphs.differential_filter.contract import Verdict
from graphs.nodes.answer import kept_evidence, verified_report
from graphs.nodes.step import SUMMARY, Body, fallback_notices
from graphs.reporting.contract import Report, ReportDraft
from graphs.reviewing.asking import with_review
from graphs.state import State
from graphs.triage.contract import Kind, RedFlag
from graphs.triage.emergency import agreeing, doubted, quotes
from graphs.triage.facts import changes_in
from graphs.verification.contract import Verifier
from prompts.metering import Usage as ModelUsage
from tools.contract import AnsweredQuestion, Differential, Gap, Notice, RankedDisease, Severity, ToolArtifact
from tools.evidence import Citation, Evidence, EvidenceId, Origin, SameWork, Statement
from tools.gaps.tool import points_told
from tools.library.contract import QuestionHit
from tools.literature.strategy import works_among
from tools.notices import noted
from tools.text.language import HAN

RANKED = (Kind.CASE, Kind.EXPLAIN)  # kinds of turn whose answer carries the case's differential
# Kinds of turn after which the question that was asked before still stands.
UNASKED = (Kind.SMALL_TALK, Kind.ASSISTANT, Kind.OUT_OF_SCOPE, Kind.EXPLAIN, Kind.CALCULATION)
OPEN = "gaps_left_open"  # the gap tool says so by this code
NEAR = "near_question_only"  # the tool of answered questions says so by this code
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
    told_by_tools = [Notice(**n) for n in state["notices"]]  # type: ignore[arg-type]
    if state["answered_key"]:  # another call found the same question
        told_by_tools = [n for n in told_by_tools if n.code != NEAR]
    notices = _still_open(told_by_tools, draft, gaps, state["language"])
    notices += draft.notices
    notices += more
    asked = context.text(state["question_key"])
    unsure = doubted(flags, asked, context.text(state["message_key"])) if draft.calm else []
    if unsure:
        said = "; ".join(f"“{quote}”" for flag in unsure for quote in quotes(flag))
        notices.append(notice("emergency_doubted", state["language"], said))
    notices.sort(key=lambda n: n.severity is not Severity.DANGER)  # what must not be given leads
    answer = Answer(
        session=context.session,
        turn=state["turn"],
        run=context.run,
        question=context.text(state["question_key"]),
        kind=state["kind"],
        language=state["language"],
        emergency=[*agreeing([f for f in flags if f not in unsure], draft.emergency, asked), *draft.emergency],
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


# The verify node.

USELESS = "nothing_useful_retrieved"  # the gap tool says the same by this code


def verify_node(verifier: Verifier, questions: Questions | None = None) -> Body:
    """The node's body around a verifier. ``questions``: of documents, to suggest; None suggests none."""

    async def body(state: State, context: TurnContext) -> dict[str, Any]:
        draft = context.load(Draft, state["draft_key"]) or Draft(abstained=True)
        kept = kept_evidence(state, context, context.load_list(Verdict, state["verdicts_key"]))
        answered = [a.evidence for a in context.load_list(AnsweredQuestion, state["answered_key"])]
        known = {e.id: e for e in [*answered, *draft.evidence, *kept]}
        verified = await verifier.verify(draft, known)
        notices = [*verified.notices, *_on_background(verified.statements, draft.generated, state)]
        notices += [*_nothing_useful(state, verified, [*kept, *answered]), *_no_report(state)]
        reported = context.load(ReportDraft, state.get("report_key", ""))
        report: Report | None = None
        if context.listened_to:
            whole = verified.model_copy(update={"notices": tuple(notices)})
            so_far = build(state, context, whole, _shown(verified, None, known, [e.id for e in kept]))
            _tell(so_far, reported=reported is not None)
        if reported is not None:
            known |= {e.id: e for e in reported.evidence if e.id not in known}
            report, told = await verified_report(verifier, reported, known)
            notices += [*told, *_on_background([s.statement for s in report.statements], reported.generated, state)]
        dropped = len(draft.statements) - len(verified.statements)
        context.recorder.event("verified", statements=len(verified.statements), dropped=dropped)
        beside = [e for e in verified.evidence if e.origin is Origin.GENERATED]
        if beside:
            context.recorder.event("background", generated=[e.id for e in beside])
        evidence = _shown(verified, report, known, [e.id for e in (*kept, *beside)])
        whole = verified.model_copy(update={"notices": tuple(notices)})
        summary = f"{len(verified.statements)} statements verified, {dropped} dropped"
        suggested = await _suggested(state, context, verified, questions) if questions is not None else []
        return {**finish(state, context, whole, evidence, report, suggested), SUMMARY: summary}

    return body


def _tell(answer: Answer, *, reported: bool) -> None:
    """Streams what stands of the answer from here on, where a sentence of it is verified, as a step ``verified``."""
    sentences = [{"text": line.text, "numbers": list(line.numbers)} for line in verified_lines(answer)]
    if not sentences:
        return
    shown = settled(present(answer), reported=reported)
    data = {"sentences": sentences, "view": as_data(shown)}
    get_stream_writer()({"step": "verify", "status": "verified", "text": markdown_so_far(shown), "data": data})


async def _suggested(state: State, context: TurnContext, draft: Draft, questions: Questions) -> list[str]:
    """What to ask next of the documents that the answer to a question of evidence cites; nothing in an emergency."""
    cited = cited_documents(draft.statements)
    if state["kind"] != Kind.EVIDENCE or state["red_flags"] or draft.emergency or not cited:
        return []
    asked = context.text(state["question_key"])
    said = [context.text(m["key"]) for m in state["messages"] if m["role"] == "user"]
    known = await asyncio.to_thread(questions, asked, cited)
    return suggestions(known, draft.statements, [*said, asked], state["language"])


def _shown(draft: Draft, report: Report | None, known: Mapping[str, Evidence], kept: Sequence[str]) -> list[Evidence]:
    """Cited evidence in order of first citation, the answer's before the report's, then what was kept beside."""
    told = [*draft.statements, *(s.statement for s in (report.statements if report is not None else ()))]
    cited = [c.evidence_id for s in told for c in s.quoted]
    return [known[key] for key in dict.fromkeys([*cited, *kept]) if key in known]


def _on_background(
    statements: Sequence[Statement], generated: Mapping[str, tuple[str, ...]], state: State
) -> list[Notice]:
    """Which parametric statements rest on generated background, by their place and its ids."""
    found = [
        f"{place} ({', '.join(generated[s.text])})"
        for place, s in enumerate(statements, start=1)
        if s.origin is Origin.PARAMETRIC and s.text in generated
    ]
    return [notice("rests_on_generated", state["language"], "; ".join(found))] if found else []


def _nothing_useful(state: State, draft: Draft, evidence: Sequence[Evidence]) -> list[Notice]:
    """That an answer was given although nothing useful was retrieved for it, where the gap tool did not say so."""
    found = any(e.origin in (Origin.RETRIEVED, Origin.CASE) for e in evidence)
    told = any(n["code"] == USELESS for n in state["notices"])
    if found or told or draft.abstained or state["path"] != "researched":
        return []
    return [notice(USELESS, state["language"])]


def _no_report(state: State) -> list[Notice]:
    """That a report was asked for, but this is no case."""
    wanted = state.get("report") and state["kind"] != Kind.CASE
    return [notice("report_of_cases_only", state["language"])] if wanted else []


# Which questions an answer suggests: those written with the documents that it cites, as far as it leaves them open.

SUGGESTED = 2  # ours: questions of documents; messages that go on from any answer stand behind them


def cited_documents(statements: Sequence[Statement]) -> list[str]:
    """Ids of the documents that statements cite, in order of first citation."""
    return list(dict.fromkeys(EvidenceId.parse(c.evidence_id).document_id for s in statements for c in s.citations))


def suggestions(
    known: Sequence[QuestionHit], statements: Sequence[Statement], said: Collection[str], language: str
) -> list[str]:
    """The first few known questions in a language that nobody asked and that no quote answers.

    Args:
        known: questions of the cited documents, those to suggest first before others.
        statements: of the answer; a quote of theirs answers a question when it overlaps its answering span.
        said: the messages of the session, and what the last one was read as.
        language: of the answer.
    """
    asked = {_plain(text) for text in said}
    quotes = [c for s in statements for c in s.citations]
    left = [
        hit.question.text
        for hit in known
        if bool(HAN.search(hit.question.text)) == (language == "zh")
        and _plain(hit.question.text) not in asked
        and not any(_answers(quote, hit) for quote in quotes)
    ]
    return list(dict.fromkeys(left))[:SUGGESTED]


def _answers(quote: Citation, hit: QuestionHit) -> bool:
    """Whether a quote overlaps the span that answers a question."""
    source = EvidenceId.parse(quote.evidence_id)
    start, end = ((source.start or 0) + place for place in (quote.start, quote.end))
    return source.document_id == hit.document.id and start < hit.question.end and hit.question.start < end


def _plain(text: str) -> str:
    return " ".join(text.casefold().rstrip(" ?？.。!！").split())
