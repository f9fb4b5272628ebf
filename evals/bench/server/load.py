"""Many sessions at once against one server process: failures, cross-talk, times, memory."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from agent.agent import Agent
from evals.bench.figures import Figure
from evals.bench.server.cases import Alone, patient
from evals.bench.server.essence import Essence, differences, essence
from evals.bench.server.memory import Memory, steadiness
from evals.bench.server.part import Bench, Part
from evals.bench.server.process import keys, serving
from evals.bench.server.talker import Refused, Talker, Told, talkers

LATE = 0.95  # of the times


@dataclass
class Load:
    """What users saw.

    Attributes:
        told: every turn. failures: what was not answered, in words. crossed: sessions with another's answers.
        sessions: id and user of each. expected: what each patient is to be told.
        mark: so many answers set ``marked``; a failure does too.
    """

    expected: dict[tuple[str, ...], list[Essence]]
    told: list[Told] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    crossed: list[str] = field(default_factory=list)
    sessions: list[tuple[str, int]] = field(default_factory=list)
    mark: int = 0
    marked: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self, users: Sequence[Talker], sessions: int) -> float:
        """Every user holds sessions one after another; returns the seconds that all took."""
        started = time.perf_counter()
        share = [range(user, sessions, len(users)) for user in range(len(users))]
        await asyncio.gather(*(self._user(n, talker, share[n]) for n, talker in enumerate(users)))
        return time.perf_counter() - started

    async def _user(self, user: int, talker: Talker, numbers: Sequence[int]) -> None:
        for place, number in enumerate(numbers):
            messages = patient(user, place)
            try:
                await self._session(user, talker, number, messages)
            except Refused as refused:
                self.failures.append(f"session {number} of user {user}: {refused}")
                self.marked.set()

    async def _session(self, user: int, talker: Talker, number: int, messages: tuple[str, ...]) -> None:
        session = await talker.open()
        self.sessions.append((session, user))
        seen = []
        for turn, text in enumerate(messages, start=1):
            told = await talker.say(session, text, f"load-{number}-{turn}")
            self.told.append(told)
            if len(self.told) == self.mark:
                self.marked.set()
            seen.append(essence(told.answer))
            if told.answer["session"] != session:
                self.crossed.append(f"session {number}: an answer of session {told.answer['session']}")
        if wrong := differences(seen, self.expected[messages]):
            self.crossed.append(f"session {number} of user {user}: {', '.join(wrong)}")


def expected(agent: Agent, users: int, sessions: int) -> dict[tuple[str, ...], list[Essence]]:
    """What every patient of a load is told alone."""
    alone = Alone(agent)
    held = {patient(user, place) for user in range(users) for place in range(-(-sessions // users))}
    return {messages: alone.told(messages) for messages in sorted(held)}


def under_load(bench: Bench) -> Part:
    """The load of the benchmark on one worker."""
    sizes = bench.sizes
    with Agent(bench.settings()) as agent:
        load = Load(expected(agent, sizes.users, sizes.sessions))
    all_keys = keys(bench.home, sizes.users)

    async def held(url: str) -> float:
        async with talkers([url], all_keys) as users:
            return await load.run(users, sizes.sessions)

    with serving(bench.home, bench.home / "load.log") as server:
        with Memory(server.process.pid, lambda: len(load.told)) as memory:
            seconds = asyncio.run(held(server.url))
        faults = server.faults()
        status = server.stop()
    turns = 3 * sizes.sessions
    figures = [*outcome("load", load, turns), *times("load", load.told, seconds)]
    used = steadiness(memory.samples, turns)
    n = len(memory.samples)
    figures += [
        Figure(name="load.memory_at_start", value=used.start, unit="MB", n=1),
        Figure(name="load.memory_second_tenth", value=used.early, unit="MB", n=n),
        Figure(name="load.memory_last_tenth", value=used.late, unit="MB", n=n),
        Figure(name="load.memory_at_most", value=used.most, unit="MB", n=n),
        Figure(name="load.memory_growth", value=used.growth, unit="%", n=n, asked="steady"),
    ]
    faults += [f"the server ended with status {status}"] if status else []
    details: dict[str, Any] = {"memory": [list(sample) for sample in memory.samples]}
    details["turns"] = [[t.seconds, t.first, t.step, t.tries] for t in load.told]
    return Part(figures=figures, faults=[*load.failures, *load.crossed, *faults], details=details)


def outcome(name: str, load: Load, turns: int) -> list[Figure]:
    """How many turns failed, and how many sessions were told another's."""
    answered, sessions = len(load.told), len(load.sessions)
    return [
        Figure(name=f"{name}.failed_turns", value=turns - answered, unit="turns", n=turns, asked="0"),
        Figure(name=f"{name}.crossed_sessions", value=len(load.crossed), unit="sessions", n=sessions, asked="0"),
    ]


def times(name: str, told: Sequence[Told], seconds: float) -> list[Figure]:
    """Of the turns: seconds each, until the first step event, and how many a second."""
    n = len(told)
    each = [t.seconds for t in told] or [0.0]
    first = [1000 * t.first for t in told] or [0.0]
    return [
        Figure(name=f"{name}.turn_p50", value=statistics.median(each), unit="s", n=n),
        Figure(name=f"{name}.turn_p95", value=late(each), unit="s", n=n),
        Figure(name=f"{name}.turns_a_second", value=n / seconds, unit="1/s", n=n),
        Figure(name=f"{name}.first_event_p50", value=statistics.median(first), unit="ms", n=n),
        Figure(name=f"{name}.first_event_p95", value=late(first), unit="ms", n=n),
    ]


def late(values: Sequence[float]) -> float:
    """The 95th percentile."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(LATE * len(ordered)))]
