"""`anamnesis bench logging`: what an Inspect log with its spans adds to a run of the local engine.

The same agent in one process is asked the same questions plainly and with a log, in turns (plain, log, log, plain), one
session at a time. The ratio is of processor time, which other work on the machine does not change much; the clock's
stands beside it. What Inspect takes to be imported and to begin is paid once a run, and stands apart.
"""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import NamedTuple

import yaml

from agent.agent import Agent
from agent.settings import load_settings
from evals.asked import AgentEvaluation, Item, Judged, Reply
from evals.bench.figures import Figure, print_figures
from evals.bench.run import QUESTIONS
from evals.contract import Task, TaskContext
from evals.logged import Logging, check_installed
from evals.sittings import Sittings
from tools.files import write_atomic


class Spent(NamedTuple):
    """Seconds of the clock and of the processor, all threads together."""

    clock: float
    processor: float


def bench_logging(questions: int, rounds: int, json_file: Path | None) -> None:
    """Measure, print a table, and write the figures where asked."""
    check_installed()
    figures = measure(questions, rounds)
    print_figures(figures)
    if json_file is not None:
        write_atomic(json_file, f"{json.dumps([f.model_dump() for f in figures], indent=2)}\n".encode())


def measure(questions: int, rounds: int) -> list[Figure]:
    """The figures; live access is off and no model is called."""
    settings = load_settings(config="", model="", literature={"live": "off", "mirror": None}).without_models()
    items = [
        Item(f"q/{n}", "q", (row["text"],), "", None, options=row.get("options") or {})
        for n, row in enumerate(yaml.safe_load(QUESTIONS.read_text(encoding="utf-8"))[:questions])
    ]
    context = TaskContext(data=QUESTIONS.parent, limit=len(items), seed=0, settings=settings)
    with Agent(settings) as agent, tempfile.TemporaryDirectory(prefix="anamnesis-logging-") as folder:
        sittings = Sittings(agent)  # as a user asks: the vectors of questions are made each time

        def plain(asked: list[Item]) -> Callable[[], None]:
            return lambda: [sittings.hold(item) for item in asked].clear()

        def logged(asked: list[Item]) -> Callable[[], None]:
            return lambda: _logged(asked, context, sittings, Path(folder))

        plain(items)()  # whatever is made once is made now
        start = spent(logged(items[:1]))  # the import, and Inspect's own beginning
        one = spent(logged(items[:1]))
        first: list[Spent] = []
        second: list[Spent] = []
        for number in range(rounds):
            for way, made in [(plain, first), (logged, second)][:: 1 if number % 2 == 0 else -1]:
                made.append(spent(way(items)))
        size = sum(path.stat().st_size for path in Path(folder).glob("*.eval")) / (rounds * len(items) + 2)
    return _figures(first, second, start, one, size, len(items))


def spent(work: Callable[[], None]) -> Spent:
    """What a piece of work takes."""
    clock, processor = time.perf_counter(), time.process_time()
    work()
    return Spent(time.perf_counter() - clock, time.process_time() - processor)


def _figures(
    first: list[Spent], second: list[Spent], start: Spent, one: Spent, size: float, count: int
) -> list[Figure]:
    n = count * len(first)
    of = {
        name: [statistics.median(getattr(s, name) for s in side) for side in (first, second)]
        for name in ("clock", "processor")
    }
    added = 1000 * (of["processor"][1] - of["processor"][0]) / count
    return [
        Figure(name="logging.processor_ratio", value=_percent(of["processor"]), unit="% more", n=n, asked="at most 5"),
        Figure(name="logging.clock_ratio", value=_percent(of["clock"]), unit="% more", n=n, asked="at most 5"),
        Figure(name="logging.added_a_session", value=added, unit="ms of processor", n=n),
        Figure(name="logging.session", value=1000 * of["processor"][0] / count, unit="ms of processor", n=n),
        Figure(name="logging.start", value=start.processor - one.processor, unit="s of processor", n=1),
        Figure(name="logging.size_a_session", value=size / 1000, unit="kB", n=n),
    ]


def _percent(sides: list[float]) -> float:
    return 100 * (sides[1] / sides[0] - 1)


def _logged(asked: list[Item], context: TaskContext, sittings: Sittings, folder: Path) -> None:
    from evals.inspect.adapter import Run
    from evals.inspect.bridge import Bridged
    from evals.inspect.running import evaluate

    evaluation = AgentEvaluation(
        items=lambda _: asked,
        judge=_judged,
        figures=lambda *_: [],
        opened=lambda _: nullcontext(sittings),
    )
    task = Task("bench", "", (), "", len(asked), run=lambda _: [], asks=evaluation)
    run = Run(evaluation, context, asked, Bridged(context.settings, None, {}), done=lambda: None)
    evaluate(task, run, {}, None, Logging(folder, parallel=1))


def _judged(item: Item, reply: Reply) -> Judged:
    return Judged(not reply.answer.abstained, item.group, "it is not judged")
