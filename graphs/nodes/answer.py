"""The nodes answer, report and verify.

The first two are each given what was kept, the graph's differential whole, and nothing else. The verify node holds
every cited statement to its evidence; then the turn's answer is complete. Whoever listens is told of it as soon as its
own statements are verified, before a report is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from langgraph.config import get_stream_writer

from graphs.answering.constrained import beside_flags
from graphs.answering.contract import Answer, Answerer, AnswerView, Draft, Said
from graphs.answering.drafting import Listener, listening
from graphs.answering.notices import notice
from graphs.answering.presentation import as_data, present, settled, verified_lines
from graphs.answering.rendering import markdown_so_far
from graphs.completeness.contract import GateDecision
from graphs.context import Questions, TurnContext, findings_of
from graphs.differential_filter.contract import Verdict
from graphs.judging.orders import REASON
from graphs.kads.contract import Selection
from graphs.nodes.finish import build, finish
from graphs.nodes.step import SUMMARY, Body
from graphs.reporting.contract import PARTS, Report, ReportDraft, Reporter, ReportStatement, report_of
from graphs.state import State
from graphs.triage.contract import Explain, Kind, RedFlag
from graphs.verification.contract import Verifier
from tools.contract import AnsweredQuestion, Differential, DocumentReading, Gap, Notice
from tools.evidence import Citation, Evidence, EvidenceId, Origin, Statement
from tools.library.contract import QuestionHit
from tools.text.language import HAN


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
