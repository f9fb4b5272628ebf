"""Mixed questions against the server: thousands of turns at one process, and few and many clients at two.

Of the thousands, what each leaves in memory and on disk; of both, how long `/health` takes meanwhile.
"""

from __future__ import annotations

import asyncio
import itertools
import statistics
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import yaml

from evals.bench.figures import Figure
from evals.bench.server.cluster import cluster, reason
from evals.bench.server.load import late, times
from evals.bench.server.memory import Memory, Sample
from evals.bench.server.part import Bench, Part
from evals.bench.server.process import keys, serving
from evals.bench.server.talker import Refused, Talker, Told, talkers

QUESTIONS = Path(__file__).parents[1] / "questions.yaml"
SESSION = 5  # ours: turns of a session
USERS = 4  # ours: at once
CLIENTS = (1, 8, 32)  # asked: at once, at two workers
WARM = 0.1  # ours: share of the turns after which what grows is counted: caches are full by then
PROBE = 0.5  # ours: seconds between two looks at /health


@dataclass
class Soak:
    """What was told, what failed, how long /health took, and bytes of the data folder by turns."""

    told: list[Told] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    health: list[float] = field(default_factory=list)
    disk: list[tuple[int, int]] = field(default_factory=list)

    async def run(self, urls: Sequence[str], users: list[Talker], turns: int, home: Path) -> float:
        """All turns, the users side by side; returns the seconds."""
        started = time.perf_counter()
        probes = [asyncio.create_task(self._probe(url, home)) for url in urls]
        numbers = iter(range(turns))
        await asyncio.gather(*(self._user(talker, numbers) for talker in users))
        for probe in probes:
            probe.cancel()
        self.disk.append((len(self.told), size_of(home)))
        return time.perf_counter() - started

    async def _user(self, talker: Talker, numbers: Any) -> None:
        texts, session = _texts(), ""
        for place, number in zip(itertools.count(), numbers, strict=False):
            try:
                session = await talker.open() if place % SESSION == 0 else session
                self.told.append(await talker.say(session, texts[number % len(texts)], f"soak-{number}"))
            except Refused as refused:
                self.failures.append(f"turn {number}: {refused}")

    async def _probe(self, url: str, home: Path) -> None:
        async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
            while True:
                started = time.perf_counter()
                (await client.get(f"{url}/health")).raise_for_status()
                self.health.append(time.perf_counter() - started)
                self.disk.append((len(self.told), await asyncio.to_thread(size_of, home)))
                await asyncio.sleep(PROBE)


def soak(bench: Bench) -> Part:
    """Turns of cases and questions in two languages, `USERS` at once, in sessions of `SESSION`."""
    turns, held = bench.sizes.soak, Soak()
    all_keys = keys(bench.home, USERS)

    async def work(url: str) -> float:
        async with talkers([url], all_keys) as users:
            return await held.run([url], list(users), turns, bench.home)

    with serving(bench.home, bench.home / "soak.log") as server:
        with Memory(server.process.pid, lambda: len(held.told)) as memory:
            seconds = asyncio.run(work(server.url))
        faults = server.faults()
        status = server.stop()
    faults += [f"the server ended with status {status}"] if status else []
    disk = Figure(name="soak.disk_a_turn", value=_slope(held.disk, turns) / 1e3, unit="kB", n=len(held.told))
    figures = [*_fared("soak", held, turns, seconds), *grown_of(memory.samples, turns), disk]
    details = {"memory": [list(s) for s in memory.samples], "disk": held.disk}
    return Part(figures=figures, faults=[*held.failures, *faults], details=details)


def few_and_many(bench: Bench) -> Part:
    """1, 8 and 32 clients at two workers on one PostgreSQL; who is told to come back comes back, and is counted."""
    if not bench.database and (why := reason()):
        return Part(left_out=[f"few and many clients: {why}"])
    turns, part = bench.sizes.clients, Part()
    with ExitStack() as stack:
        database = bench.database or stack.enter_context(cluster())
        all_keys = keys(bench.home, max(CLIENTS), database)
        logs = [bench.home / f"clients-{n}.log" for n in (1, 2)]
        servers = [stack.enter_context(serving(bench.home, log, database)) for log in logs]
        for clients in CLIENTS:
            held, name = Soak(), f"clients.{clients}"
            seconds, away = asyncio.run(_held(held, [s.url for s in servers], all_keys[:clients], turns, bench.home))
            part.figures += _fared(name, held, turns, seconds)
            part.figures.append(Figure(name=f"{name}.told_to_come_back", value=away, unit="requests", n=turns))
            part.faults += held.failures
        part.faults += [fault for server in servers for fault in server.faults()]
    return part


async def _held(held: Soak, urls: list[str], some_keys: list[str], turns: int, home: Path) -> tuple[float, int]:
    async with talkers(urls, some_keys, again=True) as users:
        seconds = await held.run(urls, list(users), turns, home)
        return seconds, sum(user.turned_away for user in users)


def _fared(name: str, held: Soak, turns: int, seconds: float) -> list[Figure]:
    """Turns that failed, how long the others took, and `/health` meanwhile."""
    health = held.health or [0.0]
    return [
        Figure(name=f"{name}.failed_turns", value=turns - len(held.told), unit="turns", n=turns, asked="0"),
        *times(name, held.told, seconds),
        Figure(name=f"{name}.health_p95", value=1000 * late(health), unit="ms", n=len(health), asked="200"),
    ]


def grown_of(samples: list[Sample], turns: int) -> list[Figure]:
    """Resident memory after the first turns and at the end, and what a turn between them leaves."""
    after = [(s.done, int(1e6 * s.resident)) for s in samples]
    warm, last = (
        [r for d, r in after if a <= d <= b] for a, b in ((WARM * turns, 1.5 * WARM * turns), (0.95 * turns, turns))
    )
    early, end = (statistics.median(part or [0]) / 1e6 for part in (warm, last))
    return [
        Figure(name="soak.memory_after_a_tenth", value=early, unit="MB", n=len(warm)),
        Figure(name="soak.memory_at_the_end", value=end, unit="MB", n=len(last)),
        Figure(name="soak.memory_growth", value=end - early, unit="MB", n=len(samples), asked="50"),
        Figure(name="soak.memory_a_turn", value=_slope(after, turns) / 1e3, unit="kB", n=len(samples), asked="20"),
    ]


def _slope(by_turns: list[tuple[int, int]], turns: int) -> float:
    """Bytes a turn, by least squares over what was seen after the first tenth of the turns."""
    rows = [(float(done), float(value)) for done, value in by_turns if done >= WARM * turns]
    if len({done for done, _ in rows}) < 2:
        return 0.0
    return statistics.linear_regression(*zip(*rows, strict=True)).slope


def size_of(folder: Path) -> int:
    """Bytes of all files of a folder."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except FileNotFoundError:  # a lock, or a file that was replaced
            continue
    return total


@cache
def _texts() -> tuple[str, ...]:
    rows = yaml.safe_load(QUESTIONS.read_text(encoding="utf-8"))
    return tuple(row["text"] for row in rows)
