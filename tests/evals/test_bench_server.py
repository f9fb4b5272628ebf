"""The benchmark of the server sees what it is there to see: another's answers, memory that grows, a turn cut off."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator
from types import SimpleNamespace

import httpx
import pytest

from agent.agent import Agent
from evals.bench import serving
from evals.bench.server import (
    Essence,
    Load,
    Record,
    Sample,
    differences,
    grown,
    mixed,
    patients,
    recorded,
    slope,
    told_alone,
)
from evals.bench.server_overhead import Pair, figures
from evals.bench.serving import Refused, Talker, talkers
from support.machine_parts import parts
from support.served import Served, served

USERS, SESSIONS = 3, 9


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("home")
    with Agent(home=home, parts=parts()) as agent, served(agent) as running:
        yield running


def held(server: Served, load: Load) -> Record:
    async def run() -> Record:
        async with talkers([server.url], [server.key() for _ in range(USERS)]) as users:
            assert await load.run(users, [server.url]) > 0
            return await recorded(load, users)

    return asyncio.run(run())


def test_a_load_names_the_sessions_that_were_told_anothers_answers(server: Served) -> None:
    said = patients(USERS, SESSIONS)
    before = len(server.agent.sessions())
    due = told_alone(server.agent, said)
    assert len(server.agent.sessions()) == before + len(set(said)), "each patient is asked alone once"
    right = Load(said, due)
    seen = held(server, right)
    assert (right.failures, right.crossed) == ([], [])
    assert seen == (0, 0, SESSIONS)
    assert len(right.told) == right.turns == 3 * SESSIONS
    assert len(right.health) >= 1
    assert all(0 < told.first <= told.step <= told.seconds for told in right.told)
    one = said[1]
    swapped = [turn._replace(citations=(("library:other@0-1", "x"),)) if turn.turn == 2 else turn for turn in due[one]]
    crossed = Load(said, {**due, one: swapped})
    held(server, crossed)
    assert [told.partition(": ")[2] for told in crossed.crossed] == ["turn 2: citations"] * said.count(one)
    assert all("user 1" in told for told in crossed.crossed)


def test_what_is_not_answered_is_counted_and_ends_the_wait(server: Served) -> None:
    async def run() -> Load:
        load = mixed(8)
        async with talkers([server.url], ["wrong"]) as users:
            await load.run(users)
            await load.marked.wait()
        return load

    load = asyncio.run(run())
    assert (len(load.told), len(load.failures), load.turns) == (0, 2, 8)
    assert "401" in load.failures[0]


def test_users_that_talk_at_once_have_cases_of_their_own() -> None:
    said = patients(20, 120)
    for user in range(20):
        assert len({case for case, *_ in said[user::20]}) == 2
    assert len({case for case, *_ in said}) == 40


def test_memory_that_grows_is_told() -> None:
    steady = {f.name: f.value for f in grown("x", [Sample(n, 500.0 + min(n, 10), 1) for n in range(101)], 100)}
    assert (steady["x.memory_growth"], steady["x.disk_a_turn"]) == (0, 0)
    rising = {f.name: f.value for f in grown("x", [Sample(n, 500.0 + n, n / 100) for n in range(101)], 100)}
    assert rising["x.memory_growth"] == pytest.approx(85, abs=2)
    assert rising["x.memory_a_turn"] == pytest.approx(1000)
    assert rising["x.memory_a_turn_margin"] == pytest.approx(0, abs=1e-6)
    assert slope([0, 1, 2, 3], [1, 3, 3, 5]) == pytest.approx((1.2, 1.96 * math.sqrt(0.8 / 2 / 5)))
    assert slope([0, 1], [1, 2]) == (0.0, 0.0)
    assert rising["x.disk_a_turn"] == pytest.approx(10)


def test_overhead_is_the_median_of_pairs_with_its_interval() -> None:
    pairs = [Pair(0.5 + n / 10, 0.51 + n / 10, 0.52 + n / 10, 0.004, 0.02, 0.007) for n in range(20)]
    found = {figure.name.removeprefix("overhead.case."): figure.value for figure in figures("case", pairs)}
    assert found["json_over_aask"] == pytest.approx(10)
    assert found["events_over_aask_low"] == pytest.approx(20)
    assert found["json_outside_of_turn"] == pytest.approx(7)
    assert found["first_event_p95"] == pytest.approx(4)


def test_two_conversations_differ_by_turn_and_field() -> None:
    one = Essence(1, ("a", "b"), (("e", "q"),), ())
    assert differences([one], [one]) == []
    assert differences([one], [one._replace(diseases=("b", "a"))]) == ["turn 1: diseases"]
    assert differences([one], [one, one]) == ["1 turns against 2"]


def test_a_talker_goes_to_the_next_server_and_tells_a_refusal_from_an_answer_that_broke(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(serving, "WAIT", 0)

    def answered(request: httpx.Request) -> httpx.Response:
        if request.url.host == "stopping":
            return httpx.Response(503)
        if request.url.host == "gone":
            raise httpx.ConnectError("gone")
        if request.url.host == "broken":
            raise httpx.ReadError("broken")
        if request.url.host == "strict":
            return httpx.Response(404)
        return httpx.Response(200, json={"id": "s"})

    async def talked(first: str, *, again: bool = True) -> tuple[int, list[str]]:
        talker = Talker([f"http://{first}", "http://well"], "k", again=again)
        talker.client = httpx.AsyncClient(transport=httpx.MockTransport(answered))
        async with talker.client:
            assert await talker.open() == "s"
        return talker.turned_away, talker.broken

    assert asyncio.run(talked("well")) == (0, [])
    assert asyncio.run(talked("stopping")) == (1, [])
    assert asyncio.run(talked("gone")) == (1, [])
    assert asyncio.run(talked("broken")) == (0, ["ReadError"])
    for first, again in (("gone", False), ("strict", True)):
        with pytest.raises(Refused):
            asyncio.run(talked(first, again=again))


def test_a_talker_that_asks_too_often_waits_as_long_as_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr(serving, "asyncio", SimpleNamespace(sleep=sleep))
    answers = [httpx.Response(429, headers={"Retry-After": "7"}), httpx.Response(200, json={"id": "s"})]

    async def talked() -> int:
        talker = Talker(["http://busy"], "k")
        talker.client = httpx.AsyncClient(transport=httpx.MockTransport(lambda _: answers.pop(0)))
        async with talker.client:
            assert await talker.open() == "s"
        return talker.turned_away

    assert asyncio.run(talked()) == 1, "it is counted"
    assert slept == [7]
