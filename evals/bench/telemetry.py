"""`anamnesis bench telemetry`: what traces and metrics for an operator add to a local run.

Blocks of turns with telemetry and without, by turns in one process, and without once more, so that the machine's own
unrest is known. A block with telemetry ends with the delivery of all of it to a collector, which is a process of its
own on this machine and throws away what it gets. So the processor's time of this process holds the whole cost: spans,
metrics, encoding, compression and sending.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from agent.agent import Agent
from agent.settings import load_settings
from agent.telemetry.contract import NoTelemetry, Telemetry
from evals.bench.figures import Figure, print_figures
from evals.bench.run import QUESTIONS
from evals.bench.stopwatch import Stopwatch
from evals.statistics import median, paired_ratio
from tools.files import write_atomic
from tools.recorder import NullRecorder

WAYS = ("telemetry", "without", "again")
SEED = 0
REPEATED = 20  # ours: repetitions of the turns that are told again
MOST = "at most 5"  # what is asked of traces too
SINK = """
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
taken = [0, 0]
class Sink(BaseHTTPRequestHandler):
    def do_POST(self):
        size = int(self.headers["content-length"])
        self.rfile.read(size)
        taken[0] += 1
        taken[1] += size
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()
    def do_GET(self):
        body = ("%d %d" % tuple(taken)).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_):
        pass
server = ThreadingHTTPServer(("127.0.0.1", 0), Sink)
print(server.server_port, flush=True)
server.serve_forever()
"""


class Block(NamedTuple):
    """Seconds of some turns: by the clock, of the processor, and inside of what follows a turn."""

    clock: float
    processor: float
    inside: float


def bench_telemetry(questions: int, block: int, rounds: int, json_file: Path | None) -> None:
    """Measure, print a table, and write the figures where asked. Live access is off, and no model is asked."""
    asked = yaml.safe_load(QUESTIONS.read_text(encoding="utf-8"))[:questions]
    settings = load_settings(config="", model="", literature={"live": "off", "mirror": None}).without_models()
    with sink() as url, Agent(settings) as agent:
        _turns(agent, asked)  # what is kept from the first time is there for all ways
        again = replayed(agent, url, asked[:block])
        before = taken(url)
        blocks = [asked[at : at + block] for at in range(0, len(asked), block)] * rounds
        rows = [_row(agent, url, some, n) for n, some in enumerate(blocks)]
        deliveries, size = (after - first for after, first in zip(taken(url), before, strict=True))
    turns = len(asked) * rounds
    figures = [*figures_of(rows, turns), *replay_figures(again, rows, turns)]
    figures += [
        Figure(name="telemetry.deliveries", value=deliveries, unit="requests", n=turns),
        Figure(name="telemetry.size", value=size / turns / 1000, unit="kB a turn, compressed", n=turns),
    ]
    print_figures(figures)
    if json_file is not None:
        write_atomic(json_file, (json.dumps([f.model_dump() for f in figures], indent=2) + "\n").encode())


def figures_of(rows: Sequence[dict[str, Block]], turns: int) -> list[Figure]:
    """What telemetry adds in per cent, with the interval of a paired bootstrap over blocks."""
    figures: list[Figure] = []
    for what in ("clock", "processor"):
        for way in ("telemetry", "again"):
            first = [getattr(row[way], what) for row in rows]
            (ratio,) = paired_ratio(
                f"bench.telemetry.{way}", first, [getattr(row["without"], what) for row in rows], SEED
            )
            low, high = ratio.ci95 or (ratio.value, ratio.value)
            name, bound = f"telemetry.{what}" if way == "telemetry" else f"telemetry.same_twice_{what}", ""
            if (what, way) == ("processor", "telemetry"):
                bound = MOST
            for part, value in (("", ratio.value), ("_from", low), ("_to", high)):
                asked = bound if not part else ""
                figures.append(Figure(name=name + part, value=value - 100, unit="%", n=len(rows), asked=asked))
    inside = [row["telemetry"].inside for row in rows]
    plain = [row["without"].processor for row in rows]
    share = 100 * sum(inside) / sum(plain)
    (turn,) = median("bench.telemetry.block", [row["without"].clock for row in rows], SEED)
    return [
        *figures,
        Figure(name="telemetry.inside_turns", value=share, unit="%", n=turns, asked=MOST),
        Figure(name="telemetry.inside_a_turn", value=1000 * sum(inside) / turns, unit="ms", n=turns),
        Figure(name="telemetry.block_without", value=1000 * turn.value, unit="ms", n=len(rows)),
    ]


def replay_figures(again: Sequence[float], rows: Sequence[dict[str, Block]], turns: int) -> list[Figure]:
    """The processor's time of telemetry by itself, a turn and as a share of a turn without it."""
    (own,) = median("bench.telemetry.own", again, SEED)
    plain = sum(row["without"].processor for row in rows) / turns
    low, high = own.ci95 or (own.value, own.value)
    parts = (("", own.value), ("_from", low), ("_to", high))
    by_itself = [Figure(name=f"telemetry.own{end}", value=1000 * s, unit="ms", n=len(again)) for end, s in parts]
    return [
        *by_itself,
        Figure(name="telemetry.own_share", value=100 * own.value / plain, unit="%", n=turns, asked=MOST),
    ]


def replayed(agent: Agent, url: str, questions: Sequence[dict[str, Any]]) -> list[float]:
    """Seconds of the processor that telemetry takes a turn, by itself: what real turns told it, told again.

    Each repetition ends with its delivery.
    """
    from agent.telemetry.turns import FollowedTurn

    heard: list[list[tuple[str, dict[str, Any]]]] = []
    owner: Any = FollowedTurn
    original = owner.event

    def listen(turn: FollowedTurn, kind: str, **data: Any) -> None:
        heard[-1].append((kind, data))
        original(turn, kind, **data)

    owner.event = listen
    telemetry = agent._turns.telemetry = _opened(agent, url)
    for question in questions:
        heard.append([])
        for session in _turns(agent, [question]):
            agent.delete_session(session)
    telemetry.close()
    owner.event = original
    return [_told_again(_opened(agent, url), heard) for _ in range(REPEATED)]


def _told_again(telemetry: Telemetry, turns: Sequence[Sequence[tuple[str, dict[str, Any]]]]) -> float:
    used = time.process_time()
    for events in turns:
        with telemetry.turn("a1b2c3d4e5f60718", 1) as follower:
            for kind, data in events:
                (follower or NullRecorder()).event(kind, **data)
    telemetry.close()
    return (time.process_time() - used) / len(turns)


def _row(agent: Agent, url: str, questions: Sequence[dict[str, Any]], number: int) -> dict[str, Block]:
    """A block all ways; which goes first changes from one to the next."""
    first = number % len(WAYS)
    return {way: _block(agent, url, questions, way) for way in (*WAYS[first:], *WAYS[:first])}


def _block(agent: Agent, url: str, questions: Sequence[dict[str, Any]], way: str) -> Block:
    from agent.telemetry.turns import FollowedTurn

    telemetry = _opened(agent, url) if way == "telemetry" else NoTelemetry()
    agent._turns.telemetry = telemetry
    watch = Stopwatch()
    undo = [watch.watch(FollowedTurn, name, "inside") for name in ("__init__", "event", "end")]
    started, used = time.perf_counter(), time.process_time()
    sessions = _turns(agent, questions)
    telemetry.close()
    clock, processor = time.perf_counter() - started, time.process_time() - used
    for restore in undo:
        restore()
    for session in sessions:
        agent.delete_session(session)
    return Block(clock, processor, watch.total())


def _opened(agent: Agent, url: str) -> Telemetry:
    from agent.telemetry.opening import open_telemetry

    given = agent.settings.telemetry.model_copy(update={"endpoint": url, "share": 1.0})
    settings = agent.settings.model_copy(update={"telemetry": given})
    return open_telemetry(settings, [tool.name for tool in agent.parts.tools])


def _turns(agent: Agent, questions: Sequence[dict[str, Any]]) -> list[str]:
    return [agent.ask(question["text"], options=question.get("options")).session for question in questions]


@contextmanager
def sink() -> Iterator[str]:
    """A collector in a process of its own that throws everything away; its address."""
    process = subprocess.Popen([sys.executable, "-c", SINK], stdout=subprocess.PIPE, text=True)  # noqa: S603
    try:
        port = process.stdout.readline().strip() if process.stdout else ""
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(timeout=10)
        if process.stdout:
            process.stdout.close()


def taken(url: str) -> tuple[int, int]:
    """Requests that a sink took, and their bytes."""
    import httpx

    deliveries, size = httpx.get(url, trust_env=False).text.split()
    return int(deliveries), int(size)
