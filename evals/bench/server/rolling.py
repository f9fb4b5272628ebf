"""Two workers on one PostgreSQL, each stopped in order (SIGTERM) and replaced, one after the other, under load."""

from __future__ import annotations

import asyncio
import socket
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from agent.agent import Agent
from evals.bench.figures import Figure
from evals.bench.server.cluster import cluster, reason
from evals.bench.server.load import Load, expected, outcome, times
from evals.bench.server.part import Bench, Part
from evals.bench.server.process import END, Server, environment, keys
from evals.bench.server.talker import talkers
from evals.bench.server.workers import looked

FIRST = 0.15  # of the turns are answered when the first worker is told to stop; ours: both replacements are under load
GRACE = 120  # seconds that running turns get; ours: above the longest turn of such a load on a small machine
LOOK = 0.2  # seconds between looks whether a worker is ready


class Replaced(NamedTuple):
    """A worker that was stopped.

    Attributes:
        status: its exit status. gone, ready: seconds until it was gone, and until the next one was ready. left: turns
            of the load that were not answered then.
    """

    status: int
    gone: float
    ready: float
    left: int


class _Held(NamedTuple):
    """A load with both replacements: its seconds, what is on record, and what the clients had to do."""

    seconds: float
    replaced: list[Replaced]
    seen: dict[str, Any]
    turned_away: int
    broken: list[str]


def rolling(bench: Bench) -> Part:
    """The load, both replacements, and what is on record afterwards."""
    if not bench.database and (why := reason()):
        return Part(left_out=[f"rolling restart: {why}"])
    turns = 3 * bench.sizes.rolling_sessions
    with Agent(bench.settings()) as agent:
        load = Load(expected(agent, bench.sizes.users, bench.sizes.rolling_sessions), mark=max(1, round(FIRST * turns)))
    with ExitStack() as stack:
        database = bench.database or stack.enter_context(cluster())
        site = _Site(bench.home, database)
        stack.callback(site.close)
        held = asyncio.run(_held(load, site, keys(bench.home, bench.sizes.users, database), turns))
        faults = site.faults()
    n, seen, replaced = len(load.sessions), held.seen, held.replaced
    left = replaced[-1].left
    figures = [
        *outcome("rolling", load, turns),
        Figure(name="rolling.turned_away_and_sent_again", value=held.turned_away, unit="requests", n=turns),
        Figure(name="rolling.answers_cut_off", value=len(held.broken), unit="answers", n=turns, asked="0"),
        Figure(name="rolling.lost_turns", value=seen["lost"], unit="turns", n=turns, asked="0"),
        Figure(name="rolling.answered_twice", value=seen["twice"], unit="turns", n=turns, asked="0"),
        Figure(name="rolling.sessions_whole", value=100 * seen["whole"] / max(n, 1), unit="%", n=n, asked="100"),
        Figure(name="rolling.turns_left_after_both", value=left, unit="turns", n=turns, asked="more than 0"),
        Figure(name="rolling.stopped_after", value=max(r.gone for r in replaced), unit="s", n=len(replaced)),
        Figure(name="rolling.ready_after", value=max(r.ready for r in replaced), unit="s", n=len(replaced)),
        *times("rolling", load.told, held.seconds),
    ]
    ended = [f"a worker ended with status {r.status}" for r in replaced if r.status]
    late = [] if left else ["the load ended before both workers were replaced: more sessions are needed"]
    wrong = [*load.failures, *load.crossed, *faults, *seen["faults"], *held.broken, *ended, *late]
    return Part(figures=figures, faults=wrong, details={"replaced": [list(r) for r in replaced]})


class _Site:
    """Two workers on ports that stay, as behind a balancer."""

    def __init__(self, home: Path, database: str) -> None:
        self._home, self._database = home, database
        self.ports = [_free_port(), _free_port()]
        self.urls = [f"http://127.0.0.1:{port}" for port in self.ports]
        self.workers: list[Server] = []
        self._logs = 0
        self._ended: list[Server] = []
        for port in self.ports:
            self.workers.append(self.start(port))

    def start(self, port: int) -> Server:
        """A worker on a port."""
        self._logs += 1
        env = environment(self._home, self._database, ANAMNESIS_SERVER__GRACE_SECONDS=str(GRACE))
        return Server(env, self._home / f"rolling-{self._logs}.log", port)

    def replace(self, number: int) -> tuple[int, float]:
        """Stop a worker in order and start the next one; the status of the first, and the seconds until it was gone."""
        started = time.monotonic()
        status = self.workers[number].stop(GRACE + END)
        self._ended.append(self.workers[number])
        gone = time.monotonic() - started
        self.workers[number] = self.start(self.ports[number])
        return status, gone

    def faults(self) -> list[str]:
        """What all of them complained of."""
        return [line for server in (*self._ended, *self.workers) for line in server.faults()]

    def close(self) -> None:
        """Kill what still runs."""
        for server in self.workers:
            if server.process.poll() is None:
                server.kill()


async def _held(load: Load, site: _Site, all_keys: list[str], turns: int) -> _Held:
    """The load with both replacements, then every session is looked at."""
    async with talkers(site.urls, all_keys, again=True) as users:
        running = asyncio.create_task(_replace(load, site, turns))
        seconds = await load.run(users, turns // 3)
        replaced = await running
        seen = await looked(load, users)
        away = sum(user.turned_away for user in users)
        return _Held(seconds, replaced, seen, away, [said for user in users for said in user.broken])


async def _replace(load: Load, site: _Site, turns: int) -> list[Replaced]:
    await load.marked.wait()
    replaced = []
    for number, url in enumerate(site.urls):
        started = asyncio.get_running_loop().time()
        status, gone = await asyncio.to_thread(site.replace, number)
        await _ready(url)
        seconds = asyncio.get_running_loop().time() - started
        replaced.append(Replaced(status, gone, seconds, turns - len(load.told)))
    return replaced


async def _ready(url: str) -> None:
    """Wait until a worker says that it is ready."""
    async with httpx.AsyncClient(trust_env=False) as client:
        while True:
            try:
                if (await client.get(f"{url}/ready", timeout=END)).status_code == httpx.codes.OK:
                    return
            except httpx.TransportError:
                pass  # not yet
            await asyncio.sleep(LOOK)


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
