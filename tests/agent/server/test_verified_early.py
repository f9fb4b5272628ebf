"""What is verified of an answer is told before the rest of the turn, and never taken back."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import openai
import pytest

from agent.agent import Agent
from agent.conversation import Step
from graphs.answering.contract import Answer, AnswerView, Draft
from graphs.answering.rendering import markdown_of
from graphs.triage.contract import RedFlag, SessionView, TriageDecision
from graphs.verification.local import VerifierLocal
from support.api_clients import events
from support.homes import linked
from support.machine_parts import Scripted, parts
from support.served import Served, served
from support.web_page import HEARTBURN, INFARCTION
from tools.encoders import Encoder
from tools.evidence import Statement, cite

EVENTS = {"Accept": "text/event-stream"}
FACTS = ["A fact about croup.", "A fact about croup treatment."]
FALSE = "A fact about 12 croups."
FLAG = RedFlag(code="airway", seen="stridor at rest", advice="Call an ambulance.")
ALERT = "> **EMERGENCY: Call an ambulance.** (stridor at rest)"
PATIENCE = 30.0  # seconds before a gate that nobody opens fails the turn


class Gated(Scripted):
    """Judgements of which one waits at a gate; "stridor" is an emergency, and ``adds`` is said that no quote has."""

    def __init__(self, waits: str = "", adds: str = "") -> None:
        super().__init__()
        self.gate, self.waits, self.adds = threading.Event(), waits, adds

    async def ran(self, name: str) -> None:
        await super().ran(name)
        at = f"{name} {self.log.count(name)}"
        if self.waits in (name, at):
            await self.wait()

    async def wait(self) -> None:
        if not await asyncio.to_thread(self.gate.wait, PATIENCE):
            raise RuntimeError("nobody opened the gate")

    async def decide(self, message: str, session: SessionView) -> TriageDecision:
        made = await super().decide(message, session)
        return made.model_copy(update={"red_flags": (FLAG,)}) if "stridor" in message else made

    async def answer(self, view: AnswerView) -> Draft:
        draft = await super().answer(view)
        item = view.evidence[0]
        more = Statement(text=self.adds or " ", origin=item.origin, citations=(cite(item, 0, len(item.text)),))
        return draft.model_copy(update={"statements": (more, *draft.statements)}) if self.adds else draft


@pytest.fixture
def gated(tmp_path: Path) -> Iterator[Any]:
    """Starts a server around gated judgements, whose gate is opened at the end whatever happens."""
    with ExitStack() as stack:

        def started(script: Gated, verifier: Any = None) -> Served:
            made = parts(script) if verifier is None else replace(parts(script), verifier=verifier)
            running = stack.enter_context(served(stack.enter_context(Agent(home=tmp_path / "home", parts=made))))
            stack.callback(script.gate.set)
            return running

        yield started


def native(server: Served, text: str, **more: Any) -> Iterator[tuple[str, Any]]:
    with server.client() as client:
        session = client.post("/api/sessions", json={}).json()["id"]
        path = f"/api/sessions/{session}/turns"
        with client.stream("POST", path, json={"text": text, **more}, headers=EVENTS) as answer:
            yield from events(answer.iter_lines())


def chat(server: Served, messages: list[Any], **more: Any) -> Any:
    with openai.OpenAI(
        base_url=f"{server.url}/v1", api_key=server.key(), max_retries=0, timeout=2 * PATIENCE
    ) as client:
        made = client.chat.completions.create(model="anamnesis", messages=messages, **more)
        return [chunk.choices[0].delta for chunk in made] if more.get("stream") else made.choices[0].message.content


def user(text: str) -> Any:
    return {"role": "user", "content": text}


def stream(client: openai.OpenAI, text: str) -> Iterator[Any]:
    made: Any = client.chat.completions.create(model="anamnesis", messages=[user(text)], stream=True)
    return (chunk.choices[0].delta for chunk in made)


def test_verified_sentences_come_with_their_numbers_before_the_last_step(server: Served) -> None:
    told = list(native(server, "croup"))
    names = [name for name, _ in told]
    assert names.count("verified") == 1
    at, last = names.index("verified"), len(names) - 1 - names[::-1].index("step")
    assert at < last
    assert (told[last][1]["step"], told[last][1]["status"]) == ("verify", "finished")
    said, answer = told[at][1], Answer.model_validate(told[-1][1])
    assert said["data"]["sentences"] == [{"text": text, "numbers": [n]} for n, text in enumerate(FACTS, start=1)]
    assert [s.text for s in answer.statements] == FACTS
    assert said["text"].startswith(f"{FACTS[0]} [1]")
    assert markdown_of(answer).startswith(said["text"])


def test_they_do_not_wait_for_the_report(gated: Any) -> None:
    script = Gated(waits="verify 2")  # the answer is verified first, then each part of the report
    seen = []
    for name, data in native(gated(script), "case cough", report=True):
        if name == "verified":
            assert not script.gate.is_set()
            assert [s["text"] for s in data["data"]["sentences"]] == FACTS
            assert data["text"] == f"{FACTS[0]} [1]", "a report may still add to what stands below the direct answer"
            script.gate.set()
        seen.append(name)
    assert (seen.count("verified"), seen[-1]) == (1, "answer")
    answer = Answer.model_validate(data)
    assert answer.report is not None
    assert markdown_of(answer).startswith(f"{FACTS[0]} [1]")


def test_a_sentence_that_its_quote_does_not_bear_out_is_told_nowhere(gated: Any, encoder: Encoder) -> None:
    server = gated(Gated(adds=FALSE), VerifierLocal(encoder))
    told = list(native(server, "croup"))
    assert [s["text"] for n, d in told if n == "verified" for s in d["data"]["sentences"]] == FACTS
    assert [n["code"] for n in told[-1][1]["notices"]].count("statement_dropped") == 1, "it was written, and dropped"
    assert FALSE not in json.dumps(told)
    assert not any(FALSE in (delta.content or "") for delta in chat(server, [user("croup")], stream=True))


def test_nothing_is_verified_where_nothing_is_quoted(gated: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    script = Gated()

    async def of_nothing(view: AnswerView) -> Draft:
        return Draft(abstained=True)

    monkeypatch.setattr(script, "answer", of_nothing)
    assert "verified" not in [name for name, _ in native(gated(script), "croup")]


def test_a_chat_begins_before_its_answer_is_whole_and_joins_to_the_same_text(
    gated: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = Gated()
    server = gated(script)
    whole = chat(server, [user("croup")])
    histories = server.app.state.parts.histories
    note = histories.note

    async def noted(*given: Any) -> None:  # awaited between the answer and what the client is told of it

        await script.wait()
        await note(*given)

    monkeypatch.setattr(histories, "note", noted)
    text = ""
    with openai.OpenAI(
        base_url=f"{server.url}/v1", api_key=server.key(), max_retries=0, timeout=2 * PATIENCE
    ) as client:
        for delta in stream(client, "croup"):
            text += delta.content or ""
            if text.endswith(f"{FACTS[1]} [2]"):
                assert not script.gate.is_set()
                script.gate.set()
    assert text == whole


def test_an_emergency_is_the_first_of_a_chat_while_the_answer_is_written(gated: Any) -> None:
    script = Gated(waits="answer")
    server = gated(script)
    deltas = []
    with openai.OpenAI(
        base_url=f"{server.url}/v1", api_key=server.key(), max_retries=0, timeout=2 * PATIENCE
    ) as client:
        for delta in stream(client, "case stridor"):
            deltas.append(delta)
            if delta.content == ALERT:
                assert not script.gate.is_set()
                script.gate.set()
    first = next(n for n, delta in enumerate(deltas) if delta.content)
    thoughts = [n for n, delta in enumerate(deltas) if getattr(delta, "reasoning_content", None)]
    assert max(thoughts) < first, "an answer that has begun is not interrupted"
    text = "".join(delta.content or "" for delta in deltas)
    assert text == chat(server, [user("case stridor")])
    assert text.startswith(f"{ALERT}\n\n{FACTS[0]} [1]")


def test_a_chat_that_is_stopped_says_so_below_what_was_said(gated: Any) -> None:
    script = Gated(waits="answer")
    server = gated(script)
    text, key = "", server.key()
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key=key, max_retries=0, timeout=2 * PATIENCE) as client:
        made: Any = client.chat.completions.with_raw_response.create(
            model="anamnesis", messages=[user("case stridor")], stream=True
        )
        session = made.headers["x-session-id"]
        for chunk in made.parse():
            text += chunk.choices[0].delta.content or ""
            if text == ALERT:
                with server.client(key) as other:
                    assert other.post(f"/api/sessions/{session}/stop").status_code == 204
    assert text.startswith(f"{ALERT}\n\n**Stopped: no answer was written")


def test_of_earlier_messages_that_are_asked_again_nothing_is_said(gated: Any) -> None:
    said = {"role": "assistant", "content": "From another model."}
    deltas = chat(gated(Gated()), [user("stridor"), said, user("croup")], stream=True)
    answer = Answer.model_validate(deltas[-1].anamnesis["answer"])
    assert (answer.turn, [flag.earlier for flag in answer.emergency]) == (2, [True])  # it stands, and leads no more
    assert "".join(delta.content or "" for delta in deltas) == markdown_of(answer)


@pytest.mark.parametrize("report", [False, True])
@pytest.mark.parametrize("text", [HEARTBURN, INFARCTION, "He is on sildenafil, can I give GTN?"])
def test_what_the_engine_verified_is_what_its_answer_begins_with(page_home: Agent, text: str, report: bool) -> None:
    *steps, answer = page_home.stream(text, report=report)
    assert isinstance(answer, Answer)
    verified = [step for step in steps if isinstance(step, Step) and step.status == "verified"]
    assert len(verified) == 1
    assert verified[0].text
    assert markdown_of(answer).startswith(verified[0].text)
    held = [s.text for s in answer.statements if s.citations]
    assert [s["text"] for s in verified[0].data["sentences"]] == held


@pytest.fixture(scope="module")
def page_home(built_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agent]:
    """The real engine, in a data folder of its own."""
    with Agent(home=linked(built_home, tmp_path_factory.mktemp("verified") / "home")) as agent:
        yield agent
