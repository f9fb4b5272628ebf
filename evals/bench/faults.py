"""`anamnesis dev bench faults`: every role struck by every fault of a model or its server, over the assembled agent.

A turn passes when it ends in a valid answer, when a notice names the role that failed and no other (after a refused key
no role is asked again), and when no call outlasted its deadline. All roles are the model's here, also those that are
local by default. The planning of a search has a notice of its own, because searches are planned outside of turns too.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from pydantic import ValidationError

from agent.agent import Agent
from agent.loop import run
from agent.settings import load_settings
from evals.bench.commands import JsonFile
from evals.bench.frame import Figure, figures_of, report, write_json
from evals.bench.installation import quotes_exact
from evals.scripted.faults import EITHER, EXCUSED, FAULTS, HARMLESS, SPREADING, spoiling
from evals.scripted.player import play, role_of
from evals.scripted.server import Respond, ScriptedModel, serving_by
from graphs.answering.contract import Answer
from graphs.nodes.step import ROLES as NAMES
from graphs.triage.contract import Kind
from prompts.errors import AnamnesisError

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

    from agent.cli.wide import WideConsole

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
    named = {other for text in told for other in {*ROLES, *STEPS} if f"The {NAMES['en'][other]} was done" in text}
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
