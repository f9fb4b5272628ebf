"""`anamnesis bench tracing`: what recording a trace adds to a local run, both ways in one process by turns.

With: the agent as it is. Without: nothing is written, and what a tool call's event is made of is not made either. The
other nodes make their events in both ways; what that takes is measured apart and taken off the run without a trace.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from pydantic import BaseModel

from agent.agent import Agent
from agent.settings import load_settings
from agent.trace import TraceRecorder, read_trace
from evals.bench.figures import Figure, print_figures
from evals.bench.run import QUESTIONS
from evals.bench.stopwatch import Stopwatch
from graphs.completeness.contract import GateDecision
from graphs.differential_filter.contract import Verdict
from graphs.kads.contract import Selection
from graphs.nodes import tools
from tools.files import write_atomic

MODELS: dict[str, type[BaseModel]] = {
    "gate": GateDecision,
    "selection": Selection,
    "filter": Verdict,
}  # what nodes make events of
RECORDING: list[tuple[Any, str]] = [
    (TraceRecorder, "__init__"), (TraceRecorder, "event"), (TraceRecorder, "close"), (tools, "_record")
]  # fmt: skip
WAYS = 3  # with a trace, without, and without once more
AGAIN = 20  # times that the making of an event is repeated to be measured; ours


class Measured(NamedTuple):
    """One question both ways: the clock's and the processor's seconds with and without a trace.

    ``again``: a second time without a trace, so that the machine's own unrest is known. ``recording``: seconds inside
    the recorder and of making events. ``made``: those of them that both ways have.
    """

    traced: float
    plain: float
    traced_processor: float
    plain_processor: float
    again: float
    again_processor: float
    recording: float
    made: float
    size: int


class Timed(NamedTuple):
    """A turn: the clock's and the processor's seconds, those inside the recorder, its events, the trace's bytes."""

    seconds: float
    processor: float
    recording: float
    events: list[dict[str, Any]]
    size: int


def bench_tracing(questions: int, rounds: int, json_file: Path | None) -> None:
    """Measure, print a table, and write the figures where asked. Live access is off, and no model is asked."""
    asked = yaml.safe_load(QUESTIONS.read_text(encoding="utf-8"))[:questions]
    settings = load_settings(config="", model="", literature={"live": "off", "mirror": None}).without_models()
    with Agent(settings) as agent:
        for question in asked:  # what is kept from the first time is there for both ways
            _timed(agent, question)
        rows = [_both(agent, q, first=(n + r) % WAYS) for r in range(rounds) for n, q in enumerate(asked)]
    figures = figures_of(rows)
    print_figures(figures)
    if json_file is not None:
        write_atomic(json_file, (json.dumps([f.model_dump() for f in figures], indent=2) + "\n").encode())


def figures_of(rows: Sequence[Measured]) -> list[Figure]:
    """Overhead in per cent of the run without a trace, by the clock and by the processor, and as the recorder's own."""
    n = len(rows)
    clock = _more([r.traced for r in rows], [r.plain - r.made for r in rows])
    processor = _more([r.traced_processor for r in rows], [r.plain_processor - r.made for r in rows])
    same = _more([r.again_processor for r in rows], [r.plain_processor for r in rows])
    inside = 100 * sum(r.recording for r in rows) / sum(r.traced - r.recording for r in rows)
    return [
        Figure(name="tracing.overhead", value=clock, unit="%", n=n, asked="at most 5"),
        Figure(name="tracing.overhead_processor", value=processor, unit="%", n=n, asked="at most 5"),
        Figure(name="tracing.inside_recorder", value=inside, unit="%", n=n, asked="at most 5"),
        Figure(name="tracing.same_twice", value=_more([r.again for r in rows], [r.plain for r in rows]), unit="%", n=n),
        Figure(name="tracing.same_twice_processor", value=same, unit="%", n=n),
        Figure(name="tracing.plain", value=1000 * statistics.median(r.plain for r in rows), unit="ms", n=n),
        Figure(name="tracing.traced", value=1000 * statistics.median(r.traced for r in rows), unit="ms", n=n),
        Figure(name="tracing.events_made", value=1000 * statistics.median(r.made for r in rows), unit="ms", n=n),
        Figure(name="tracing.size", value=statistics.median(r.size for r in rows) / 1000, unit="kB", n=n),
    ]


def _more(traced: Sequence[float], plain: Sequence[float]) -> float:
    """By how many per cent all of the one take longer than all of the other."""
    return 100 * (sum(traced) - sum(plain)) / sum(plain)


def _both(agent: Agent, question: dict[str, Any], first: int) -> Measured:
    """One question with a trace and twice without; which goes first changes from one to the next."""
    ways: dict[int, Timed] = {}
    for way in (first, (first + 1) % WAYS, (first + 2) % WAYS):
        with nullcontext() if way == 0 else untraced():
            ways[way] = _timed(agent, question)
    traced, plain, again = ways[0], ways[1], ways[2]
    made = _making(traced.events)
    return Measured(
        traced=traced.seconds,
        plain=plain.seconds,
        traced_processor=traced.processor,
        plain_processor=plain.processor,
        again=again.seconds,
        again_processor=again.processor,
        recording=traced.recording + made,
        made=made,
        size=traced.size,
    )


def _timed(agent: Agent, question: dict[str, Any]) -> Timed:
    """A turn; its session is deleted, outside of the time."""
    watch = Stopwatch()
    undo = [watch.watch(owner, name, "recorder") for owner, name in RECORDING]
    started, used = time.perf_counter(), time.process_time()
    answer = agent.ask(question["text"], options=question.get("options"))
    seconds, processor = time.perf_counter() - started, time.process_time() - used
    for restore in undo:
        restore()
    path = agent.home.traces / answer.session / "1.jsonl"
    events = read_trace(agent.home.traces, answer.run) if path.exists() else []
    size = path.stat().st_size if path.exists() else 0
    agent.delete_session(answer.session)
    return Timed(seconds, processor, watch.total(), events, size)


@contextmanager
def untraced() -> Iterator[None]:
    """No recorder writes, and tool calls make no event."""
    kept: list[tuple[Any, str, Any]] = []
    for owner, name in RECORDING:
        kept.append((owner, name, getattr(owner, name)))
        setattr(owner, name, _nothing)
    try:
        yield
    finally:
        for owner, name, original in kept:
            setattr(owner, name, original)


def _making(events: Sequence[dict[str, Any]]) -> float:
    """Seconds that gate, selector and filter take to make their events, measured by making them again."""
    models: list[Any] = []
    for event in events:
        kind = MODELS.get(event["kind"])
        rows = event["verdicts"] if event["kind"] == "filter" else [event]
        if kind is not None:
            fields = set(kind.model_fields)
            models += [kind.model_validate({k: v for k, v in row.items() if k in fields}) for row in rows]
    started = time.perf_counter()
    for _ in range(AGAIN):
        for model in models:
            model.model_dump(mode="json")
    return (time.perf_counter() - started) / AGAIN


def _nothing(*_: Any, **__: Any) -> None:
    """In place of what records."""
