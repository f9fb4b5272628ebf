"""The machine: routes, rounds, turn-scoped state, tools that fail, sessions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.agent import Agent
from agent.conversation import Step
from agent.settings import Settings
from graphs.answering.contract import Answer
from graphs.context import Limits, Parts
from graphs.state import STAYING, State, new_turn
from prompts.errors import DataError, InputError
from support.machine_parts import Scripted, SearchTool, parts


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def agent_with(home: Path, made: Parts) -> Agent:
    return Agent(Settings(home=home), parts=made)


@pytest.fixture
def script() -> Scripted:
    return Scripted()


@pytest.fixture
def agent(home: Path, script: Scripted) -> Iterator[Agent]:
    with agent_with(home, parts(script)) as made:
        yield made


def test_a_question_goes_through_every_node_in_order(agent: Agent, script: Scripted) -> None:
    answer = agent.ask("croup?")
    assert script.log == [
        "triage", "gate", "plan 1", "tool croup", "plan 2", "tool croup treatment", "plan 3",
        "select", "filter", "answer", "verify",
    ]  # fmt: skip
    assert [s.text for s in answer.statements] == ["A fact about croup.", "A fact about croup treatment."]
    assert answer.usage.tool_calls == 2
    assert answer.run == f"{answer.session}/1"


def test_small_talk_is_answered_at_once_without_a_statement(agent: Agent, script: Scripted) -> None:
    answer = agent.ask("hello there")
    assert script.log == ["triage"]
    assert answer.statements == []
    assert [n.code for n in answer.notices] == ["small_talk"]
    assert not answer.abstained


def test_enough_was_told_so_no_tool_is_called(agent: Agent, script: Scripted) -> None:
    answer = agent.ask("case: this is enough")
    assert script.log == ["triage", "look up with 0 known", "gate", "answer", "verify"]
    assert answer.gate is not None
    assert answer.gate.decision == "direct"


def test_rounds_and_calls_are_bounded(home: Path) -> None:
    script = Scripted(plan_of={n: [f"round {n} call {i}" for i in range(4)] for n in range(1, 50)})
    with agent_with(home, parts(script, limits=Limits(rounds=3, tool_calls=6))) as agent:
        answer = agent.ask("croup?")
    assert sum(line.startswith("tool") for line in script.log) == 6
    assert [n.code for n in answer.notices] == ["budget_reached"]
    assert "round 2 call" not in answer.notices[0].text
    assert "search" in answer.notices[0].text


def test_the_same_call_is_not_made_twice(home: Path) -> None:
    script = Scripted(plan_of={1: ["croup"], 2: ["croup"], 3: ["croup"]})
    with agent_with(home, parts(script)) as agent:
        agent.ask("croup?")
    assert script.log.count("tool croup") == 1


@pytest.mark.parametrize(
    ("query", "code", "outcome"),
    [("unavailable", "source_unavailable", "unavailable"), ("refused", "tool_refused", "refused")],
)
def test_a_failing_tool_is_said_and_is_no_empty_result(home: Path, query: str, code: str, outcome: str) -> None:
    script = Scripted(plan_of={1: [query, "croup"]})
    with agent_with(home, parts(script)) as agent:
        answer = agent.ask("croup?")
        trace = agent.home.traces / answer.session / "1.jsonl"
        assert f'"outcome": "{outcome}"' in trace.read_text()
    assert code in [n.code for n in answer.notices]
    assert [s.text for s in answer.statements] == ["A fact about croup."]


def test_bad_arguments_go_back_to_the_planner(home: Path) -> None:
    tool = SearchTool()

    class Wrong(Scripted):
        async def plan(self, view):  # type: ignore[no-untyped-def]
            calls = await super().plan(view)
            return [c.model_copy(update={"arguments": {"query": ["not", "text"]}}) for c in calls[:1]]

    with agent_with(home, parts(Wrong(plan_of={1: ["croup"]}), tool)) as agent:
        answer = agent.ask("croup?")
    assert tool.log == []
    assert [n.code for n in answer.notices] == ["tool_refused"]
    assert answer.abstained


def test_a_tool_is_lent_what_it_needs(home: Path) -> None:
    tool = SearchTool()
    with agent_with(home, parts(Scripted(), tool)) as agent:
        agent.ask("case: cough")
    first, second = tool.contexts
    assert (first.retrieved, second.retrieved) == (False, True)
    assert [e.text for e in second.evidence] == ["A fact about croup."]
    assert [f.id for f in first.findings] == ["cough"]


def test_turn_scoped_channels_are_reset_and_session_scoped_ones_stay(agent: Agent, script: Scripted) -> None:
    session = agent.session()
    first = session.ask("case: a barking cough")
    second = session.ask("yes")
    assert (first.turn, second.turn) == (1, 2)
    assert second.question == "case: a barking cough"
    assert "look up with 2 known" in script.log
    assert second.usage.tool_calls == 2, "calls of the first turn are counted in the second"
    third = session.ask("hello")
    assert third.statements == []
    assert third.differential == []
    view = [v for v in script.views if hasattr(v, "messages")][-1]
    assert view.messages == ("case: a barking cough", "yes")


def test_every_channel_is_either_of_the_turn_or_of_the_session() -> None:
    assert set(new_turn(1, "k")) | set(STAYING) == set(State.__annotations__)


def test_steps_are_streamed_before_the_answer(agent: Agent) -> None:
    events = list(agent.stream("croup?"))
    assert isinstance(events[-1], Answer)
    finished = [e.step for e in events[:-1] if isinstance(e, Step) and e.status == "finished"]
    assert finished[0] == "triage"
    assert finished[-1] == "verify"
    assert "tools" in finished


def test_plain_synchronous_code_can_use_it_twice_and_async_code_too(agent: Agent) -> None:
    import asyncio

    assert agent.ask("croup?").text == agent.ask("croup?").text
    assert asyncio.run(agent.aask("croup?")).text == asyncio.run(agent.aask("croup?")).text

    async def last() -> Answer:
        return [e async for e in agent.astream("croup?")][-1]  # type: ignore[return-value]

    assert asyncio.run(last()).text == agent.ask("croup?").text


def test_a_session_outlives_the_agent(home: Path) -> None:
    with agent_with(home, parts()) as agent:
        session = agent.session()
        session.ask("case: a barking cough")
    with agent_with(home, parts()) as agent:
        assert agent.sessions() == [session.id]
        assert agent.session(session.id, create=False).ask("yes").turn == 2


def test_deleting_a_session_leaves_nothing_of_it(agent: Agent) -> None:
    session = agent.session()
    session.ask("case: zyzzyva is my very own word")
    assert [f for f in agent.home.root.rglob("*") if f.is_file() and b"zyzzyva" in f.read_bytes()]
    session.delete()
    assert agent.sessions() == []
    files = [f for f in agent.home.root.rglob("*") if f.is_file()]
    assert [f for f in files if b"zyzzyva" in f.read_bytes() or session.id.encode() in f.read_bytes()] == []
    assert [f for f in files if session.id in f.name] == []


def test_an_unknown_session_is_an_input_error(agent: Agent) -> None:
    for attempt in (
        lambda: agent.session("nobody", create=False),
        lambda: agent.resume("nobody"),
        lambda: agent.delete_session("nobody"),
        lambda: agent.session("../../etc/passwd"),
    ):
        with pytest.raises(InputError):
            attempt()


@pytest.mark.parametrize("text", ["", " \n\t ", "x" * 200_000, "a\x00b", "\x89PNG\r\n\x1a", "\udce9t\udce9"])
def test_what_is_no_message_is_refused_and_the_session_is_unharmed(agent: Agent, text: str) -> None:
    session = agent.session()
    session.ask("croup?")
    with pytest.raises(InputError):
        session.ask(text)
    assert session.ask("croup?").turn == 2


def test_a_checkpoint_of_another_schema_is_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with agent_with(home, parts()) as agent:
        session = agent.session()
        session.ask("croup?")
    monkeypatch.setattr("graphs.state.STATE_SCHEMA", 99)
    with agent_with(home, parts()) as agent, pytest.raises(DataError, match="schema"):
        agent.session(session.id).ask("croup?")


def test_a_damaged_checkpoint_file_is_a_data_error(home: Path) -> None:
    with agent_with(home, parts()) as agent:
        file = agent.home.checkpoints
    for name in (file, file.with_name(file.name + "-wal"), file.with_name(file.name + "-shm")):
        name.unlink(missing_ok=True)
    file.write_bytes(b"no database at all " * 500)
    with pytest.raises(DataError, match="damaged"):
        agent_with(home, parts())


def test_two_turns_of_one_session_wait_for_each_other(agent: Agent) -> None:
    import asyncio

    async def both() -> list[Answer]:
        return list(await asyncio.gather(*(agent.aask("croup?", session="shared") for _ in range(4))))

    assert sorted(a.turn for a in asyncio.run(both())) == [1, 2, 3, 4]


def test_a_turn_that_fails_does_not_block_its_session(home: Path) -> None:
    class Broken(Scripted):
        async def select(self, *_):  # type: ignore[no-untyped-def]
            raise RuntimeError("out of order")

    with agent_with(home, parts(Broken())) as agent:
        session = agent.session()
        with pytest.raises(RuntimeError, match="out of order"):
            session.ask("croup?")
        answer = session.ask("hello")
    assert [n.code for n in answer.notices] == ["earlier_turn_lost", "small_talk"]
    assert "out of order" in answer.notices[0].text


def test_a_turn_that_was_cut_off_is_finished_and_told_with_the_next(home: Path) -> None:
    class Cut(Scripted):
        async def select(self, *_):  # type: ignore[no-untyped-def]
            raise RuntimeError("cut off")

    with agent_with(home, parts(Cut())) as agent, pytest.raises(RuntimeError):
        agent.ask("croup?", session="s")
    with agent_with(home, parts()) as agent:
        assert agent.unfinished("s")
        answer = agent.ask("hello", session="s")
    assert answer.turn == 2
    assert answer.notices[0].code == "earlier_turn_finished"
    assert "A fact about croup." in answer.notices[0].text


@pytest.mark.parametrize("name", ["checkpoints.sqlite", "texts.sqlite"])
def test_pages_overwritten_in_mid_file_are_a_data_error(home: Path, name: str) -> None:
    with agent_with(home, parts()) as agent:
        for number in range(8):
            agent.ask(f"case: {number} " + "a long story " * 800, session="s")
    file = home / name
    damaged = bytearray(file.read_bytes())
    damaged[8192:] = b"\x00rubbish" * ((len(damaged) - 8192) // 8)
    file.write_bytes(bytes(damaged))

    def use() -> None:
        with agent_with(home, parts()) as agent:
            agent.resume("s")
            agent.ask("case: again", session="s")

    with pytest.raises(DataError):
        use()


def test_time_and_rounds_are_reported_whole(agent: Agent) -> None:
    answer = agent.ask("croup?")
    assert answer.usage.rounds == 2
    assert set(answer.usage.seconds) >= {"triage", "tools", "answer"}
