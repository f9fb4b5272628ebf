"""The two ceilings of the requests: starts and how many at once; waiting costs no request time."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from tools.literature.client import EUtilities
from tools.literature.reachability import REMEMBERED, Reachability


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


def test_no_more_requests_run_at_once_and_whoever_gives_up_sends_none(
    quick: Callable[..., Any], ncbi: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    running, most, sent, lock = 0, 0, 0, threading.Lock()
    both, given_up = threading.Event(), threading.Event()

    def slow(*_: Any) -> bytes:
        nonlocal running, most, sent
        with lock:
            running, sent = running + 1, sent + 1
            most = max(most, running)
            if running == 2:
                both.set()
        given_up.wait(5)  # the first two run until the six have given up
        with lock:
            running -= 1
        return b"<eSearchResult><Count>0</Count><IdList/></eSearchResult>"

    monkeypatch.setattr("tools.literature.calls.request", slow)
    clients = [quick(ncbi, concurrency=2, cache=False) for _ in range(2)]

    async def main() -> None:
        both.clear()
        given_up.clear()
        tasks = [asyncio.create_task(clients[n % 2].search("croup", 5)) for n in range(12)]
        assert await asyncio.to_thread(both.wait, 5)
        for task in tasks[3:9]:
            task.cancel()
        await asyncio.sleep(0)
        given_up.set()
        await asyncio.gather(*tasks, return_exceptions=True)

    for _ in range(2):  # in two event loops
        asyncio.run(asyncio.wait_for(main(), 5))
    assert most == 2
    assert sent == 12


def test_whoever_gives_up_while_waiting_for_a_start_sends_nothing(quick: Callable[..., Any], ncbi: Any) -> None:
    client = quick(ncbi, concurrency=1)
    client.calls.limiter.reserve = lambda: time.monotonic() + 30

    async def main() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(client.search("croup", 5), 0.1)
        client.calls.limiter.reserve = time.monotonic
        await asyncio.wait_for(client.search("asthma", 5), 5)

    asyncio.run(main())
    assert [r.parameters["term"] for r in ncbi.requests] == ["asthma"]


def test_requests_at_once_keep_to_the_limit(ncbi: Any, settings_for: Callable[..., Any]) -> None:
    client, other = EUtilities(settings_for(ncbi)), EUtilities(settings_for(ncbi))

    async def together() -> None:
        await asyncio.gather(*(c.search(f"croup {n}", 5) for n, c in enumerate([client, other] * 4)))

    started = time.monotonic()
    asyncio.run(together())
    assert len(ncbi.requests) == 8
    assert time.monotonic() - started >= 0.65  # eight starts, seven gaps of a tenth of a second, less jitter


def test_a_server_that_answers_can_be_reached_and_is_asked_once(ncbi: Any, monkeypatch: Any) -> None:
    asked = []
    answer = ncbi.answer
    monkeypatch.setattr(ncbi, "answer", lambda r: (asked.append(r.utility), answer(r))[1])
    reachability = Reachability(ncbi.url)

    async def together() -> list[bool]:
        return await asyncio.gather(*(reachability.check() for _ in range(5)))

    assert asyncio.run(together()) == [True] * 5
    assert asyncio.run(reachability.check())
    assert asked == ["einfo"]


def test_an_error_page_is_an_answer_too(ncbi: Any, xml: Any) -> None:
    ncbi.answer = lambda _: xml.Reply("", status=503)
    assert asyncio.run(Reachability(ncbi.url).check())


def test_a_closed_port_cannot_be_reached_and_is_asked_again_after_a_minute(ncbi: Any) -> None:
    now = [0.0]
    reachability = Reachability("http://127.0.0.1:9/eutils", clock=lambda: now[0])
    assert not asyncio.run(reachability.check())
    reachability._url = f"{ncbi.url}/einfo.fcgi"
    now[0] = REMEMBERED - 1
    assert not asyncio.run(reachability.check())
    now[0] = REMEMBERED + 1
    assert asyncio.run(reachability.check())


def test_a_server_that_hangs_costs_no_more_than_the_timeout() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        reachability = Reachability(f"http://127.0.0.1:{silent.getsockname()[1]}", timeout=0.2)
        started = time.monotonic()
        assert not asyncio.run(reachability.check())
        assert time.monotonic() - started < 1.5
