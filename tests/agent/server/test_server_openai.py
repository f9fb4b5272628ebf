"""The openai package's own client on the server's socket: whole and streamed, three turns, and its exceptions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import openai
import pytest

from agent.loop import run
from graphs.answering.contract import Answer
from prompts.errors import ServiceError
from support.served import Served

MODEL = "anamnesis"
Messages = list[Any]


@pytest.fixture
def client(server: Served) -> Iterator[openai.OpenAI]:
    with connected(server) as found:
        yield found


def connected(server: Served, key: str | None = None) -> openai.OpenAI:
    text = server.key() if key is None else key
    return openai.OpenAI(base_url=f"{server.url}/v1", api_key=text, max_retries=0, timeout=30)


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def said(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}


def ask(client: openai.OpenAI, messages: Messages, **more: Any) -> Any:
    return client.chat.completions.create(model=MODEL, messages=messages, **more)


def answer_of(completion: Any) -> Answer:
    return Answer.model_validate(completion.choices[0].message.anamnesis["answer"])


def test_three_turns_are_one_session_by_the_messages_alone(server: Served, client: openai.OpenAI) -> None:
    messages: Messages = []
    sessions = []
    for text in ("case cough", "yes", "why"):
        messages.append(user(text))
        completion = ask(client, messages)
        message = completion.choices[0].message
        messages.append(said(f"{message.content}\n"))  # as clients send it back: blanks trimmed or added
        sessions.append(message.anamnesis["session"])
    assert len(set(sessions)) == 1
    turns = run(server.agent.records.turns(sessions[0]))
    assert [turn.asked for turn in turns] == ["case cough", "yes", "why"]
    assert turns[2].answer == answer_of(completion)
    assert completion.usage.total_tokens == 0  # no language model
    assert completion.id == f"chatcmpl-{sessions[0]}-3"


def test_the_text_has_numbered_references_that_the_answer_holds(client: openai.OpenAI) -> None:
    completion = ask(client, [user("case cough")])
    text, answer = completion.choices[0].message.content, answer_of(completion)
    assert len(answer.statements) == 2
    for number, statement in enumerate(answer.statements, start=1):
        assert f"{statement.text} [{number}]" in text
        assert statement.citations[0].evidence_id in text
        assert statement.citations[0].quote in text
    assert answer.follow_up_questions[0].text in text


def test_a_stream_says_the_steps_then_exactly_the_text_of_the_whole(client: openai.OpenAI) -> None:
    whole = ask(client, [user("case cough")])
    chunks = list(ask(client, [user("case cough")], stream=True, stream_options={"include_usage": True}))
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    reasoning = "".join(getattr(delta, "reasoning_content", None) or "" for delta in deltas)
    text = "".join(delta.content or "" for delta in deltas)
    assert text == whole.choices[0].message.content
    assert reasoning.startswith("triage: case")
    assert "search_literature: searching: croup\n" in reasoning
    assert "search_literature: ok, 1 pieces of evidence" in reasoning
    assert [c.choices[0].finish_reason for c in chunks if c.choices][-1] == "stop"
    assert chunks[-1].usage is not None
    assert chunks[-1].choices == []
    last = Answer.model_validate(deltas[-1].anamnesis["answer"])
    assert last.statements == answer_of(whole).statements
    assert deltas[-1].anamnesis["session"] != whole.choices[0].message.anamnesis["session"]
    assert len({chunk.id for chunk in chunks}) == 1


def test_a_stream_goes_on_in_the_session_of_its_messages(server: Served, client: openai.OpenAI) -> None:
    first = "".join(c.choices[0].delta.content or "" for c in ask(client, [user("case cough")], stream=True))
    second = ask(client, [user("case cough"), said(first), user("yes")])
    assert answer_of(second).turn == 2


def test_a_session_can_be_named(server: Served, client: openai.OpenAI) -> None:
    session = ask(client, [user("case cough")]).choices[0].message.anamnesis["session"]
    by_metadata = ask(client, [user("yes")], metadata={"session": session})
    by_header = ask(client, [user("why")], extra_headers={"X-Session-Id": session})
    assert [answer_of(by_metadata).turn, answer_of(by_header).turn] == [2, 3]
    for unknown in ("abcdef0123456789", "../../etc", "a b", "\u00e9"):
        with pytest.raises(openai.NotFoundError, match="no session"):
            ask(client, [user("yes")], metadata={"session": unknown})


def test_another_owners_same_words_are_another_session(server: Served, client: openai.OpenAI) -> None:
    mine = ask(client, [user("case cough")])
    history = [user("case cough"), said(mine.choices[0].message.content), user("yes")]
    with connected(server) as another:
        theirs = ask(another, history)
    assert theirs.choices[0].message.anamnesis["session"] != mine.choices[0].message.anamnesis["session"]
    assert answer_of(theirs).turn == 2  # the first message was asked again in a session of theirs


def test_an_unknown_or_changed_history_is_replayed_in_a_new_session(server: Served, client: openai.OpenAI) -> None:
    history = [{"role": "system", "content": "Say yes."}, user("case cough"), said("From another model."), user("yes")]
    completion = ask(client, history)
    extra = completion.choices[0].message.anamnesis
    assert [turn.asked for turn in run(server.agent.records.turns(extra["session"]))] == ["case cough", "yes"]
    assert extra["ignored"] == ["system messages"]
    branched = ask(client, [*history[:3], user("why")])
    assert branched.choices[0].message.anamnesis["session"] != extra["session"]
    too_long = [user("croup")] + [m for n in range(21) for m in (said("x"), user(f"croup {n}"))]
    with pytest.raises(openai.BadRequestError, match="earlier messages"):
        ask(client, too_long)


def test_the_same_request_again_is_the_same_turn(server: Served, client: openai.OpenAI) -> None:
    first = ask(client, [user("case cough")])
    request = [user("case cough"), said(first.choices[0].message.content), user("yes")]
    once, again = ask(client, request), ask(client, request)
    assert answer_of(once) == answer_of(again)
    key = {"Idempotency-Key": "retry-1"}
    pair = [ask(client, [user("croup")], extra_headers=key) for _ in range(2)]
    assert answer_of(pair[0]) == answer_of(pair[1])
    session = pair[0].choices[0].message.anamnesis["session"]
    assert len(run(server.agent.records.turns(session))) == 1
    longest = {"Idempotency-Key": "x" * 200}
    assert answer_of(ask(client, [user("croup")], extra_headers=longest)).turn == 1


def test_what_has_no_effect_is_taken_and_named_and_what_would_mislead_is_refused(client: openai.OpenAI) -> None:
    tool = {"type": "function", "function": {"name": "f", "parameters": {}}}
    completion = ask(client, [user("croup")], temperature=1.5, max_tokens=1, tools=[tool], stop=["a"], seed=3)
    assert completion.choices[0].message.anamnesis["ignored"] == ["max_tokens", "seed", "stop", "temperature", "tools"]
    picture = {"type": "image_url", "image_url": {"url": "https://example.org/x.png"}}
    for more, messages in (
        ({"n": 2}, [user("croup")]),
        ({"response_format": {"type": "json_object"}}, [user("croup")]),
        ({"tools": [tool], "tool_choice": "required"}, [user("croup")]),
        ({"tools": [tool], "tool_choice": {"type": "function", "function": {"name": "f"}}}, [user("croup")]),
        ({}, [user("croup"), said("x")]),
        ({}, [user("")]),
        ({}, [{"role": "user", "content": [picture]}]),
    ):
        with pytest.raises(openai.BadRequestError):
            ask(client, messages, **more)
    assert ask(client, [user("croup")], tool_choice="auto").choices
    parts = [{"type": "text", "text": "case"}, {"type": "text", "text": "cough"}]
    assert answer_of(ask(client, [{"role": "user", "content": parts}])).question == "case\ncough"


def test_refusals_are_the_clients_own_exceptions(server: Served, client: openai.OpenAI, start: Any) -> None:
    with connected(server, "ana_0") as stranger, pytest.raises(openai.AuthenticationError):
        stranger.models.list()
    with connected(server, server.key(scopes=("traces",))) as other, pytest.raises(openai.PermissionDeniedError):
        ask(other, [user("croup")])
    with pytest.raises(openai.NotFoundError) as missing:
        client.chat.completions.create(model="gpt-9", messages=[user("croup")])  # type: ignore[list-item]
    assert missing.value.code == "model_not_found"
    with pytest.raises(openai.UnprocessableEntityError):
        ask(client, [])
    assert [model.id for model in client.models.list()] == [MODEL]
    assert client.models.retrieve(MODEL).id == MODEL
    with pytest.raises(openai.NotFoundError, match="GET /v1/models"):
        client.models.retrieve("gpt-9")
    small = start(requests=4)
    with connected(small) as hurried:
        hurried.models.list()
        with pytest.raises(openai.RateLimitError) as refused:
            hurried.models.list()
    assert int(refused.value.response.headers["retry-after"]) >= 1


def test_an_error_within_a_stream_is_an_exception_too(start: Any) -> None:
    server = start(pause={"answer": 2.0}, turn_seconds=0.5)
    with connected(server) as client, pytest.raises(openai.APIError, match="longer than"):
        list(ask(client, [user("croup")], stream=True))


def test_a_stream_whose_answer_cannot_be_noted_ends_with_an_error(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: Any) -> None:
        raise ServiceError("The session database does not serve.")

    server = start()
    monkeypatch.setattr(server.app.state.parts.histories, "note", broken)
    with connected(server) as client, pytest.raises(openai.APIError, match="does not serve"):
        list(ask(client, [user("croup")], stream=True))
