"""Before any research: the triage node (kind of turn, emergency, stand-alone question) and the completeness gate's."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from langgraph.types import interrupt

from graphs.completeness.contract import CompletenessGate, Decision, GateDecision
from graphs.completeness.explained import sparse_warning
from graphs.context import TurnContext, case_facts
from graphs.nodes.step import LIVE, SUMMARY, Body, live_gate, live_triage
from graphs.state import State
from graphs.triage.contract import AskedQuestion, Kind, RedFlag, SessionView, Triage, TriageDecision
from graphs.triage.emergency import QUIET, with_open
from graphs.triage.facts import Fact, changes_in
from tools.contract import Differential, Finding, FollowUpQuestion, Notice
from tools.notices import noted
from tools.text.language import language_of
from tools.text.questions import is_closed
from tools.text.tokens import tokens

REMEMBERED = 6  # earlier user messages that triage may read; ours
MEDICAL = (Kind.CASE, Kind.EVIDENCE, Kind.MULTIPLE_CHOICE, Kind.FOLLOW_UP)


def triage_node(triage: Triage) -> Body:
    """The node's body around a triage."""

    async def body(state: State, context: TurnContext) -> dict[str, Any]:
        view = session_view(state, context)
        decision = await triage.decide(context.text(state["message_key"]), view)
        decision = await on_given(triage, state, context, decision)
        decision = with_open(decision, context.text(state["message_key"]), view)
        details = decision.model_dump(mode="json", exclude={"question", "english", "facts", "kind"})
        details["changes"] = [c.model_dump() for c in changes_in(decision.facts, state["turn"])]
        given = {name: state["evidence"][name] for name in state.get("given", [])}
        kept = {"message_key": state["message_key"], "given": given}
        context.recorder.event("triage", kind_of_turn=decision.kind.value, **details, **kept)
        turn = _turn(state, context, decision)
        return {**turn, **_session(state, context, decision), **_open(decision), LIVE: lambda: live_triage(turn)}

    return body


def decided(state: State, context: TurnContext, decision: TriageDecision) -> dict[str, Any]:
    """The channels that a decision sets, of the turn and of the session."""
    return {**_turn(state, context, decision), **_session(state, context, decision), **_open(decision)}


def _open(decision: TriageDecision) -> dict[str, Any]:
    """The emergencies that stand after a turn; one that is not about the patient changes none."""
    unchanged = decision.kind in (*QUIET, Kind.OUT_OF_SCOPE, Kind.MULTIPLE_CHOICE)
    return {} if unchanged else {"open_flags": [f.model_dump() for f in decision.red_flags]}


def session_view(state: State, context: TurnContext, *, within: bool = False) -> SessionView:
    """What triage may know of the session. ``within``: it reads a reply within the turn, to whose message that is."""
    users = [m for m in state.get("messages", []) if m["role"] == "user"]
    earlier = users if within else [m for m in users if m["turn"] < state["turn"]]
    subject = state.get("subject") or {}
    asked = state.get("asked")
    differential = context.load(Differential, state.get("case_differential_key", ""))
    return SessionView(
        messages=tuple(context.text(m["key"]) for m in earlier[-REMEMBERED:]),
        turn=state["turn"],
        facts=case_facts(state, context),
        kind=subject.get("kind", ""),
        question=context.text(subject.get("question_key", "")),
        asked=AskedQuestion(**asked) if asked else None,
        leading=state.get("leading", ""),
        leading_en=_in_english(state.get("leading", ""), differential),
        about_case=bool(subject.get("about_case")),
        open_flags=tuple(RedFlag(**f) for f in state.get("open_flags", [])),
        options=bool(state.get("options")),
    )


def _in_english(leading: str, differential: Differential | None) -> str:
    """The English name of the leading diagnosis; that of a model's own as it was written."""
    ranking = differential.ranking if differential is not None else ()
    return next((d.name for d in ranking if not leading or leading in (d.name, d.name_zh)), leading)


def _turn(state: State, context: TurnContext, decision: TriageDecision) -> dict[str, Any]:
    kind = Kind.CASE if decision.kind is Kind.FOLLOW_UP else decision.kind
    options = state.get("options") or decision.options
    if options and kind in MEDICAL:
        kind = Kind.MULTIPLE_CHOICE
    put_right = changes_in(decision.facts, state["turn"])
    told = [corrected(put_right, decision.language).model_dump(mode="json")] if put_right else []
    question = decision.english if kind is Kind.EVIDENCE and decision.english else decision.question
    return {
        "kind": kind.value,
        **_explained(state, decision),
        "notices": told,
        "language": decision.language,
        "question_key": context.store.put(context.session, question),
        "closed": decision.closed,
        "options": options,
        "red_flags": [f.model_dump() for f in decision.red_flags],
        "replied": decision.kind is Kind.FOLLOW_UP,
        SUMMARY: f"{decision.kind.value}: {decision.reason}",
    }


def _explained(state: State, decision: TriageDecision) -> dict[str, Any]:
    """What a question about what was said is answered from: the session's differential, no new search; nor has a
    calculation one."""
    if decision.kind is Kind.CALCULATION:
        return {"explain": None, "path": "session"}
    if decision.explain is None:
        return {"explain": None}
    held = state.get("case_differential_key", "") if decision.explain.of_case else ""
    return {"explain": decision.explain.model_dump(mode="json"), "path": "session", "differential_key": held}


def corrected(put_right: tuple[Fact, ...], language: str) -> Notice:
    """What a correction changed, told to the user."""
    shown = "; ".join(f"“{c.text}” -> “{c.now}”" if c.now else f"“{c.text}”" for c in put_right)
    return noted("case_corrected", language, detail=shown)


def overturned(name: str, put_right: tuple[Fact, ...]) -> bool:
    """Whether a finding of this name, which an answer settled, was taken back."""
    named = set(tokens(name))
    return bool(named) and any(named <= set(tokens(c.text)) for c in put_right)


def _session(state: State, context: TurnContext, decision: TriageDecision) -> dict[str, Any]:
    told: dict[str, Any] = {}
    if decision.facts:
        told["case_key"] = context.store.put(context.session, decision.case)
        told["facts_key"] = context.keep_list(Fact, decision.facts)
    if decision.explain is not None and decision.explain.of_case and state.get("case_key"):
        return {"subject": {"kind": Kind.CASE.value, "question_key": state["case_key"]}} | told
    if decision.kind not in MEDICAL:
        return told
    update: dict[str, Any] = {
        "asked": None,
        "subject": {
            "kind": Kind.CASE.value if decision.kind is Kind.FOLLOW_UP else decision.kind.value,
            "question_key": context.store.put(context.session, decision.question),
            **({"about_case": "yes"} if decision.about_case else {}),
        },
        **told,
    }
    if decision.new_case:
        return update | {"findings": [], "offered": [], "leading": "", "case_differential_key": ""}
    settled = state.get("findings", [])
    shown = [*([asked] if (asked := state.get("asked")) else []), *state.get("offered", [])]
    if decision.answered is not None:
        settled = [f for f in settled if f["id"] != decision.answered.id] + [decision.answered.model_dump()]
    known = {f["id"] for f in settled}  # what was shown and not answered is not asked again
    settled = settled + [
        Finding(id=q["finding"], name=q["text"], clause="", present=None).model_dump()
        for q in shown
        if q["finding"] not in known
    ]
    update |= {"findings": settled, "offered": []}
    if put_right := changes_in(decision.facts, state["turn"]):
        update["findings"] = [f for f in settled if not overturned(f["name"], put_right)]
    return update


# Texts that came with a message: whether they make it medical, and whether it is answered from them alone.

READ = 1000  # characters of a given text that tell whether it is medical; ours


def from_given(state: State) -> bool:
    """Whether the turn is answered from the texts that came with it: nothing is searched for. A case is looked up."""
    return bool(state.get("given")) and state["kind"] not in (Kind.CASE, Kind.FOLLOW_UP)


async def on_given(triage: Triage, state: State, context: TurnContext, decision: TriageDecision) -> TriageDecision:
    """The decision; a question without a medical word is one of evidence when a text that came with it is medical, and
    one to a Chinese text stays Chinese."""
    if not state.get("given"):
        return decision
    texts = context.load_evidence(state, state["given"])
    if any(language_of(item.text[:READ]) == "zh" for item in texts):
        decision = decision.model_copy(update={"english": ""})
    if decision.kind is not Kind.OUT_OF_SCOPE:
        return decision
    read = [await triage.decide(item.text[:READ], SessionView()) for item in texts]
    if all(r.kind in (Kind.OUT_OF_SCOPE, Kind.SMALL_TALK, Kind.ASSISTANT) for r in read):
        return decision
    reason = "asks about the texts that came with it"
    closed = is_closed(decision.question)
    return decision.model_copy(update={"kind": Kind.EVIDENCE, "closed": closed, "reason": reason})


# The completeness gate's node: a first look-up in the graph, then direct, retrieve, or retrieve with a warning.
#
# Where the client can reply, the next best question is asked before a retrieval; what the reply tells is judged anew.


def completeness_node(gate: CompletenessGate, look_up: Any, triage: Triage) -> Body:
    """The node's body around a gate and the graph's look-up; ``triage`` reads a reply."""

    async def judge(state: State, context: TurnContext) -> tuple[GateDecision, Differential | None]:
        question = context.text(state["question_key"])
        first_look: Differential | None = None
        if state["kind"] == Kind.CASE:
            known = [Finding.model_validate(f) for f in state.get("findings", [])]
            first_look = await asyncio.to_thread(look_up, question, state["language"], known)
        return await gate.assess(question, state["kind"], first_look), first_look

    async def body(state: State, context: TurnContext) -> dict[str, Any]:
        decision, first_look = await judge(state, context)
        told: dict[str, Any] = {}
        if (question := question_for(state, decision, first_look)) is not None:
            told = await replied(state, context, triage, question)
            if told:
                state = cast(State, {**state, **told})
                decision, first_look = await judge(state, context)
        context.recorder.event("gate", language=state["language"], **decision.model_dump(mode="json"))
        direct = decision.decision is Decision.DIRECT and not state.get(
            "given"
        )  # given texts are judged like found ones
        first_key = context.keep(first_look) if first_look is not None else ""
        update: dict[str, Any] = {
            **told,
            "gate_key": context.keep(decision),
            "first_look_key": first_key,
            "path": "direct" if direct else "researched",
            LIVE: lambda: live_gate(decision, first_look),
            SUMMARY: f"{decision.decision.value}: {decision.reason}",
        }
        if direct:
            update["differential_key"] = first_key
        if decision.decision is Decision.RETRIEVE_WITH_WARNING:
            notice = sparse_warning(decision, state["language"])
            update["notices"] = [*update.get("notices", []), notice.model_dump(mode="json")]
        return update

    return body


# The next best question, asked before a case is researched: the machine stops at it and goes on with the reply.
# It is LangGraph's `interrupt`: the question is on disk with the checkpoint, so whoever comes back, after a kill
# too, finds it there. Only where a client said with the message that it can reply (`asks`); else nothing waits.

GO_ON = frozenset({"", "skip", "stop", "/skip", "跳过"})  # ours: replies that leave the question open
ABOUT_THE_CASE = (Kind.CASE, Kind.FOLLOW_UP)


def question_for(state: State, decision: GateDecision, first_look: Differential | None) -> FollowUpQuestion | None:
    """The question that is worth asking before research; none where enough was told, or an emergency was."""
    waits = state.get("asks") and not state["red_flags"] and decision.decision is not Decision.DIRECT
    if not waits or first_look is None or state["kind"] != Kind.CASE:
        return None
    settled = {f["id"] for f in state.get("findings", [])}
    return next((q for q in first_look.questions if q.finding not in settled), None)


async def replied(state: State, context: TurnContext, triage: Triage, question: FollowUpQuestion) -> dict[str, Any]:
    """Stop until the client replies; then the channels that the reply changes, read as a reply in a session is.

    Empty where it leaves the question open, or tells of something else than this case.
    """
    said = interrupt(question.model_dump(mode="json"))
    reply = str(said.get("reply", "") if isinstance(said, dict) else said).strip()
    if reply.casefold() in GO_ON:
        return {}
    asked = {"finding": question.finding, "text": question.text}
    now: State = {**state, "asked": asked}
    view = session_view(now, context, within=True)
    decision = with_open(await triage.decide(reply, view), reply, view)
    if decision.kind not in ABOUT_THE_CASE or decision.new_case:
        return {}
    # The record of the turn holds its first message; the characters of a reply are nobody's to look up.
    facts = [f.model_copy(update={"span": None}) if f.turn == state["turn"] else f for f in decision.facts]
    update = decided(now, context, decision.model_copy(update={"facts": tuple(facts)}))
    told_of = noted("replied", decision.language, question=question.text, reply=reply)
    told = [*update.pop("notices", []), told_of.model_dump(mode="json")]
    told_as = (("assistant", question.text), ("user", reply))
    spoken = [{"role": r, "turn": state["turn"], "key": context.store.put(context.session, t)} for r, t in told_as]
    context.recorder.event("replied", finding=question.finding, kind_of_turn=decision.kind.value)
    update.pop(SUMMARY, None)
    return {**update, "notices": told, "messages": spoken}
