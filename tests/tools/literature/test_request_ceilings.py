"""The two ceilings of the requests: starts and how many at once; waiting costs no request time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from tools.literature.calls import Slots
from tools.literature.client import EUtilities


class Sleeper:
    """Notes how long it was asked to wait, and does not wait."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.waits.append(seconds)


def test_waiting_for_a_turn_is_no_request_time(ncbi: Any, settings_for: Callable[..., Any], xml: Any) -> None:
    """Six requests of 0.3 seconds, one at a time: the last waits longer than any time limit, and succeeds."""
    ncbi.script = [xml.Reply(xml.search([str(n)]), pause=0.3) for n in range(6)]
    client = EUtilities(settings_for(ncbi, timeout=0.8, longest=0.8, concurrency=1, attempts=1))

    async def together() -> list[Any]:
        return await asyncio.gather(*(client.search(f"croup {n}", 5) for n in range(6)))

    started = time.monotonic()
    assert {r.ids for r in asyncio.run(together())} == {(str(n),) for n in range(6)}
    assert time.monotonic() - started > 1.7


def test_the_event_loop_goes_on_while_pubmed_is_slow(ncbi: Any, settings_for: Callable[..., Any], xml: Any) -> None:
    ncbi.script = [xml.Reply(xml.search(["1"]), pause=0.6)]
    client, gaps = EUtilities(settings_for(ncbi)), []

    async def watch() -> None:
        last = time.monotonic()
        while True:
            await asyncio.sleep(0.01)
            gaps.append(time.monotonic() - last)
            last = time.monotonic()

    async def both() -> None:
        watcher = asyncio.create_task(watch())
        await client.search("q", 5)
        watcher.cancel()

    asyncio.run(both())
    assert len(gaps) > 10
    assert max(gaps) < 0.4


def test_slots_pass_from_hand_to_hand_and_a_cancelled_waiter_costs_none() -> None:
    slots, running, most = Slots(2), 0, 0

    async def work() -> None:
        nonlocal running, most
        async with slots.one():
            running += 1
            most = max(most, running)
            await asyncio.sleep(0.02)
            running -= 1

    async def main() -> None:
        tasks = [asyncio.create_task(work()) for _ in range(12)]
        await asyncio.sleep(0.01)
        for task in tasks[3:9]:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.wait_for(asyncio.gather(work(), work()), 2)

    asyncio.run(main())
    assert most == 2
    asyncio.run(asyncio.wait_for(work(), 2))  # another event loop


def test_requests_at_once_keep_to_the_limit(ncbi: Any, settings_for: Callable[..., Any]) -> None:
    client, other = EUtilities(settings_for(ncbi)), EUtilities(settings_for(ncbi))

    async def together() -> None:
        await asyncio.gather(*(c.search(f"croup {n}", 5) for n, c in enumerate([client, other] * 4)))

    started = time.monotonic()
    asyncio.run(together())
    assert len(ncbi.requests) == 8
    assert time.monotonic() - started >= 0.65  # eight starts, seven gaps of a tenth of a second, less jitter
