"""The benchmark of the server sees what it is there to see: another's answers, memory that grows, a turn cut off."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import defusedxml.ElementTree as ElementTree
import httpx
import pytest

from agent.agent import Agent
from evals.bench.server.cases import Alone, most_users, patient
from evals.bench.server.essence import Essence, differences
from evals.bench.server.load import Load, expected
from evals.bench.server.memory import Sample, drawn, steadiness
from evals.bench.server.overhead import Pair, figures_of
from evals.bench.server.run import bench_server
from evals.bench.server.soak import Soak, grown_of
from evals.bench.server.talker import Talker, talkers
from prompts.errors import InputError
from support.machine_parts import parts
from support.served import Served, served

USERS, SESSIONS = 3, 9


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("home")
    with Agent(home=home, parts=parts()) as agent, served(agent) as running:
        yield running


def held(server: Served, load: Load) -> None:
    async def run() -> None:
        async with talkers([server.url], [server.key() for _ in range(USERS)]) as users:
            await load.run(users, SESSIONS)

    asyncio.run(run())


def test_a_load_names_the_sessions_that_were_told_anothers_answers(server: Served) -> None:
    due = expected(server.agent, USERS, SESSIONS)
    right = Load(due)
    held(server, right)
    assert (right.failures, right.crossed) == ([], [])
    assert len(right.told) == 3 * SESSIONS
    assert all(0 < told.first <= told.step <= told.seconds for told in right.told)
    one = patient(1, 0)
    swapped = [turn._replace(citations=(("library:other@0-1", "x"),)) if turn.turn == 2 else turn for turn in due[one]]
    crossed = Load({**due, one: swapped})
    held(server, crossed)
    assert [said.partition(": ")[2] for said in crossed.crossed] == ["turn 2: citations"] * 2
    assert all("user 1" in said for said in crossed.crossed)


def test_users_that_talk_at_once_have_cases_of_their_own() -> None:
    held = [{patient(user, place)[0] for place in range(6)} for user in range(most_users())]
    assert sum(map(len, held)) == len(set.union(*held)) == 2 * most_users()


def test_each_patient_is_asked_alone_once(server: Served) -> None:
    alone = Alone(server.agent)
    before = len(server.agent.sessions())
    assert alone.told(patient(0, 0)) == alone.told(patient(0, 2))
    assert len(server.agent.sessions()) == before + 1


def test_memory_that_grows_is_told() -> None:
    steady = [Sample(n, n, 500.0 + 100 * min(n, 10) / 10) for n in range(101)]
    assert steadiness(steady, 100).growth == 0
    assert steadiness([s._replace(resident=600 + s.done) for s in steady], 100).growth == pytest.approx(13.0, abs=0.5)


def test_memory_is_drawn_by_turns() -> None:
    root = ElementTree.fromstring(drawn([Sample(0, 0, 100.0), Sample(1, 50, 200.0), Sample(2, 100, 200.0)]))
    line = root.find("{*}polyline")
    assert line is not None
    assert line.attrib["points"] == "80.0,144.0 360.0,24.0 640.0,24.0"
    assert ElementTree.fromstring(drawn([])).tag.endswith("svg")


def test_a_soak_counts_what_was_not_answered_and_what_a_turn_leaves(server: Served, tmp_path: Path) -> None:
    async def run(keys: list[str]) -> Soak:
        told = Soak()
        async with talkers([server.url], keys) as users:
            assert await told.run([server.url], users, 8, tmp_path) > 0
        return told

    well = asyncio.run(run([server.key(), server.key()]))
    assert (len(well.told), well.failures) == (8, [])
    assert len(well.health) >= 1
    strange = asyncio.run(run(["wrong"]))
    assert (len(strange.told), len(strange.failures)) == (0, 8)
    assert "401" in strange.failures[0]
    grown = {f.name: f.value for f in grown_of([Sample(n, n, 500.0 + n) for n in range(101)], 100)}
    assert grown["soak.memory_growth"] == pytest.approx(85, abs=2)
    assert grown["soak.memory_a_turn"] == pytest.approx(1000)


def test_overhead_is_the_median_of_pairs_with_its_interval() -> None:
    pairs = [Pair(0.5 + n / 10, 0.51 + n / 10, 0.52 + n / 10, 0.004, 0.02, 0.007) for n in range(20)]
    found = {figure.name.removeprefix("overhead.case."): figure.value for figure in figures_of("case", pairs)}
    assert found["json_over_aask"] == pytest.approx(10)
    assert found["events_over_aask_low"] == pytest.approx(20)
    assert found["json_outside_of_turn"] == pytest.approx(7)
    assert found["first_event_p95"] == pytest.approx(4)


def test_two_conversations_differ_by_turn_and_field() -> None:
    one = Essence(1, ("a", "b"), (("e", "q"),), ())
    assert differences([one], [one]) == []
    assert differences([one], [one._replace(diseases=("b", "a"))]) == ["turn 1: diseases"]
    assert differences([one], [one, one]) == ["1 turns against 2"]


def test_a_part_that_there_is_not_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no part nothing"):
        bench_server(["nothing"], None, "", quick=True)


def test_a_talker_goes_to_the_next_server_and_tells_a_refusal_from_an_answer_that_broke() -> None:
    def answered(request: httpx.Request) -> httpx.Response:
        if request.url.host == "stopping":
            return httpx.Response(503)
        if request.url.host == "gone":
            raise httpx.ConnectError("gone")
        if request.url.host == "broken":
            raise httpx.ReadError("broken")
        return httpx.Response(200, json={"id": "s"})

    async def talked(first: str) -> tuple[int, list[str]]:
        talker = Talker([f"http://{first}", "http://well"], "k", again=True)
        talker._client = httpx.AsyncClient(transport=httpx.MockTransport(answered))
        assert await talker.open() == "s"
        await talker.close()
        return talker.turned_away, talker.broken

    assert asyncio.run(talked("well")) == (0, [])
    assert asyncio.run(talked("stopping")) == (1, [])
    assert asyncio.run(talked("gone")) == (1, [])
    assert asyncio.run(talked("broken")) == (0, ["ReadError"])
