"""Agents as a program of a user's calls them: slips are told, forks, loops, closing, cancelling and owners are safe."""

from __future__ import annotations

import asyncio
import builtins
import gc
import multiprocessing
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import graphs.clinical
from agent.agent import Agent
from agent.settings import Settings, default_home, load_settings
from prompts.errors import DataError, InputError
from support.machine_parts import parts

PATIENCE = 60.0  # seconds for a forked child, which would else hang for ever


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Agent]:
    with Agent(home=tmp_path / "home", parts=parts()) as made:
        yield made


# Settings by wrong names, and by empty values.


def test_an_empty_path_is_none_and_never_the_working_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "KG_GRAPH", "KG_RECORDS", "ICD10_ZH", "CORPORA", "DATABASE", "GATE__CALIBRATION"):
        monkeypatch.setenv(f"ANAMNESIS_{name}", "")
    found = load_settings()
    assert found.home == default_home()
    assert (found.kg_graph, found.kg_records, found.icd10_zh, found.corpora, found.database) == (None,) * 5
    assert found.gate.calibration is None
    monkeypatch.setenv("ANAMNESIS_LITERATURE__CACHE_FOLDER", "")
    assert load_settings().literature.cache_folder == default_home() / "cache" / "eutils"


def test_what_is_no_database_for_sessions_and_what_are_no_settings_is_refused() -> None:
    with pytest.raises(InputError, match="begins with postgresql"):
        load_settings(database="mysql://ward")
    with pytest.raises(InputError, match="no Settings"):
        Agent("ward")  # type: ignore[arg-type]


def test_a_settings_file_that_is_no_text_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_bytes(b"ANAMNESIS_MODEL=\xff\xfe")
    with pytest.raises(InputError, match=r"from \.env: it is no text"):
        load_settings()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"literature__live": "off"}, "literature={'live': ...}"),
        ({"live": "off"}, "literature={'live': ...} or knowledge={'live': ...}"),
        ({"hom": "x"}, "Did you mean home?"),
        ({"foo": 1}, "There is no setting foo. docs/settings.md"),
        ({"literature": {"lvie": "off"}}, "literature.live"),
        ({"max_characters": 5}, "max_characters: Input should be greater"),
        ({"literature": 5}, "literature: Input should be"),
    ],
)
def test_a_setting_by_a_wrong_name_is_refused_with_the_right_one(given: dict[str, Any], told: str) -> None:
    makers: list[Callable[..., Any]] = [Settings, load_settings, Agent]
    for maker in makers:
        with pytest.raises(InputError) as caught:
            maker(**given)
        assert told in str(caught.value)


@pytest.mark.parametrize(
    ("name", "right"),
    [
        ("ANAMNESIS_LITERATURE_LIVE", "ANAMNESIS_LITERATURE__LIVE"),
        ("ANAMNESIS_MODLE", "ANAMNESIS_MODEL"),
        ("ANAMNESIS_SERVER_PORT", "ANAMNESIS_SERVER__PORT"),
        ("ANAMNESIS_LITERATURE__LVIE", "literature.live"),
    ],
)
def test_a_misspelt_variable_is_refused_in_the_environment_and_in_the_file(
    name: str, right: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with monkeypatch.context() as scope:
        scope.setenv(name, "off")
        with pytest.raises(InputError, match=right.replace(".", r"\.")):
            Settings()
    (tmp_path / ".env").write_text(f"{name}=off\n")
    with pytest.raises(InputError, match=right.replace(".", r"\.")):
        Settings()


def test_other_programs_variables_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PORT", "PORT_8000_TCP_ADDR", "SERVICE_HOST", "SERVICE_PORT_HTTP", "KEY", "VERSION", "EVAL_BERTSCORE"):
        monkeypatch.setenv(f"ANAMNESIS_{name}", "x")
    Settings()


def test_every_setting_can_be_given_by_its_name(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, openai_base_url="http://here:1/v1", ncbi_email="me@example.org")
    assert (settings.openai_base_url, settings.literature.email) == ("http://here:1/v1", "me@example.org")


def test_settings_and_single_settings_do_not_go_together(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="home, literature beside them"):
        Agent(Settings(), home=tmp_path, literature={"live": "off"})


# What is not of its kind.


@pytest.mark.parametrize(
    ("text", "more"),
    [
        (None, {}),
        (b"x", {}),
        ("hi", {"session": 5}),
        ("hi", {"session": ""}),
        ("Which drug for gout?", {"options": {1: "2"}}),
        ("Which drug for gout?", {"options": {"A": 2}}),
        ("Which drug for gout?", {"options": ["a", "b"]}),
        ("croup?", {"given": 5}),
        ("croup?", {"given": [b"x"]}),
        ("croup?", {"documents": "abc"}),
        ("croup?", {"owner": None}),
        ("croup?", {"turn_key": 5}),
    ],
)
def test_what_is_not_of_its_kind_is_refused_with_advice(agent: Agent, text: Any, more: dict[str, Any]) -> None:
    calls: list[Callable[[], Any]] = [
        lambda: agent.ask(text, **more),
        lambda: list(agent.stream(text, **more)),
        lambda: asyncio.run(agent.aask(text, **more)),
    ]
    for call in calls:
        with pytest.raises(InputError) as caught:
            call()
        assert caught.value.advice
    assert agent.sessions() == []


# Loops, closing and forks.


def test_to_wait_in_a_coroutine_is_refused_and_in_a_notebook_it_is_not(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[Callable[[], Any]] = [
        lambda: agent.ask("croup?"),
        lambda: agent.stream("croup?"),
        lambda: agent.resume("s"),
        lambda: agent.stop("s"),
    ]

    async def inside() -> None:
        for call in calls:
            with pytest.raises(InputError, match=r"\ba(?:ask|stream|resume|stop)\b"):
                call()

    asyncio.run(inside())

    async def cell() -> str:
        return agent.ask("croup?").text

    monkeypatch.setattr(builtins, "__IPYTHON__", True, raising=False)
    assert asyncio.run(cell())
    with pytest.raises(InputError, match="own loop"):
        agent.run(cell())


def test_a_closed_agent_says_so_and_closes_once(tmp_path: Path) -> None:
    async def closed() -> Agent:
        async with Agent(home=tmp_path, parts=parts()) as agent:
            await agent.aask("croup?", session="s")
        return agent

    agent = asyncio.run(closed())
    agent.close()
    calls: list[Callable[[], Any]] = [
        lambda: agent.ask("croup?"),
        lambda: list(agent.stream("croup?")),
        lambda: agent.resume("s"),
        agent.sessions,
        lambda: agent.delete_session("s"),
        lambda: agent.run(agent.documents.all("s")),
    ]
    for call in calls:
        with pytest.raises(InputError, match="closed"):
            call()


def test_an_agent_that_is_dropped_closes_quietly_whatever_loop_has_ended(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    failed: list[Any] = []
    monkeypatch.setattr(threading, "excepthook", failed.append)
    before = threading.active_count()

    async def whole() -> None:
        agent = Agent(home=tmp_path, parts=parts())
        await agent.aask("croup?")
        del agent
        gc.collect()

    for _ in range(3):
        asyncio.run(whole())
    until = time.monotonic() + PATIENCE
    while threading.active_count() > before + 1 and time.monotonic() < until:  # the agents' own loop stays
        time.sleep(0.05)
    assert threading.active_count() <= before + 1
    assert not failed
    assert "closed" not in capsys.readouterr().err


def _in_child(told: Any, agent: Agent, home: Path) -> None:
    calls: list[Callable[[], Any]] = [
        lambda: agent.ask("croup?", session="s"),
        agent.sessions,
        lambda: agent.run(agent.documents.all("s")),
    ]
    for call in calls:
        try:
            told.send(call())
        except InputError as error:
            told.send(str(error))
    agent.close()
    with Agent(home=home, parts=parts()) as fresh:
        told.send(fresh.ask("croup?", session="child").text)


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
def test_a_forked_child_has_agents_of_its_own_and_is_told_so(agent: Agent, tmp_path: Path) -> None:
    text = agent.ask("croup?", session="s").text
    forks = multiprocessing.get_context("fork")
    here, there = forks.Pipe()
    child = forks.Process(target=_in_child, args=(there, agent, tmp_path / "home"))
    child.start()
    try:
        told = []
        for _ in range(4):
            assert here.poll(PATIENCE), f"the child hangs after {told}"
            told.append(here.recv())
        child.join(PATIENCE)
        assert child.exitcode == 0
    finally:
        child.kill()
    assert all("forked. Make a new Agent in the child." in refused for refused in told[:3])
    assert told[3] == text
    assert sorted(agent.sessions()) == ["child", "s"]
    assert agent.ask("croup?", session="s").turn == 2


# A turn that is cancelled.


def test_a_turn_that_is_cancelled_between_a_steps_results_and_the_next_step_is_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen, route = threading.Event(), graphs.clinical.after_gate

    def slowly(state: Any) -> list[str]:
        if not chosen.is_set():
            chosen.set()
            time.sleep(0.3)
        return route(state)

    monkeypatch.setattr(graphs.clinical, "after_gate", slowly)
    with Agent(home=tmp_path, parts=parts()) as agent:

        async def cancelled() -> str:
            turn = asyncio.create_task(agent.aask("croup?", session="s"))
            await asyncio.to_thread(chosen.wait, PATIENCE)
            turn.cancel()
            with pytest.raises(asyncio.CancelledError):
                await turn
            return (await agent.aresume("s")).text

        assert asyncio.run(cancelled()) == agent.ask("croup?").text


# Sessions of others, and documents of new ones.


def test_another_owners_session_is_refused_as_an_unknown_one_and_none_takes_any(agent: Agent) -> None:
    agent.ask("croup?", session="theirs", owner="them")
    for owner in ({}, {"owner": "me"}):
        calls: list[Callable[[str, dict[str, Any]], Any]] = [
            lambda s, o: agent.delete_session(s, **o),
            lambda s, o: agent.resume(s, **o),
            lambda s, o: agent.stop(s, **o),
            lambda s, o: asyncio.run(agent.aresume(s, **o)),
            lambda s, o: asyncio.run(agent.astop(s, **o)),
        ]
        for call in calls:
            with pytest.raises(InputError, match="no session theirs"):
                call("theirs", owner)
    with pytest.raises(InputError, match="no session theirs"):
        agent.session("theirs").delete()
    with pytest.raises(InputError, match="no session theirs"):
        agent.run(agent.documents.add("theirs", "a.txt", b"A text.", "me"))
    assert agent.sessions() == ["theirs"]
    assert agent.resume("theirs", owner=None).turn == 1
    agent.session("theirs", owner="them").delete()
    assert agent.sessions() == []


def test_a_document_can_be_put_into_a_session_that_holds_nothing_yet(agent: Agent) -> None:
    session = agent.session("d")
    kept = agent.run(agent.documents.add(session.id, "letter.txt", b"Colchicine was begun for gout in the left toe."))
    assert session.ask("Which drug was begun?", documents=[kept.id]).turn == 1


def test_what_was_refused_leaves_no_session(agent: Agent) -> None:
    for asked in ({"documents": ["nothing"]}, {"replaces": 1}):
        with pytest.raises(InputError):
            agent.ask("Does croup need steroids?", session="new", **asked)  # type: ignore[arg-type]
    for name in ("letter.exe", "letter.pdf"):
        with pytest.raises(InputError):
            agent.run(agent.documents.add("new", name, b"no letter"))
    assert agent.sessions() == []


def test_a_limit_that_no_setting_raises_names_none(agent: Agent) -> None:
    agent.ask("Does croup need steroids?", session="named")
    for title, advice in (("", "Give a text"), ("x" * 300, "Shorten it.")):
        with pytest.raises(InputError) as caught:
            agent.run(agent.records.rename("named", title))
        assert caught.value.advice.startswith(advice)
        assert "ANAMNESIS" not in str(caught.value)
    with pytest.raises(InputError, match="ANAMNESIS_MAX_CHARACTERS"):
        agent.ask("x" * 30_000)


def test_a_data_folder_that_may_not_be_written_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("agent.sessions.home.os.access", lambda *_: False)  # root may write whatever the mode says
    with pytest.raises(DataError, match="it may not be written"):
        Agent(home=tmp_path, parts=parts())
