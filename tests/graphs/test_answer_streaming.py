"""The draft of an answer is streamed while the model writes it, and the verified answer replaces it."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agent.agent import Agent
from agent.conversation import Step
from agent.settings import Settings
from graphs.answering.by_model import AnswererByModel
from graphs.answering.contract import Answer
from graphs.answering.drafting import draft_text
from prompts.language_model import LanguageModel, ModelSettings
from support import answerers
from support.answering_model import by_model, citing
from support.machine_parts import Scripted as Judgements
from support.machine_parts import parts
from support.scripted_model import Scripted, ScriptedModel, refused, serving_by
from tools.encoders import Encoder
from tools.evidence import Origin

SAID = ["A fact about croup.", "A fact about croup treatment.", "An invention about honey."]
REPLY = json.dumps({"statements": [citing(text, f"{n}.1") for n, text in enumerate(SAID, start=1)]})


@contextmanager
def agent_over(home: Path, encoder: Encoder, reply: Scripted) -> Iterator[tuple[Agent, ScriptedModel]]:
    def answering(name: str, _: Any) -> Any:
        return {"statements": []} if name == "MendReply" else reply

    with by_model(answerers.local(encoder), encoder, answering) as (made, server):
        machine = replace(parts(Judgements()), answerer=made)
        with Agent(Settings(home=home), parts=machine) as agent:
            yield agent, server


def test_the_first_words_come_before_the_reply_has_ended(tmp_path: Path, encoder: Encoder) -> None:
    slow = Scripted(REPLY, between=0.1, piece=40)
    with agent_over(tmp_path / "home", encoder, slow) as (agent, server):
        drafts: list[tuple[float, str]] = []
        for event in agent.stream("croup?"):
            if isinstance(event, Step) and event.status == "text":
                drafts.append((time.monotonic(), event.text))
                assert event.step == "answer"
        answer = event
    assert isinstance(answer, Answer)
    ended = server.exchanges[0].ended
    assert drafts[0][0] < ended - 0.3, "the first words came with the end"
    texts = [text for _, text in drafts]
    assert all(later.startswith(earlier) for earlier, later in pairwise(texts))
    assert "An invention" in texts[-1]
    assert [s.text for s in answer.statements if s.citations] == SAID[:2], "what was not borne out cites nothing"
    assert [s.origin for s in answer.statements[2:]] == [Origin.PARAMETRIC]


def test_a_reply_in_the_form_of_a_call_is_streamed_too(tmp_path: Path, encoder: Encoder) -> None:
    def respond(request: dict[str, Any]) -> Scripted:
        if "response_format" in request:
            return refused("json_schema")
        name = request["tools"][0]["function"]["name"]
        return Scripted(calls=[(name, '{"statements": []}' if name == "MendReply" else REPLY)], between=0.06, piece=40)

    with serving_by(respond) as server:
        model = LanguageModel(ModelSettings(name="m", base_url=server.url, max_retries=0))
        made = AnswererByModel(model, answerers.local(encoder), encoder)
        with Agent(Settings(home=tmp_path / "home"), parts=replace(parts(Judgements()), answerer=made)) as agent:
            events = list(agent.stream("croup?"))
    texts = [e.text for e in events if isinstance(e, Step) and e.status == "text"]
    assert texts[-1].startswith(SAID[0])
    assert len(texts) > 1


def test_the_draft_is_streamed_to_coroutines_too_and_not_asked_for_when_nobody_listens(
    tmp_path: Path, encoder: Encoder
) -> None:
    with agent_over(tmp_path / "home", encoder, Scripted(REPLY, between=0.06)) as (agent, server):

        async def texts() -> list[str]:
            return [e.text async for e in agent.astream("croup?") if isinstance(e, Step) and e.status == "text"]

        assert asyncio.run(texts())
        agent.ask("croup?")
    streamed = [bool(e.request.get("stream")) for e in server.exchanges if "MendReply" not in json.dumps(e.request)]
    assert streamed == [True, False]


@given(end=st.integers(0, len(REPLY)))
def test_any_beginning_of_a_reply_gives_the_beginning_of_its_text(end: int) -> None:
    whole = " ".join(SAID)
    assert whole.startswith(draft_text(REPLY[:end]))
    assert draft_text(f"<think>{REPLY}") == ""
    assert draft_text(REPLY) == whole
