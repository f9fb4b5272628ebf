"""What the server adds to `Agent.aask`: the same message both ways in one process, by turns, over a real socket.

The client runs in the same process, so what it takes counts as the server's. A turn of the local engine takes far
longer than what is measured and varies by more, so two things stand beside the plain difference: a greeting, which
takes the engine nearly nothing, and what of each request lies outside of the engine's own turn.
"""

from __future__ import annotations

import asyncio
import statistics
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from agent.agent import Agent
from agent.loop import arun, run
from agent.server.tables import Tables
from agent.turns import TurnRunner
from evals.bench.figures import Figure
from evals.bench.server.essence import TURNS
from evals.bench.server.load import late
from evals.bench.server.part import Bench, Part
from evals.bench.server.strangers import People
from evals.bench.server.talker import Talker
from evals.bench.stopwatch import Stopwatch
from evals.statistics import median

MESSAGES = {"greeting": "Hello!", "question": "Does early mobilisation help after a stroke?", "case": TURNS[0]}
TURN = "turn"
SEED = 0
WARM = 4  # pairs that are not counted
WAYS = ("aask", "json", "events")


class Pair(NamedTuple):
    """One message all ways: seconds each, and until the first event and the machine's first step.

    ``outside``: seconds of the JSON request in which the engine's turn did not run.
    """

    aask: float
    json: float
    events: float
    first: float
    step: float
    outside: float


def overhead(bench: Bench) -> Part:
    """Measure."""
    with Agent(bench.settings()) as agent, here(agent) as url:
        key = run(People(run(Tables(agent.database).open())).key("bench", ("ask",)))
        watch = Stopwatch()
        restore = watch.watch(TurnRunner, "take", TURN)
        rows = asyncio.run(_paired(agent, url, key, bench.sizes.pairs, watch))
        restore()
    figures = [figure for name, pairs in rows.items() for figure in figures_of(name, pairs)]
    return Part(figures=figures, details={name: [list(pair) for pair in pairs] for name, pairs in rows.items()})


@contextmanager
def here(agent: Agent) -> Iterator[str]:
    """The server around an agent in a thread of this process; its address."""
    import uvicorn

    from agent.server.app import create_app
    from agent.server.settings import ServerSettings
    from agent.server.start import address_of, bind, config_of

    listener = bind("127.0.0.1", 0)
    settings = ServerSettings(requests=10**6, finish_at_start=False)
    server = uvicorn.Server(config_of(create_app(agent, settings), settings))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield address_of(listener)
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


async def _paired(agent: Agent, url: str, key: str, pairs: int, watch: Stopwatch) -> dict[str, list[Pair]]:
    talker = Talker([url], key)
    owner = key.split("_")[1]
    rows: dict[str, list[Pair]] = {name: [] for name in MESSAGES}
    for number in range(WARM + pairs):
        for name, text in MESSAGES.items():
            pair = await _all_ways(agent, talker, owner, text, number, watch)
            if number >= WARM:
                rows[name].append(pair)
    await talker.close()
    return rows


async def _all_ways(agent: Agent, talker: Talker, owner: str, text: str, number: int, watch: Stopwatch) -> Pair:
    """A message all ways, each in a new session; which goes first changes."""
    spent: dict[str, float] = {}
    first = step = outside = 0.0
    for place in range(len(WAYS)):
        way = WAYS[(place + number) % len(WAYS)]
        session = await talker.open()
        watch.clear()
        started = time.perf_counter()
        if way == "aask":
            await agent.aask(text, session=session, owner=owner)
        elif way == "json":
            await talker.call("POST", f"/api/sessions/{session}/turns", json={"text": text})
        else:
            told = await talker.say(session, text, "")
            first, step = told.first, told.step
        spent[way] = time.perf_counter() - started
        outside = spent[way] - watch.seconds(TURN) if way == "json" else outside
        await arun(agent.records.delete(session))
    return Pair(**spent, first=first, step=step, outside=outside)


def figures_of(name: str, pairs: Sequence[Pair]) -> list[Figure]:
    """Of the pairs of a message."""
    n = len(pairs)

    def figure(what: str, values: Sequence[float], asked: str = "") -> Figure:
        return Figure(
            name=f"overhead.{name}.{what}", value=1000 * statistics.median(values), unit="ms", n=n, asked=asked
        )

    def over(what: str, values: Sequence[float]) -> list[Figure]:
        """With the 95% interval of the median, by the bootstrap."""
        low, high = median("server.overhead.median", values, SEED)[0].ci95 or (0.0, 0.0)
        ends = [figure(f"{what}_{end}", [value]) for end, value in (("low", low), ("high", high))]
        return [figure(what, values, "at most 15"), *ends]

    first, outside = [pair.first for pair in pairs], [pair.outside for pair in pairs]
    return [
        figure("aask", [pair.aask for pair in pairs]),
        *over("json_over_aask", [pair.json - pair.aask for pair in pairs]),
        *over("events_over_aask", [pair.events - pair.aask for pair in pairs]),
        figure("json_outside_of_turn", outside, "at most 15"),
        Figure(name=f"overhead.{name}.json_outside_of_turn_p95", value=1000 * late(outside), unit="ms", n=n),
        figure("first_event", first, "at most 100"),
        Figure(name=f"overhead.{name}.first_event_p95", value=1000 * late(first), unit="ms", n=n),
        figure("first_step_of_machine", [pair.step for pair in pairs]),
    ]
