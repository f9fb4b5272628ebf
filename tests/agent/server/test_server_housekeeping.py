"""What the server does for itself goes on when a day goes wrong, and waits where its callers would have to."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest

from agent.loop import run
from agent.server import app
from agent.server.app import Housekeeping
from prompts.errors import ServiceError
from support.served import Served

PATIENCE = 20.0


async def worked(server: Served, done: Callable[[], bool]) -> None:
    """Work until something is done."""
    work = Housekeeping(server.app.state.parts)
    work.start()
    end = time.monotonic() + PATIENCE
    while not done() and time.monotonic() < end:  # noqa: ASYNC110  what is waited for is in a database
        await asyncio.sleep(0.02)
    await work.stop()


def test_a_day_on_which_it_fails_is_not_the_last(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    server = start()
    days: list[str] = []

    async def sessions() -> list[str]:
        days.append("a day")
        if len(days) == 1:
            raise ServiceError("The session database does not serve.")
        return []

    monkeypatch.setattr(app, "DAY", 0.05)
    monkeypatch.setattr(server.app.state.parts.histories, "sessions", sessions)
    asyncio.run(worked(server, lambda: len(days) > 2))
    assert len(days) > 2


def test_freed_memory_is_given_back_again_and_again(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    class Library:
        def malloc_trim(self, pad: int) -> int:
            asked.append(pad)
            return 1

    monkeypatch.setattr(app, "FREEING", 0.01)
    monkeypatch.setattr(app.ctypes, "CDLL", lambda _name: Library())
    monkeypatch.setattr(app.sys, "platform", "linux")
    asyncio.run(worked(start(), lambda: len(asked) > 2))
    assert asked[:3] == [0, 0, 0]


def test_a_cut_off_turn_waits_for_its_owners_place(start: Any) -> None:
    server = start(pause={"answer": 60.0}, turn_seconds=0.5, turns=1, finish_at_start=True)
    turns, key = server.app.state.turns, server.key()
    with server.client(key) as client:
        session = client.post("/api/sessions", json={}).json()["id"]
        assert client.post(f"/api/sessions/{session}/turns", json={"text": "croup"}).status_code == 504
        server.script.pause["answer"] = 0.0
        turns._seconds = PATIENCE
        give_back = turns.places.take(client.get("/api/me").json()["id"])

        async def after_a_while() -> None:
            asyncio.get_running_loop().call_later(0.5, give_back)
            await worked(server, lambda: not run(server.agent.records.get(session)).unfinished)

        asyncio.run(after_a_while())
        assert not run(server.agent.records.get(session)).unfinished
