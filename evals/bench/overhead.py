"""`anamnesis dev bench overhead`: what a trace, telemetry or an Inspect log adds to a local run of the same agent.

Blocks of the shipped questions are asked with it, without, and without once more, by turns in one process, so that the
machine's own unrest is known. The processor's time of this process holds the whole cost: what is made, written, encoded
and sent (telemetry goes to a receiver of its own process, which throws it away).
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal
from unittest.mock import patch

import typer

from agent.agent import Agent
from agent.telemetry.contract import NoTelemetry, open_telemetry
from agent.trace import TraceRecorder
from evals.bench.frame import QUESTIONS, Figure, Spent, figures_of, local_settings, mixed_questions, spent
from evals.contract import AgentEvaluation, Item, Judged, Reply, Task, TaskContext
from evals.inspect import Logging, check_installed
from evals.sessions import Sittings
from evals.statistics import paired_ratio
from graphs.nodes import research

SEED = 0
MOST = "at most 5"
RECEIVER = """
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()
    def log_message(self, *_):
        pass
server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
print(server.server_port, flush=True)
server.serve_forever()
"""
Ask = Callable[[Sequence[Item]], object]  # asks a block of questions


def measure(
    of: Annotated[Literal["trace", "telemetry", "log"], typer.Argument(help="What is left out in the one way.")],
    questions: Annotated[int, typer.Option(min=1, max=50, help="How many of the shipped questions.")] = 50,
    block: Annotated[int, typer.Option(min=1, help="Turns that are timed as one.")] = 10,
    rounds: Annotated[int, typer.Option(min=1, help="How often each way.")] = 3,
) -> list[Figure]:
    """The figures of one addition. Live access is off, no model is asked."""
    items = [
        Item(f"q/{n}", "q", (row["text"],), "", None, options=row.get("options") or {})
        for n, row in enumerate(mixed_questions(questions))
    ]
    with Agent(local_settings()) as agent, OPENED[of](agent) as (added, without):
        return compare(of, added, without, items, block, rounds)


def compare(name: str, added: Ask, without: Ask, items: Sequence[Item], block: int, rounds: int) -> list[Figure]:
    """What ``added`` takes in per cent more than ``without``, with the interval of a paired bootstrap over blocks."""
    ways = {"added": added, "without": without, "again": without}
    added(items)  # what is made once is made now
    blocks = [items[at : at + block] for at in range(0, len(items), block)] * rounds
    took: dict[str, list[Spent]] = {way: [] for way in ways}
    for number, some in enumerate(blocks):
        first = number % len(ways)
        for way in (*list(ways)[first:], *list(ways)[:first]):
            took[way].append(spent(partial(ways[way], some)))
    figures: list[Figure] = []
    for kind in ("clock", "processor"):
        plain = [getattr(s, kind) for s in took["without"]]
        for way in ("added", "again"):
            (ratio,) = paired_ratio(f"bench.overhead.{way}", [getattr(s, kind) for s in took[way]], plain, SEED)
            low, high = ratio.ci95 or (ratio.value, ratio.value)
            figures += figures_of(
                f"{name}.{kind}_{way}",
                len(blocks),
                ("", ratio.value - 100, "%", MOST if (kind, way) == ("processor", "added") else ""),
                ("_from", low - 100, "%"),
                ("_to", high - 100, "%"),
            )
        turns = len(items) * rounds
        figures += figures_of(f"{name}.{kind}", turns, ("_turn", 1000 * sum(plain) / turns, "ms"))
    return figures


def ask(agent: Agent, items: Sequence[Item]) -> None:
    """Each question in a session of its own, which is deleted."""
    for item in items:
        agent.delete_session(agent.ask(item.messages[0], options=dict(item.options) or None).session)


@contextmanager
def trace(agent: Agent) -> Iterator[tuple[Ask, Ask]]:
    """Without: nothing is written, and what a tool call's event is made of is not made either."""

    def nothing(*_: Any, **__: Any) -> None:
        """In place of what records."""

    def without(items: Sequence[Item]) -> None:
        recorder = patch.multiple(TraceRecorder, __init__=nothing, event=nothing, close=nothing)
        with recorder, patch.object(research, "_record", nothing):
            ask(agent, items)

    yield partial(ask, agent), without


@contextmanager
def telemetry(agent: Agent) -> Iterator[tuple[Ask, Ask]]:
    """With: a block ends with the delivery of all of it, to a collector that throws everything away."""
    process = subprocess.Popen([sys.executable, "-c", RECEIVER], stdout=subprocess.PIPE, text=True)  # noqa: S603
    try:
        address = f"http://127.0.0.1:{process.stdout.readline().strip() if process.stdout else ''}"
        given = agent.settings.telemetry.model_copy(update={"endpoint": address, "share": 1.0})
        settings = agent.settings.model_copy(update={"telemetry": given})

        def added(items: Sequence[Item]) -> None:
            agent._turns.telemetry = open_telemetry(settings, [tool.name for tool in agent.parts.tools])
            ask(agent, items)
            agent._turns.telemetry.close()
            agent._turns.telemetry = NoTelemetry()

        yield added, partial(ask, agent)
    finally:
        process.terminate()
        process.communicate(timeout=10)


@contextmanager
def log(agent: Agent) -> Iterator[tuple[Ask, Ask]]:
    """With: an evaluation of Inspect that judges nothing."""
    check_installed()
    sittings = Sittings(agent)
    with tempfile.TemporaryDirectory(prefix="anamnesis-overhead-") as folder:

        def added(items: Sequence[Item]) -> None:
            from evals.inspect.bridge import Bridged
            from evals.inspect.running import Run, evaluate

            context = TaskContext(data=QUESTIONS.parent, limit=len(items), seed=0, settings=agent.settings)
            evaluation = AgentEvaluation(
                items=lambda _: list(items),
                judge=_judged,
                figures=lambda *_: [],
                opened=lambda _: nullcontext(sittings),
            )
            task = Task("bench", "", (), "", len(items), run=lambda _: [], asks=evaluation)
            run = Run(evaluation, context, list(items), Bridged(context.settings, None, {}), done=lambda: None)
            evaluate(task, run, {}, None, Logging(Path(folder), parallel=1))

        yield added, lambda items: [sittings.hold(item) for item in items]


OPENED = {"trace": trace, "telemetry": telemetry, "log": log}


def _judged(item: Item, reply: Reply) -> Judged:
    return Judged(not reply.answer.abstained, item.group, "it is not judged")
