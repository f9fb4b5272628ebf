"""`anamnesis bench logging`: what an Inspect log with its spans adds to a run of the local engine.

The same agent in one process is asked the same questions plainly, with a log, and plainly once more, in turns, one
session at a time: how far the two plain runs differ is the machine's own unrest. In a fourth run (``own``) the replies
are there already, so that only the log is made: the least unsteady of the figures. What Inspect takes to be imported
and to begin is paid once a run, and stands apart.
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
from evals.sittings import Held, Sittings
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

        def logged(asked: list[Item], held: Sittings = sittings) -> Callable[[], None]:
            return lambda: _logged(asked, context, held, Path(folder))

        kept = _Kept({item.id: sittings.hold(item) for item in items})  # whatever is made once is made now
        start = spent(logged(items[:1]))  # the import, and Inspect's own beginning
        one = spent(logged(items[:1]))
        ways = {"plain": plain(items), "logged": logged(items), "again": plain(items), "own": logged(items, kept)}
        took: dict[str, list[Spent]] = {name: [] for name in ways}
        for number in range(rounds):
            names = list(ways)
            for name in names[number % len(names) :] + names[: number % len(names)]:
                took[name].append(spent(ways[name]))
        size = sum(path.stat().st_size for path in Path(folder).glob("*.eval")) / (2 * rounds * len(items) + 2)
    return _figures(took, start.processor - one.processor, size, len(items))


class _Kept(Sittings):
    """Gives what was replied before: what a logged run then takes is the log's alone."""

    def __init__(self, held: dict[str, Held]) -> None:
        self._held = held

    async def ahold(self, item: Item) -> Held:
        """The session of an item that is over already."""
        return self._held[item.id]


def spent(work: Callable[[], object]) -> Spent:
    """What a piece of work takes."""
    clock, processor = time.perf_counter(), time.process_time()
    work()
    return Spent(time.perf_counter() - clock, time.process_time() - processor)


def _figures(took: dict[str, list[Spent]], start: float, size: float, count: int) -> list[Figure]:
    n = count * len(took["plain"])
    clock = {name: statistics.median(s.clock for s in of) for name, of in took.items()}
    processor = {name: statistics.median(s.processor for s in of) for name, of in took.items()}
    own = 100 * processor["own"] / processor["plain"]
    return [
        Figure(name="logging.processor_ratio", value=_more(processor, "logged"), unit="% more", n=n, asked="at most 5"),
        Figure(name="logging.clock_ratio", value=_more(clock, "logged"), unit="% more", n=n, asked="at most 5"),
        Figure(name="logging.own_ratio", value=own, unit="% more", n=n, asked="at most 5"),
        Figure(name="logging.same_twice_processor", value=_more(processor, "again"), unit="% more", n=n),
        Figure(name="logging.same_twice_clock", value=_more(clock, "again"), unit="% more", n=n),
        Figure(name="logging.own_a_session", value=1000 * processor["own"] / count, unit="ms of processor", n=n),
        Figure(name="logging.session", value=1000 * processor["plain"] / count, unit="ms of processor", n=n),
        Figure(name="logging.start", value=start, unit="s of processor", n=1),
        Figure(name="logging.size_a_session", value=size / 1000, unit="kB", n=n),
    ]


def _more(took: dict[str, float], name: str) -> float:
    """By how many per cent it took more than a plain run."""
    return 100 * (took[name] / took["plain"] - 1)


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
