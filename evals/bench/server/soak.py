"""Thousands of turns against one server process: what each leaves in memory and on disk, and how the server fares."""

from __future__ import annotations

import asyncio
import itertools
import statistics
import time
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import yaml

from evals.bench.figures import Figure
from evals.bench.server.load import late, times
from evals.bench.server.memory import Memory, Sample
from evals.bench.server.part import Bench, Part
from evals.bench.server.process import keys, serving
from evals.bench.server.talker import Refused, Talker, Told, talkers

QUESTIONS = Path(__file__).parents[1] / "questions.yaml"
SESSION = 5  # ours: turns of a session
USERS = 4  # ours: at once
WARM = 0.1  # ours: share of the turns after which what grows is counted: caches are full by then
PROBE = 0.5  # ours: seconds between two looks at /health


@dataclass
class Soak:
    """What was told, what failed, how long /health took, and bytes of the data folder by turns."""

    told: list[Told] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    health: list[float] = field(default_factory=list)
    disk: list[tuple[int, int]] = field(default_factory=list)

    async def run(self, url: str, users: list[Talker], turns: int, home: Path) -> float:
        """All turns, the users side by side; returns the seconds."""
        started = time.perf_counter()
        probe = asyncio.create_task(self._probe(url, home))
        numbers = iter(range(turns))
        await asyncio.gather(*(self._user(talker, numbers) for talker in users))
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
            return await held.run(url, list(users), turns, bench.home)

    with serving(bench.home, bench.home / "soak.log") as server:
        with Memory(server.process.pid, lambda: len(held.told)) as memory:
            seconds = asyncio.run(work(server.url))
        faults = server.faults()
        status = server.stop()
    faults += [f"the server ended with status {status}"] if status else []
    n = len(held.told)
    figures = [
        Figure(name="soak.failed_turns", value=turns - n, unit="turns", n=turns, asked="0"),
        *times("soak", held.told, seconds),
        Figure(
            name="soak.health_p95", value=1000 * late(held.health or [0.0]), unit="ms", n=len(held.health), asked="200"
        ),
        *_grown(memory.samples, turns),
        Figure(name="soak.disk_a_turn", value=_slope(held.disk, turns) / 1e3, unit="kB", n=n),
    ]
    details = {"memory": [list(s) for s in memory.samples], "disk": held.disk}
    return Part(figures=figures, faults=[*held.failures, *faults], details=details)


def _grown(samples: list[Sample], turns: int) -> list[Figure]:
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
