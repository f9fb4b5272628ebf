"""Two workers on one PostgreSQL under load, one of them killed (-9): its sessions go on at the other."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from typing import Any

from agent.agent import Agent
from evals.bench.figures import Figure
from evals.bench.server.cluster import cluster, reason
from evals.bench.server.load import Load, expected, outcome, times
from evals.bench.server.part import Bench, Part
from evals.bench.server.process import Server, keys, serving
from evals.bench.server.talker import Talker, talkers

HALFWAY = 0.5  # of the turns are answered when the worker is killed


def two_workers(bench: Bench) -> Part:
    """The load on two workers, and what is on record afterwards."""
    if not bench.database and (why := reason()):
        return Part(left_out=[f"two workers: {why}"])
    sizes = bench.sizes
    with Agent(bench.settings()) as agent:
        load = Load(
            expected(agent, sizes.users, sizes.workers_sessions), mark=round(HALFWAY * 3 * sizes.workers_sessions)
        )
    with ExitStack() as stack:
        database = bench.database or stack.enter_context(cluster())
        all_keys = keys(bench.home, sizes.users, database)
        first, second = [
            stack.enter_context(serving(bench.home, bench.home / f"worker-{n}.log", database)) for n in (1, 2)
        ]
        turns = 3 * sizes.workers_sessions
        seconds, seen = asyncio.run(_held(load, [first, second], all_keys, turns))
        faults = second.faults()
    again = [t for t in load.told if t.tries > 1]
    n = len(load.sessions)
    figures = [
        *outcome("workers", load, turns),
        Figure(name="workers.cut_off_or_asked_again", value=len(again), unit="turns", n=turns),
        Figure(name="workers.lost_turns", value=seen["lost"], unit="turns", n=turns, asked="0"),
        Figure(name="workers.answered_twice", value=seen["twice"], unit="turns", n=turns, asked="0"),
        Figure(name="workers.sessions_whole", value=100 * seen["whole"] / max(n, 1), unit="%", n=n, asked="100"),
        *times("workers", load.told, seconds),
    ]
    return Part(figures=figures, faults=[*load.failures, *load.crossed, *faults, *seen["faults"]])


async def _held(load: Load, servers: list[Server], all_keys: list[str], turns: int) -> tuple[float, dict[str, Any]]:
    """The load, with the kill in its middle; then every session is looked at through the worker that is left."""
    killed, left = servers
    async with talkers([killed.url, left.url], all_keys, again=True) as users:
        running = asyncio.create_task(_kill(load, killed))
        seconds = await load.run(users, turns // 3)
        await running
    async with talkers([left.url], all_keys) as users:
        return seconds, await looked(load, users)


async def _kill(load: Load, server: Server) -> None:
    """Kill a worker when half of the turns are answered."""
    await load.marked.wait()
    server.kill()


async def looked(load: Load, users: list[Talker]) -> dict[str, Any]:
    """What is on record: sessions with all their turns, and how often each turn was answered."""
    seen: dict[str, Any] = {"lost": 0, "twice": 0, "whole": 0, "faults": []}
    for session, user in load.sessions:
        path = f"/api/sessions/{session}"
        turns = (await users[user].call("GET", path))["turns"]
        answered = [turn for turn in turns if turn["answer"] is not None]
        seen["lost"] += 3 - len(answered)
        seen["whole"] += len(turns) == len(answered) == 3
        for turn in answered:
            events = (await users[user].call("GET", f"{path}/turns/{turn['turn']}/trace"))["events"]
            if sum(event["kind"] == "answered" for event in events) > 1:
                seen["twice"] += 1
                seen["faults"].append(f"{session}/{turn['turn']}: answered twice")
    return seen
