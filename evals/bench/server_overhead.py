"""What the server adds to `Agent.aask`: the same message both ways in one process, by turns, over a real socket.

The client runs in the same process, so what it takes counts as the server's. A turn of the local engine takes far
longer than what is measured and varies by more, so two things stand beside the plain difference: a greeting, which
takes the engine nearly nothing, and what of each request lies outside of the engine's own turn.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from statistics import median
from typing import Any, NamedTuple
from unittest.mock import patch

from agent.agent import Agent
from agent.loop import arun, run
from agent.server.keys import Keys
from agent.server.tables import Tables
from agent.settings import Settings
from agent.turns import TurnRunner
from evals import statistics
from evals.bench.frame import Figure, Row, figures_of, late
from evals.bench.serving import Talker

MESSAGES = {
    "greeting": "Hello!",
    "question": "Does early mobilisation help after a stroke?",
    "case": "A 30-year-old woman has had palpitations and chest tightness since this morning.",
}
SEED = 0
WARM = 4  # ours: pairs that are not counted
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


def measure(settings: Settings, pairs: int) -> list[Figure]:
    """So many of each message, those not counted apart."""
    turns: list[float] = []
    take = TurnRunner.take

    async def timed(runner: TurnRunner, *args: Any, **given: Any) -> Any:
        started = time.perf_counter()
        try:
            return await take(runner, *args, **given)
        finally:
            turns.append(time.perf_counter() - started)

    rows: dict[str, list[Pair]] = {name: [] for name in MESSAGES}
    with Agent(settings) as agent, serving(agent) as (url, key), patch.object(TurnRunner, "take", timed):

        async def all_pairs() -> None:
            talker = Talker([url], key)
            for number in range(WARM + pairs):
                for name, text in MESSAGES.items():
                    rows[name].append(await all_ways(agent, talker, key.split("_")[1], text, number, turns))
            await talker.client.aclose()

        asyncio.run(all_pairs())
    return [figure for name, found in rows.items() for figure in figures(name, found[WARM:])]


@contextmanager
def serving(agent: Agent) -> Iterator[tuple[str, str]]:
    """The server around an agent in a thread of this process; its address, and a key."""
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
        yield address_of(listener), run(Keys(run(Tables(agent.database).open())).create("bench", ("ask",)))[1]
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


async def all_ways(agent: Agent, talker: Talker, owner: str, text: str, number: int, turns: list[float]) -> Pair:
    """A message all ways, each in a new session; which goes first changes."""
    spent: dict[str, float] = {}
    first = step = outside = 0.0
    for place in range(len(WAYS)):
        way = WAYS[(place + number) % len(WAYS)]
        session = await talker.open()
        turns.clear()
        started = time.perf_counter()
        if way == "aask":
            await agent.aask(text, session=session, owner=owner)
        elif way == "json":
            await talker.call("POST", f"/api/sessions/{session}/turns", json={"text": text})
        else:
            told = await talker.say(session, text, f"overhead-{number}")
            first, step = told.first, told.step
        spent[way] = time.perf_counter() - started
        outside = spent[way] - sum(turns) if way == "json" else outside
        await arun(agent.records.delete(session))
    return Pair(**spent, first=first, step=step, outside=outside)


def figures(name: str, pairs: Sequence[Pair]) -> list[Figure]:
    """Medians of the pairs of a message, in ms; of the differences with their 95 % interval, by the bootstrap."""
    rows: list[Row] = [("aask", 1000 * median(p.aask for p in pairs), "ms")]
    for way in ("json", "events"):
        over = [1000 * (getattr(p, way) - p.aask) for p in pairs]
        low, high = statistics.median("server.overhead.median", over, SEED)[0].ci95 or (0.0, 0.0)
        rows.append((f"{way}_over_aask", median(over), "ms", "at most 15"))
        rows += [(f"{way}_over_aask_low", low, "ms"), (f"{way}_over_aask_high", high, "ms")]
    outside, first = [1000 * p.outside for p in pairs], [1000 * p.first for p in pairs]
    rows += [
        ("json_outside_of_turn", median(outside), "ms", "at most 15"),
        ("json_outside_of_turn_p95", late(outside), "ms"),
        ("first_event", median(first), "ms", "at most 100"),
        ("first_event_p95", late(first), "ms"),
        ("first_step_of_machine", 1000 * median(p.step for p in pairs), "ms"),
    ]
    return figures_of(f"overhead.{name}.", len(pairs), *rows)
