"""How a reply can end otherwise than well: cut at its bound, declined, or faulty in its form alone; each by itself."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from prompts.language_model import LEFT_OUT, InvalidReplyError, LanguageModel
from prompts.metering import Meter, metered
from prompts.model_failures import CutError, RefusalError
from support.asking_model import GOOD, model_of, plan_once
from support.scripted_model import Scripted, refused, refusing, serving, serving_by

QUESTION = "Do steroids help in croup?"
TOOL = {"name": "look", "description": "Look.", "parameters": {"type": "object", "properties": {}}}
CUT = Scripted(GOOD[:30], finish="length")
PARSER_WORDS = ("line 1", "column", "delimiter", "Expecting", "terms", "JSON", "Field required")


def bounds(server: Any) -> list[tuple[str, int]]:
    """What each request bounds its reply with."""
    return [(k, v) for r in server.requests for k, v in r.items() if k in ("max_tokens", "max_completion_tokens")]


@pytest.mark.parametrize("streamed", [False, True])
def test_a_reply_that_was_cut_is_asked_for_shorter_and_with_more_room(streamed: bool) -> None:
    with serving(CUT, Scripted(GOOD)) as server:
        assert plan_once(model_of(server, max_tokens=100), (lambda _: None) if streamed else None) == "croup"
    assert bounds(server) == [("max_tokens", 100), ("max_tokens", 200)]
    again = server.requests[1]["messages"]
    assert QUESTION in again[1]["content"]
    assert "much shorter" in again[-1]["content"]
    assert len(again[-2]["content"]) <= 201


def test_a_reply_that_is_cut_twice_is_an_error_of_its_own_that_says_so() -> None:
    with serving(CUT) as server, pytest.raises(CutError, match="was cut") as caught:
        plan_once(model_of(server))
    assert len(server.requests) == 2
    assert "ANAMNESIS_MODEL_MAX_TOKENS" in caught.value.advice
    assert bounds(server) == []


def test_a_whole_object_before_the_bound_is_a_reply() -> None:
    with serving(Scripted(GOOD + "\n\n\n", finish="length")) as server:
        assert plan_once(model_of(server)) == "croup"
    assert len(server.requests) == 1


def test_thinking_up_to_the_bound_says_nothing_of_the_form() -> None:
    with serving(Scripted("", reasoning="Hm, hm, hm", finish="length"), Scripted(GOOD)) as server:
        assert plan_once(model_of(server)) == "croup"
    assert [r["response_format"]["type"] for r in server.requests] == ["json_schema"] * 2


REFUSALS = {
    "said so": Scripted(refusal="I cannot help with that."),
    "filtered": Scripted(GOOD[:20], finish="content_filter"),
    "filtered, nothing said": Scripted("", finish="content_filter"),
    "refused by the server": Scripted(status=400, body='{"error": {"message": "no", "code": "content_filter"}}'),
    "in the server's words": Scripted(
        status=400,
        body='{"error": {"message": "The response was filtered by our content management policy.", "code": "x"}}',
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
@pytest.mark.parametrize("streamed", [False, True])
def test_a_refusal_is_an_error_at_once_and_never_repaired(name: str, streamed: bool) -> None:
    with serving(REFUSALS[name], Scripted(GOOD)) as server, pytest.raises(RefusalError, match="declined"):
        plan_once(model_of(server, max_retries=2), (lambda _: None) if streamed else None)
    assert len(server.requests) == 1


def choose(model: LanguageModel) -> tuple[Any, str]:
    return asyncio.run(model.choose("query_plan", [TOOL], [], {"question": QUESTION}))


def test_calls_that_were_cut_are_asked_for_once_more_and_then_an_error() -> None:
    begun = Scripted(calls=[("look", '{"a": ')], finish="length")
    with serving(begun, Scripted(calls=[("look", {})])) as server:
        calls, _ = choose(model_of(server))
    assert [(c.name, c.error) for c in calls] == [("look", "")]
    assert "much shorter" in server.requests[1]["messages"][-1]["content"]
    with serving(Scripted("I think", finish="length")) as server, pytest.raises(CutError):
        choose(model_of(server))
    assert len(server.requests) == 2


def test_calls_that_can_be_made_stand_though_what_follows_was_cut() -> None:
    with serving(Scripted(calls=[("look", {}), ("look", '{"a')], finish="length")) as server:
        calls, _ = choose(model_of(server))
    assert [bool(c.error) for c in calls] == [False, True]
    assert len(server.requests) == 1


OF_FORM = {
    "a field too many": GOOD[:-1] + ', "comment": "hm"}',
    "no sound JSON": GOOD.replace('"group"', "group"),
    "a trailing comma": GOOD[:-1] + ",}",
    "another type": '{"terms": [{"text": "croup", "group": "P", "synonyms": 7}], "intent": "treatment"}',
}
OF_CONTENT = {
    "a field too few": '{"intent": "treatment"}',
    "no such word": '{"terms": [{"text": "croup", "group": "Q"}]}',
    "broken off": GOOD[:40],
    "prose": "Croup is a viral illness.",
    "prose with braces": "Croup {see above} is a viral {illness}.",
    "empty": "",
    "too long to show": GOOD[:-1] + ' "x": "' + "a" * 5000 + '"}',
}


@pytest.mark.parametrize("name", OF_FORM)
def test_a_fault_of_form_is_mended_without_what_was_asked(name: str) -> None:
    with serving(Scripted(OF_FORM[name]), Scripted(GOOD)) as server:
        assert plan_once(model_of(server)) == "croup"
    first, again = (r["messages"] for r in server.requests)
    assert again[0] == first[0]
    assert [m["content"] for m in again[1:3]] == [LEFT_OUT, OF_FORM[name]]
    assert "QueryPlanReply" in again[-1]["content"]
    assert QUESTION not in json.dumps(again)


@pytest.mark.parametrize("name", OF_CONTENT)
def test_what_a_reply_lacks_is_asked_for_with_all_that_was_asked(name: str) -> None:
    with serving(Scripted(OF_CONTENT[name]), Scripted(GOOD)) as server:
        assert plan_once(model_of(server)) == "croup"
    first, again = (r["messages"] for r in server.requests)
    assert again[:2] == first


def test_the_schema_is_told_once_where_the_form_of_a_request_does_not_carry_it() -> None:
    script = [Scripted(OF_FORM["a trailing comma"]), Scripted(GOOD)]
    forms = ["json_schema", "tools", "json_object"]
    with serving_by(refusing(forms, lambda _: script.pop(0))) as server:
        assert plan_once(model_of(server)) == "croup"
    assert json.dumps(server.requests[-1]).count("as JSON Schema") == 1


@pytest.mark.parametrize("bad", [*OF_FORM.values(), *OF_CONTENT.values()])
def test_who_reads_the_error_reads_no_parsers_words_and_the_trace_has_them(bad: str) -> None:
    told: list[dict[str, Any]] = []
    meter = Meter(record=lambda kind, **data: told.append({"kind": kind, **data}))
    with serving(Scripted(bad)) as server, metered(meter), pytest.raises(InvalidReplyError) as caught:
        plan_once(model_of(server))
    assert not any(word in str(caught.value) for word in PARSER_WORDS)
    unusable = [t for t in told if t["kind"] == "reply_unusable"]
    assert len(unusable) == len(server.requests) == 2
    assert all(t["why"] and t["role"] == "query_plan" for t in unusable)


def test_a_server_that_wants_the_bound_by_its_other_name_is_given_it() -> None:
    def respond(request: dict[str, Any]) -> Scripted:
        message = "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."
        body = json.dumps({"error": {"message": message}})
        return Scripted(status=400, body=body) if "max_tokens" in request else Scripted(GOOD)

    with serving_by(respond) as server:
        model = model_of(server, max_tokens=100)
        assert [plan_once(model), *bounds(server)] == ["croup", ("max_tokens", 100), ("max_completion_tokens", 100)]


def test_a_reasoning_model_is_asked_without_what_it_refuses_one_after_the_other() -> None:
    def respond(request: dict[str, Any]) -> Scripted:
        return next((refused(name) for name in ("max_tokens", "temperature") if name in request), Scripted(GOOD))

    with serving_by(respond) as server:
        assert plan_once(model_of(server, max_tokens=100, reasoning_effort="low")) == "croup"
    last = server.requests[-1]
    assert (last["max_completion_tokens"], last["reasoning_effort"]) == (100, "low")
    assert "temperature" not in last


def test_an_effort_is_sent_by_role_and_left_out_where_it_is_not_taken() -> None:
    roles = {"answer": {"reasoning_effort": "high"}}
    with serving(Scripted(GOOD)) as server:
        plan_once(model_of(server, "answer", roles=roles))
        plan_once(model_of(server, "gaps", roles=roles))
    assert [r.get("reasoning_effort") for r in server.requests] == ["high", None]
    with serving_by(refusing(["reasoning_effort"], lambda _: Scripted(GOOD))) as server:
        assert plan_once(model_of(server, reasoning_effort="none")) == "croup"
    assert [r.get("reasoning_effort") for r in server.requests] == ["none", None]


def test_openai_itself_is_given_the_bound_by_its_present_name() -> None:
    from prompts.endpoint import Endpoint
    from prompts.model_settings import ModelSettings

    assert Endpoint(ModelSettings(name="m"))._bounds[0] == "max_completion_tokens"
    assert Endpoint(ModelSettings(name="m", base_url="http://localhost:11434/v1"))._bounds[0] == "max_tokens"
