"""`anamnesis bench overhead`: what a trace, telemetry or an Inspect log adds to a local run of the same agent.

Blocks of the shipped questions are asked with it, without, and without once more, by turns in one process, so that the
machine's own unrest is known. The processor's time of this process holds the whole cost: what is made, written, encoded
and sent (telemetry goes to a receiver of its own process, which throws it away).
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import yaml

from agent.agent import Agent
from agent.settings import load_settings
from agent.telemetry.contract import NoTelemetry
from agent.telemetry.opening import open_telemetry
from agent.trace import TraceRecorder
from evals.asked import AgentEvaluation, Item, Judged, Reply
from evals.bench.figures import Figure, print_figures
from evals.bench.run import QUESTIONS
from evals.contract import Task, TaskContext
from evals.logged import Logging, check_installed
from evals.sittings import Sittings
from evals.statistics import paired_ratio
from graphs.nodes import tools
from tools.files import write_atomic

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


class Spent(NamedTuple):
    """Seconds of the clock and of the processor, all threads together."""

    clock: float
    processor: float


def spent(work: Callable[[], object]) -> Spent:
    """What a piece of work takes."""
    clock, processor = time.perf_counter(), time.process_time()
    work()
    return Spent(time.perf_counter() - clock, time.process_time() - processor)


def bench_overhead(of: str, questions: int, block: int, rounds: int, json_file: Path | None) -> None:
    """Measure, print a table, and write the figures where asked. Live access is off, and no model is asked."""
    settings = load_settings(config="", model="", literature={"live": "off", "mirror": None}).without_models()
    rows = yaml.safe_load(QUESTIONS.read_text(encoding="utf-8"))[:questions]
    items = [Item(f"q/{n}", "q", (r["text"],), "", None, options=r.get("options") or {}) for n, r in enumerate(rows)]
    with Agent(settings) as agent, OPENED[of](agent) as (added, without):
        figures = measure(of, added, without, items, block, rounds)
    print_figures(figures)
    if json_file is not None:
        write_atomic(json_file, f"{json.dumps([f.model_dump() for f in figures], indent=2)}\n".encode())


def measure(name: str, added: Ask, without: Ask, items: Sequence[Item], block: int, rounds: int) -> list[Figure]:
    """What ``added`` takes in per cent more than ``without``, with the interval of a paired bootstrap over blocks."""
    ways = {"added": added, "without": without, "again": without}
    added(items)  # what is made once is made now
    blocks = [items[at : at + block] for at in range(0, len(items), block)] * rounds
    took: dict[str, list[Spent]] = {way: [] for way in ways}
    for number, some in enumerate(blocks):
        first = number % len(ways)
        for way in (*list(ways)[first:], *list(ways)[:first]):
            took[way].append(spent(lambda way=way, some=some: ways[way](some)))  # type: ignore[misc]
    figures: list[Figure] = []
    for kind in Spent._fields:
        plain = [getattr(s, kind) for s in took["without"]]
        for way in ("added", "again"):
            (ratio,) = paired_ratio(f"bench.overhead.{way}", [getattr(s, kind) for s in took[way]], plain, SEED)
            asked = MOST if (kind, way) == ("processor", "added") else ""
            for end, value in zip(("", "_from", "_to"), (ratio.value, *(ratio.ci95 or ())), strict=False):
                told = f"{name}.{kind}_{way}{end}"
                figures.append(Figure(name=told, value=value - 100, unit="%", n=len(blocks), asked=asked))
                asked = ""
        turns = len(items) * rounds
        figures.append(Figure(name=f"{name}.{kind}_turn", value=1000 * sum(plain) / turns, unit="ms", n=turns))
    return figures


@contextmanager
def trace(agent: Agent) -> Iterator[tuple[Ask, Ask]]:
    """Without: nothing is written, and what a tool call's event is made of is not made either."""

    def without(items: Sequence[Item]) -> None:
        recorder = patch.multiple(TraceRecorder, __init__=_nothing, event=_nothing, close=_nothing)
        with recorder, patch.object(tools, "_record", _nothing):
            ask(agent, items)

    yield partial(ask, agent), without


@contextmanager
def telemetry(agent: Agent) -> Iterator[tuple[Ask, Ask]]:
    """With: a block ends with the delivery of all of it."""
    with receiver() as address:
        given = agent.settings.telemetry.model_copy(update={"endpoint": address, "share": 1.0})
        settings = agent.settings.model_copy(update={"telemetry": given})

        def added(items: Sequence[Item]) -> None:
            agent._turns.telemetry = open_telemetry(settings, [tool.name for tool in agent.parts.tools])
            ask(agent, items)
            agent._turns.telemetry.close()
            agent._turns.telemetry = NoTelemetry()

        yield added, partial(ask, agent)


@contextmanager
def log(agent: Agent) -> Iterator[tuple[Ask, Ask]]:
    """With: an evaluation of Inspect that judges nothing."""
    check_installed()
    sittings = Sittings(agent)
    with tempfile.TemporaryDirectory(prefix="anamnesis-overhead-") as folder:

        def added(items: Sequence[Item]) -> None:
            from evals.inspect.adapter import Run
            from evals.inspect.bridge import Bridged
            from evals.inspect.running import evaluate

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


@contextmanager
def receiver() -> Iterator[str]:
    """A collector in a process of its own that throws everything away; its address."""
    process = subprocess.Popen([sys.executable, "-c", RECEIVER], stdout=subprocess.PIPE, text=True)  # noqa: S603
    try:
        yield f"http://127.0.0.1:{process.stdout.readline().strip() if process.stdout else ''}"
    finally:
        process.terminate()
        process.communicate(timeout=10)


def ask(agent: Agent, items: Sequence[Item]) -> None:
    """Each question in a session of its own, which is deleted."""
    for item in items:
        agent.delete_session(agent.ask(item.messages[0], options=dict(item.options) or None).session)


def _nothing(*_: Any, **__: Any) -> None:
    """In place of what records."""


def _judged(item: Item, reply: Reply) -> Judged:
    return Judged(not reply.answer.abstained, item.group, "it is not judged")
