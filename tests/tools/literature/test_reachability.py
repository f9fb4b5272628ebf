"""Reachability: found out once, quickly, and remembered for a minute."""

from __future__ import annotations

import asyncio
import socket
import time
from typing import Any

from tools.literature.reachability import REMEMBERED, Reachability


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
