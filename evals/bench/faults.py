"""`anamnesis dev bench faults`: every role struck by every fault of a model or its server, over the assembled agent.

A turn passes when it ends in a valid answer, when a notice names the role that failed and no other (after a refused key
no role is asked again), and when no call outlasted its deadline. All roles are the model's here, also those that are
local by default. The planning of a search has a notice of its own, because searches are planned outside of turns too.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from pydantic import ValidationError

from agent.agent import Agent
from agent.loop import run
from agent.settings import load_settings
from evals.bench.frame import Figure, figures_of, report
from evals.bench.installation import quotes_exact
from evals.commands import JsonFile, write_json
from evals.scripted.player import in_form, play, reply_to, role_of, rounds
from evals.scripted.server import Request, Respond, Scripted, ScriptedModel, serving_by
from graphs.answering.contract import Answer
from graphs.triage.contract import Kind
from prompts.errors import AnamnesisError
from tools.messages import messages

# Every role of a turn, in which a reading stands for summary and gaps, and a choice for selection and filter; and the
# roles of these steps, each by itself as published methods have them. `graph` has no turn: it builds graphs.
ROLES = (
    "triage", "gate", "research", "query_plan", "gaps", "background", "selection", "answer", "report", "verification",
)  # fmt: skip
STEPS = ("summary", "gaps", "background", "selection", "filter")
CASE = (
    "I'm 39, male. I get a burning pain behind my breastbone after meals and on lying down, with a sour taste in my "
    "mouth. Antacids help. No weight loss, swallowing is fine, exercise doesn't bring it on."
)  # no sign of an emergency: a red flag is never a model's matter, so triage would not be asked
SEARCH_PLANNED = "search_planned_locally"
NAMES = messages("en").group("role")
GRACE = 1.0  # seconds beyond its deadline that a call may end; asked


class Struck(NamedTuple):
    """A turn under a fault: what is wrong with it, "" for nothing, and seconds that a call outlasted its deadline."""

    role: str
    fault: str
    wrong: str
    beyond: float
    seconds: float


class FaultyAgent:
    """The assembled agent at a server whose fault can be changed from turn to turn.

    Args:
        agent: with every role the model's. server: what it calls. answers: the server's, under ``now``.
    """

    def __init__(self, agent: Agent, server: ScriptedModel, answers: dict[str, Respond]) -> None:
        self._agent, self._server, self._answers = agent, server, answers

    def strike(self, role: str, fault: str) -> Struck:
        """A turn in which one role fails in one way."""
        self._answers["now"] = spoiling(role, fault)
        before = len(self._server.requests)
        started = time.monotonic()
        try:
            answer = self._agent.ask(CASE, report=True)
        except AnamnesisError as error:
            return Struck(role, fault, f"ended in an error: {error}", 0.0, time.monotonic() - started)
        seconds = time.monotonic() - started
        asked = any(role_of(r) == role for r in self._server.requests[before:])
        trace = run(self._agent.traces.events(answer.run))
        wrong = [] if asked else ["the role was not asked"]
        wrong += [*invalid(answer), *_told_wrongly(answer, trace, role, fault)]
        self._agent.delete_session(answer.session)
        return Struck(role, fault, "; ".join(wrong), self._beyond(trace), seconds)

    def _beyond(self, trace: Sequence[dict[str, Any]]) -> float:
        deadline = self._agent.settings.model_timeout
        return max((float(e.get("seconds", 0.0)) - deadline for e in trace if e["kind"] == "model"), default=0.0)


@contextmanager
def faulty_agent(deadline: float, home: Path | None = None, *, steps: bool = False) -> Iterator[FaultyAgent]:
    """An agent that fails on demand.

    Args:
        deadline: seconds that a judgement by the model may take.
        home: the data folder; None for the configured one.
        steps: each step of KGCC, KADS and the filter is a call of its own, as published.
    """
    together = {"together": not steps}
    answers: dict[str, Respond] = {"now": play}
    with serving_by(lambda request: answers["now"](request)) as server:
        values: dict[str, Any] = {} if home is None else {"home": home}
        settings = load_settings(
            model="faulty",
            model_timeout=deadline,
            roles={role: {"judge": "model"} for role in ROLES},
            literature={"live": "off", "mirror": None},
            gaps=together,
            selection=together,
            OPENAI_BASE_URL=server.url,
            OPENAI_API_KEY=None,
            **values,
        )
        with Agent(settings) as agent:
            yield FaultyAgent(agent, server, answers)


def command(
    deadline: Annotated[float, typer.Option(min=0.1, help="Seconds that a judgement by the model may take.")] = 2.0,
    json_file: JsonFile = None,
) -> None:
    """Strike every role with every fault, print what failed and the figures, and write all where asked."""
    from tqdm import tqdm

    from agent.cli.console import WideConsole

    struck: list[Struck] = []
    for steps in (False, True):
        with faulty_agent(deadline, steps=steps) as agent:
            pairs = [(role, fault) for role in (STEPS if steps else ROLES) for fault in FAULTS]
            struck += [agent.strike(role, fault) for role, fault in tqdm(pairs, unit=" turns")]
    for turn in struck:
        if turn.wrong:
            WideConsole().print(f"{turn.role}, {turn.fault}: {turn.wrong}")
    figures = outcome(struck)
    report(figures)
    write_json(json_file, {"figures": [f.model_dump() for f in figures], "turns": [t._asdict() for t in struck]})


def outcome(struck: Sequence[Struck]) -> list[Figure]:
    """What the matrix came to."""
    n = len(struck)
    return figures_of(
        "faults.",
        n,
        ("valid_and_told", 100 * sum(not t.wrong for t in struck) / max(n, 1), "%", "100"),
        ("late", sum(t.beyond > GRACE for t in struck), "turns", "0"),
        ("longest_beyond_deadline", max((t.beyond for t in struck), default=0.0), "s", "at most 1"),
    )


def invalid(answer: Answer) -> list[str]:
    """What is wrong with an answer as such: its form, its quotes, ids that nothing in it has."""
    try:
        Answer.model_validate_json(answer.to_json())
    except ValidationError as error:
        return [f"is no valid answer: {error.error_count()} faults"]
    exact, quotes = quotes_exact([answer])
    wrong = [f"{quotes - exact} quotes are not exact"] if exact < quotes else []
    if not answer.statements and not answer.abstained and answer.kind != Kind.SMALL_TALK:  # whose reply is a notice
        wrong.append("says nothing")
    if any(not s.citations and s.origin != "parametric" for s in answer.statements):
        wrong.append("has a statement that is neither cited nor parametric")
    return wrong


def _told_wrongly(answer: Answer, trace: Sequence[dict[str, Any]], role: str, fault: str) -> list[str]:
    """Whether the notices name the role that failed, and no other; and whether the trace says the same."""
    told = [n.text for n in answer.notices if n.code == "judged_locally"]
    named = {other for text in told for other in {*ROLES, *STEPS} if f"The {NAMES[other]} was done" in text}
    traced = {str(e["role"]) for e in trace if e["kind"] == "judged_locally"}
    wrong = [] if named == traced else [f"the notices name {sorted(named)}, the trace {sorted(traced)}"]
    if any(n.code == SEARCH_PLANNED for n in answer.notices):
        named |= {"query_plan"}
    if named - {role} and fault not in SPREADING:
        wrong.append(f"a notice names {', '.join(sorted(named - {role}))}")
    must = fault not in HARMLESS | EITHER and (role, fault) not in EXCUSED
    if must and role not in named:
        wrong.append("no notice says that it was judged locally")
    if fault in HARMLESS and role in named:
        wrong.append("a sound reply was not used")
    return wrong


# Every fault of a model or its server, as a way to spoil a good answer; and a small model, which makes many.

Spoil = Callable[[Request, Scripted], Scripted]

LONG = 200_000  # characters of a reply of 200 KB
SPACE = 168_000  # characters of white space within a sound reply
SLOW = 30.0  # seconds before the first byte: beyond any deadline of a test
CUT = 60  # bytes that a cut answer lacks; more than the end of its JSON
INTEGER = re.compile(r"(?<![\w.])\d+(?![\w.])")


def _text(good: Scripted, text: str) -> Scripted:
    """A text in place of what was said: the arguments of each call, or the content."""
    if good.calls:
        return replace(good, calls=[(name, text) for name, _ in good.calls])
    return replace(good, content=text)


def _said(good: Scripted) -> str:
    """What was said: the content, or the arguments of the first call."""
    if not good.calls:
        return good.content
    given = good.calls[0][1]
    return given if isinstance(given, str) else json.dumps(given)


def _instead(**values: Any) -> Spoil:
    return lambda _, good: replace(good, **values)


def _endless(request: Request, good: Scripted) -> Scripted:
    """Calls without end: each time another search, or a tool that was not offered."""
    turn = rounds(request)
    calls = [("search_literature", {"query": f"croup again, {turn} and {n}"}) for n in range(20)]
    return replace(good, content="", calls=calls)


def _prose(_: Request, good: Scripted) -> Scripted:
    """Words alone, whatever form was asked for."""
    return replace(good, content="I would look this up in a textbook.", calls=())


def _thinking(_: Request, good: Scripted) -> Scripted:
    """A sound answer after thinking that holds braces."""
    if good.calls:
        return replace(good, content="<think>{which tool?}</think>", reasoning="{hm}")
    return replace(good, content=f"<think>Is it {{this}}, or that?</think>\n{good.content}")


def _braces(_: Request, good: Scripted) -> Scripted:
    """A sound answer in a fence, within prose that holds braces and an object that is no reply."""
    if good.calls:
        return replace(good, content="I look for {croup} as {}.")
    return replace(
        good, content=f'The set {{a, b}} and {{"thought": 1}} give:\n```json\n{good.content}\n```\nSee {{c}}.'
    )


def _unknown_tool(request: Request, good: Scripted) -> Scripted:
    """A tool that was not offered, beside those that were; where none is offered, a sound answer."""
    return replace(good, calls=[*good.calls, ("browse_web", {"url": "x"})]) if role_of(request) == "research" else good


def _spaced(_: Request, good: Scripted) -> Scripted:
    """A sound answer that white space makes longer than is read."""
    return _text(good, _said(good).replace(":", ":" + " " * SPACE, 1))


def _unknown(request: Request, good: Scripted) -> Scripted:
    """Numbers and ids that were never shown."""
    if role_of(request) == "research":
        call = ("retrieve_passages", {"query": "croup", "documents": ["library:invented"]})
        return replace(good, calls=[*good.calls, call])
    reply = json.dumps(reply_to(request))
    return in_form(request, INTEGER.sub("999", re.sub(r'"cites": \["[\d.]+"\]', '"cites": ["999.1"]', reply)))


FAULTS: dict[str, Spoil] = {
    "refused key": _instead(status=401, body='{"error": {"message": "bad key"}}'),
    "too many requests": _instead(status=429, body="{}", headers={"Retry-After": "20"}),
    "failing server": _instead(status=500, body="oops"),
    "slow first byte": _instead(pause=SLOW),
    "cut": _instead(cut=CUT),
    "malformed body": _instead(body='{"choices": ['),
    "a page": _instead(body="<html>Sign in</html>", headers={"Content-Type": "text/html"}),
    "malformed JSON": lambda _, good: _text(good, _said(good)[:-3] + "("),
    "wrong schema": lambda _, good: _text(good, '{"unasked": {"for": true}}'),
    "refusal": _instead(refusal="I cannot help with that.", content="", calls=()),
    "empty": _instead(content="", calls=()),
    "endless calls": _endless,
    "ignores tools": _prose,
    "thinking": _thinking,
    "unknown numbers": _unknown,
    "200 KB": lambda _, good: _text(good, _said(good) + "a" * LONG),
    "168k characters": _spaced,
    "length": lambda _, good: replace(_text(good, _said(good)[:-3]), finish="length"),
    "nothing within the bound": _instead(content="", calls=(), reasoning="Hm.", finish="length"),
    "filtered": _instead(content="", calls=(), finish="content_filter"),
    "brace in prose": _braces,
    "unknown tool": _unknown_tool,
}
HARMLESS = frozenset({"thinking", "brace in prose"})  # a sound reply all the same
# Faults after which some roles still have what they need: the judgement is the model's, or the local one is told.
EITHER = frozenset({"wrong schema", "endless calls", "ignores tools", "unknown numbers", "unknown tool"})
# After these no role is asked again in the turn, and every one is told.
SPREADING = frozenset({"refused key"})
# A call's own arguments alone are lost, or white space in them.
EXCUSED = frozenset({("research", fault) for fault in ("malformed JSON", "200 KB", "168k characters")})


def spoiling(role: str, fault: str) -> Respond:
    """A server that plays every role, and spoils what it says in one."""

    def respond(request: Request) -> Scripted:
        good = play(request)
        asked = role_of(request)
        if role == "query_plan" and asked == "research":  # so that the plan of the search is asked for
            calls = [(n, {k: v for k, v in dict(a).items() if k != "terms"}) for n, a in good.calls]  # type: ignore[arg-type]
            return replace(good, calls=calls)
        return FAULTS[fault](request, good) if asked == role else good

    return respond
