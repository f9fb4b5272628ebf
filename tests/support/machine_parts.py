"""Small parts that drive the machine in tests: each does the least that its contract allows, and logs that it ran."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from graphs.answering.contract import AnswerView, Draft
from graphs.completeness.contract import Decision, GateDecision
from graphs.context import Limits, Parts
from graphs.differential_filter.contract import Stance, Verdict
from graphs.kads.contract import Dropped, Kept, Selection, SelectionContext
from graphs.planning.contract import PlannedCall, ResearchView
from graphs.reporting.contract import ReportDraft, ReportStatement, report_of
from graphs.triage.contract import Aspect, Explain, Kind, SessionView, TriageDecision
from graphs.triage.facts import facts_of
from prompts.errors import ServiceError, ToolError
from tools.contract import Differential, Finding, FollowUpQuestion, Outcome, ToolArtifact, ToolContext
from tools.evidence import Evidence, Origin, Statement, cite


class Query(BaseModel):
    query: str


@dataclass
class SearchTool:
    """Finds one text for any query; fails on demand."""

    name: str = "search_literature"
    log: list[str] = field(default_factory=list)
    contexts: list[ToolContext] = field(default_factory=list)
    description: str = "Search."
    arguments: type[BaseModel] = Query

    async def run(self, arguments: Query, context: ToolContext) -> ToolArtifact:
        self.log.append(f"tool {arguments.query}")
        self.contexts.append(context)
        context.tell("searching", terms=arguments.query)
        if arguments.query == "unavailable":
            raise ServiceError("The source is down.")
        if arguments.query == "refused":
            raise ToolError("That cannot be searched.")
        text = f"A fact about {arguments.query}."
        item = Evidence(
            id=f"library:{arguments.query.replace(' ', '-')}@0-{len(text)}",
            text=text,
            kind="passage",
            origin=Origin.RETRIEVED,
        )
        return ToolArtifact(tool=self.name, outcome=Outcome.OK, evidence=[item])


@dataclass
class Scripted:
    """All judgements at once. ``plan`` maps the round to the queries of that round."""

    log: list[str] = field(default_factory=list)
    plan_of: dict[int, list[str]] = field(default_factory=lambda: {1: ["croup"], 2: ["croup treatment"]})
    pause: dict[str, float] = field(default_factory=dict)
    views: list[Any] = field(default_factory=list)
    questions: tuple[FollowUpQuestion, ...] = ()  # of the first look at a case

    async def ran(self, name: str) -> None:
        self.log.append(name)
        await asyncio.sleep(self.pause.get(name, 0))

    async def decide(self, message: str, session: SessionView) -> TriageDecision:
        await self.ran("triage")
        self.views.append(session)
        if message.startswith("hello"):
            return TriageDecision(kind=Kind.SMALL_TALK, language="en", question=message, reason="a greeting")
        if message == "why":
            asked = Explain(aspect=Aspect.WHY)
            return TriageDecision(kind=Kind.EXPLAIN, language="en", question=message, explain=asked, reason="asks why")
        if session.asked is not None and message == "yes":
            answered = Finding(id=session.asked.finding, name="fever", clause=message)
            return TriageDecision(
                kind=Kind.FOLLOW_UP,
                language="en",
                question=session.case,
                facts=session.facts,
                answered=answered,
                reason="an answer",
            )
        kind = Kind.CASE if message.startswith("case") else Kind.EVIDENCE
        case = message if kind is Kind.CASE else ""
        return TriageDecision(
            kind=kind, language="en", question=message, facts=facts_of(case, session.turn), reason="by its first word"
        )

    async def assess(self, question: str, kind: str, first_look: Differential | None) -> GateDecision:
        await self.ran("gate")
        direct = "enough" in question
        return GateDecision(
            decision=Decision.DIRECT if direct else Decision.RETRIEVE,
            score=0.9 if direct else 0.1,
            theta1=0.8,
            theta2=0.2,
            reason="scripted",
        )

    async def plan(self, view: ResearchView) -> list[PlannedCall]:
        await self.ran(f"plan {view.round}")
        self.views.append(view)
        queries = self.plan_of.get(view.round, [])
        return [PlannedCall(tool="search_literature", arguments={"query": q}, reason=f"look for {q}") for q in queries]

    async def select(
        self,
        question: str,
        requirements: Sequence[str],
        candidates: Sequence[Evidence],
        limit: int,
        context: SelectionContext | None = None,
    ) -> Selection:
        await self.ran("select")
        kept = [Kept(evidence_id=e.id, covers=tuple(requirements), reason="first") for e in candidates[:limit]]
        dropped = [Dropped(evidence_id=e.id, reason="beyond the limit") for e in candidates[limit:]]
        return Selection(requirements=tuple(requirements), kept=tuple(kept), dropped=tuple(dropped), generated_share=0)

    async def judge(
        self, question: str, kind: str, findings: Any, differential: Any, documents: Sequence[Evidence]
    ) -> list[Verdict]:
        await self.ran("filter")
        return [
            Verdict(evidence_id=d.id, keep=True, stance=Stance.RELEVANT, support=1, reason="all stay")
            for d in documents
        ]

    async def answer(self, view: AnswerView) -> Draft:
        await self.ran("answer")
        self.views.append(view)
        statements = [
            Statement(text=e.text, origin=e.origin, citations=(cite(e, 0, len(e.text)),)) for e in view.evidence
        ]
        question = FollowUpQuestion(finding="fever", text="Do you have a fever?", gain=1.0)
        beside = FollowUpQuestion(finding="cough", text="Do you have a cough?", gain=0.5)
        asked = (question, beside) if view.kind == "case" else ()
        return Draft(statements=tuple(statements), follow_up_questions=asked, abstained=not statements)

    async def report(self, view: AnswerView) -> ReportDraft:
        await self.ran("report")
        told = [
            ReportStatement(
                part="diagnoses", statement=Statement(text=e.text, origin=e.origin, citations=(cite(e, 0, 6),))
            )
            for e in view.evidence
        ]
        return ReportDraft(report=report_of(tuple(told), ()), evidence=view.evidence)

    async def verify(self, draft: Draft, evidence: Any) -> Draft:
        await self.ran("verify")
        return draft


def parts(script: Scripted | None = None, tool: SearchTool | None = None, limits: Limits | None = None) -> Parts:
    """The machine's parts around a script."""
    script = script or Scripted()

    def look_up(case: str, language: str, known: Sequence[Finding]) -> Differential:
        script.log.append(f"look up with {len(known)} known")
        return Differential(findings=(Finding(id="cough", name="cough", clause="cough"),), questions=script.questions)

    return Parts(
        triage=script,
        gate=script,
        planner=script,
        tools=[tool or SearchTool(log=script.log)],
        selector=script,
        filter=script,
        answerer=script,
        verifier=script,
        reporter=script,
        look_up=look_up,
        requirements=lambda question, *_: [question],
        limits=limits or Limits(),
    )
