"""The next best question, asked before a case is researched where the client can reply, and nowhere else."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from typer.testing import CliRunner

from agent.agent import Agent
from agent.cli import ask
from agent.cli.app import app
from agent.conversation import Replying, Step
from agent.loop import run
from agent.sessions import Home
from agent.settings import Settings
from agent.studio import Conversation, StudioContext, conversation_graph
from graphs.answering.contract import Answer
from prompts.errors import InputError
from support.machine_parts import Scripted, parts
from support.served import Served, served
from support.session_worker import QUESTIONS, lines, wait_for, worker
from tools.contract import FollowUpQuestion

CASE = "case of a cough"
EVENTS = {"Accept": "text/event-stream"}
RESEARCHED = [
    "plan 1",
    "tool croup",
    "plan 2",
    "tool croup treatment",
    "plan 3",
    "select",
    "filter",
    "answer",
    "verify",
]
ONCE = ["triage", "look up with 0 known", "gate"]
PLAINLY = [*ONCE, *RESEARCHED]
ASKED = [*ONCE, *ONCE[1:], "triage", "look up with 1 known", "gate", *RESEARCHED]  # the step that stops begins again


def saying(*replies: str) -> tuple[Replying, list[str]]:
    """A client that replies, and what it was asked."""
    left, asked = list(replies), list[str]()

    async def replying(question: FollowUpQuestion) -> str:
        asked.append(question.text)
        return left.pop(0)

    return replying, asked


@pytest.fixture
def script() -> Scripted:
    return Scripted(questions=QUESTIONS)


@pytest.fixture
def agent(tmp_path: Path, script: Scripted) -> Iterator[Agent]:
    with Agent(Settings(home=tmp_path / "home"), parts=parts(script)) as made:
        yield made


def test_without_a_client_that_can_reply_nothing_waits(agent: Agent, script: Scripted) -> None:
    answer = agent.ask(CASE)
    assert script.log == PLAINLY
    assert [n.code for n in answer.notices] == []


def test_the_reply_is_counted_before_the_research(agent: Agent, script: Scripted) -> None:
    replying, asked = saying("yes")
    events = list(agent.stream(CASE, session="s", replying=replying))
    assert asked == ["Do you have a fever?"]
    assert script.log == ASKED
    (told,) = [e for e in events if isinstance(e, Step) and e.status == "asks"]
    assert (told.summary, told.data["question"]["finding"]) == ("Do you have a fever?", "fever")
    answer = events[-1]
    assert isinstance(answer, Answer)
    assert (answer.kind, answer.turn) == ("case", 1)
    assert [n.text for n in answer.notices] == ["Asked before the research: Do you have a fever? You said: yes"]
    state = run(agent._machine.aget_state({"configurable": {"thread_id": "s"}})).values
    assert [f["id"] for f in state["findings"]] == ["fever"]
    assert [m["role"] for m in state["messages"]] == ["user", "assistant", "user", "assistant"]
    assert agent.ask("yes", session="s").turn == 2, "the interview goes on in the next turn"


@pytest.mark.parametrize("reply", ["", "Skip", "hello, what do you mean"])
def test_a_reply_that_answers_nothing_leaves_the_question_open(agent: Agent, script: Scripted, reply: str) -> None:
    replying, asked = saying(reply)
    answer = agent.ask(CASE, replying=replying)
    assert len(asked) == 1
    assert [line for line in script.log if line.startswith("look up")] == ["look up with 0 known"] * 2
    assert (answer.kind, answer.notices) == ("case", [])
    assert answer.statements


async def _nothing(_: FollowUpQuestion) -> None:
    return None


async def _number(_: FollowUpQuestion) -> int:
    return 5


async def _much(_: FollowUpQuestion) -> str:
    return "x" * 30_000


@pytest.mark.parametrize(
    ("replying", "told"),
    [
        (5, "cannot be called"),
        (lambda _: "yes", "no coroutine function"),
        (_number, "The reply is not text"),
        (_much, "The reply has 30,000 characters"),
    ],
)
def test_what_is_no_reply_is_refused_and_the_question_waits(agent: Agent, replying: Any, told: str) -> None:
    with pytest.raises(InputError, match=told):
        agent.ask(CASE, session="s", replying=replying)
    assert agent.ask(CASE, session="s", replying=_nothing).kind == "case"  # type: ignore[arg-type]


@pytest.mark.parametrize("message", ["case: this is enough", "croup"])
def test_what_is_answered_directly_or_is_no_case_asks_nothing(agent: Agent, message: str) -> None:
    replying, asked = saying()
    assert agent.ask(message, replying=replying).turn == 1
    assert asked == []


@pytest.mark.parametrize("client", [True, False])
def test_a_process_killed_while_it_waits_goes_on_at_its_question(tmp_path: Path, client: bool) -> None:
    place, log = {"home": tmp_path / "home"}, tmp_path / "log"
    with worker(place, log, text=CASE, session="s", replies=True) as process:
        wait_for(log, "asked")
        process.kill()
        process.join()
    assert lines(log) == [*ONCE, "asked"]
    script = Scripted(questions=QUESTIONS)
    replying, asked = saying("yes")
    with Agent(Settings(**place, sessions={"wait": 60}), parts=parts(script)) as agent:
        assert agent.unfinished("s")
        answer = agent.resume("s", replying=replying if client else None)
        assert not agent.unfinished("s")
    assert asked == (["Do you have a fever?"] if client else [])
    assert "triage" in script.log if client else "triage" not in script.log
    assert script.log[-len(RESEARCHED) :] == RESEARCHED
    assert (answer.turn, answer.kind) == (1, "case")


def test_studio_asks_by_an_interrupt_that_another_process_resumes(tmp_path: Path, script: Scripted) -> None:
    saver, config = InMemorySaver(), {"configurable": {"thread_id": "one"}}

    def opened(script: Scripted) -> Conversation:
        made = conversation_graph(parts(script), Settings(home=tmp_path), Home(tmp_path / "studio").prepare())
        made.checkpointer = saver
        return made

    given: Any = {"messages": [{"role": "user", "content": CASE}]}
    asked = asyncio.run(opened(script).ainvoke(given, config, context=StudioContext(ask=True)))  # type: ignore[call-overload]
    assert [i.value["text"] for i in asked["__interrupt__"]] == ["Do you have a fever?"]
    again = Scripted(questions=QUESTIONS)
    told = asyncio.run(opened(again).ainvoke(Command(resume="yes"), config, context=StudioContext(ask=True)))  # type: ignore[call-overload]
    assert again.log == [*ONCE[1:], *ASKED[len(ONCE) + 2 :]]
    assert [m.type for m in told["messages"]] == ["human", "ai"]
    assert "You said: yes" in json.dumps(told["answer"])


@pytest.fixture
def server(agent: Agent) -> Iterator[Served]:
    with served(agent) as running:
        yield running


def test_a_client_of_events_replies_over_http(server: Served) -> None:
    def reply(client: httpx.Client, text: str) -> int:
        return client.post(f"/api/sessions/{session}/reply", json={"text": text}).status_code

    with server.client() as client, ThreadPoolExecutor() as pool:
        session = client.post("/api/sessions", json={}).json()["id"]
        assert reply(client, "yes") == 409
        told: list[dict[str, Any]] = []
        with client.stream(
            "POST", f"/api/sessions/{session}/turns", json={"text": CASE, "ask": True}, headers=EVENTS
        ) as stream:
            for line in stream.iter_lines():
                told += [json.loads(line.removeprefix("data: "))] if line.startswith("data: ") else []
                if told and told[-1].get("status") == "asks":
                    assert pool.submit(reply, server.client(client.headers["Authorization"][7:]), "yes").result() == 204
                    told.append({})
        assert "You said: yes" in json.dumps(told[-1])
        assert client.post(f"/api/sessions/{session}/turns", json={"text": CASE, "ask": True}).status_code == 200, (
            "who gets no events is not waited for"
        )


def test_a_chat_may_be_asked(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ask, "Agent", lambda *_, **__: agent)
    done = CliRunner().invoke(app, ["chat", "--ask"], input=f"{CASE}\nyes\n", catch_exceptions=False)
    assert "Do you have a fever?" in done.output
    assert "You said: yes" in done.output
