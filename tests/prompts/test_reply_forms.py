"""Forms of structured replies: found out once, remembered, told in words where a request does not carry the schema."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel

from prompts.errors import ServiceError
from prompts.forms import METHODS, form_of, is_strict, schema_of
from prompts.language_model import InvalidReplyError, LanguageModel, LanguageModels
from support.asking_model import GOOD, model_of, plan, plan_once, reply_schemas, settings_for
from support.scripted_model import Request, Scripted, refused, refusing, serving, serving_by

CALLED = Scripted(calls=[("QueryPlanReply", GOOD)])


def form(request: Request) -> str:
    """The form of a request."""
    if "tools" in request:
        return "function_calling"
    kind = request.get("response_format", {}).get("type", "plain")
    return "json_mode" if kind == "json_object" else str(kind)


def good(request: Request) -> Scripted:
    return CALLED if "tools" in request else Scripted(GOOD)


@pytest.mark.parametrize(
    ("refuses", "works"),
    [
        ((), "json_schema"),
        (("json_schema",), "function_calling"),
        (("json_schema", "tools"), "json_mode"),
        (("json_schema", "tools", "json_object"), "plain"),
    ],
)
def test_the_form_that_works_is_found_once_remembered_and_told(refuses: tuple[str, ...], works: str) -> None:
    found: dict[str, str] = {}

    async def twice() -> list[str]:
        models = LanguageModels(settings_for(server), found=lambda forms: found.update(forms))
        return [await plan(models.of("query_plan")), await plan(models.of("research"))]

    with serving_by(refusing(refuses, good)) as server:
        assert asyncio.run(twice()) == ["croup", "croup"]
    tried = [form(r) for r in server.requests]
    assert tried == [*METHODS[: len(refuses) + 1], works]
    assert found == {f"m at {server.url}": works}
    in_words = "QueryPlanReply" in server.requests[-1]["messages"][0]["content"]
    assert in_words is (works in ("json_mode", "plain"))


def test_a_server_that_takes_a_schema_and_does_not_heed_it_is_asked_otherwise_at_the_repair() -> None:
    def respond(request: Request) -> Scripted:
        return CALLED if "tools" in request else Scripted("Surely! Croup is a viral illness.")

    with serving_by(respond) as server:
        model = model_of(server)
        assert asyncio.run(_twice(model)) == ["croup", "croup"]
    assert [form(r) for r in server.requests] == ["json_schema", "function_calling", "function_calling"]


def test_a_server_that_heeds_no_form_is_told_the_schema_in_words_first_with_the_repair() -> None:
    def respond(request: Request) -> Scripted:
        told = any("JSON Schema" in m["content"] for m in request["messages"])
        return Scripted(GOOD if told else "Croup is a viral illness.")

    with serving_by(respond) as server:
        assert asyncio.run(_twice(model_of(server))) == ["croup", "croup"]
    asked = ["json_schema", "function_calling", "function_calling", "json_mode"]  # what a repair brings proves no form
    assert [form(r) for r in server.requests] == asked


def test_forms_that_are_not_heeded_are_left_one_after_the_other() -> None:
    async def often() -> list[str]:
        model = model_of(server)
        with pytest.raises(InvalidReplyError):
            await plan(model)
        return [await plan(model), await plan(model)]

    def respond(request: Request) -> Scripted:
        return Scripted(GOOD if form(request) == "plain" else "Croup is a viral illness.")

    with serving_by(respond) as server:
        assert asyncio.run(often()) == ["croup", "croup"]
    assert [form(r) for r in server.requests] == [*METHODS, "plain"]


async def _twice(model: LanguageModel) -> list[str]:
    return [await plan(model), await plan(model)]


def test_a_form_that_is_refused_after_it_worked_is_found_out_anew() -> None:
    async def ask() -> str:
        models = LanguageModels(settings_for(server), {f"m at {server.url}": "json_schema"})
        return await plan(models.of("query_plan"))

    with serving_by(refusing(["json_schema"], good)) as server:
        assert asyncio.run(ask()) == "croup"
    assert form(server.requests[-1]) == "function_calling"


def test_a_server_that_refuses_every_form_is_an_error_after_each_was_tried_once() -> None:
    with serving(Scripted(status=400, body='{"error": {"message": "no"}}')) as server, pytest.raises(ServiceError):
        plan_once(model_of(server))
    assert [form(r) for r in server.requests] == list(METHODS)


def test_a_schema_is_asked_for_strictly_and_without_that_where_it_is_refused() -> None:
    def respond(request: Request) -> Scripted:
        told = request["response_format"]["json_schema"]
        return refused("strict") if "strict" in told else Scripted(GOOD)

    with serving_by(respond) as server:
        assert asyncio.run(_twice(model_of(server))) == ["croup", "croup"]
    asked = [r["response_format"]["json_schema"] for r in server.requests]
    assert [schema.get("strict") for schema in asked] == [True, None, None]
    assert asked[0]["schema"] == asked[2]["schema"]


def test_a_call_is_asked_for_strictly_too() -> None:
    with serving_by(refusing(["json_schema"], good)) as server:
        assert plan_once(model_of(server)) == "croup"
    assert server.requests[-1]["tools"][0]["function"]["strict"] is True


def objects(shape: Any) -> Iterator[dict[str, Any]]:
    """Every part of a schema."""
    if isinstance(shape, dict):
        yield shape
        for value in shape.values():
            yield from objects(value)
    elif isinstance(shape, list):
        for value in shape:
            yield from objects(value)


@pytest.mark.parametrize("schema", reply_schemas(), ids=lambda schema: schema.__name__)
def test_every_reply_has_a_schema_that_a_strict_server_takes(schema: type[BaseModel]) -> None:
    shape = schema_of(schema)
    assert is_strict(form_of("json_schema", schema))
    assert shape["type"] == "object"
    for part in objects(shape):
        if "properties" in part:
            assert part["additionalProperties"] is False
            assert part["required"] == list(part["properties"])
        else:
            assert not {"$ref", "allOf", "oneOf", "default", "minLength", "maximum", "format"} & part.keys()
    told = json.dumps(shape)
    assert (schema.__doc__ or "?").partition(".")[0] not in told


def test_what_may_hold_anything_is_not_asked_for_strictly() -> None:
    class Open(BaseModel):
        notes: dict[str, int]

    assert not is_strict(form_of("json_schema", Open))
    assert schema_of(Open)["properties"]["notes"]["additionalProperties"] == {"type": "integer"}


def test_what_a_reply_leaves_out_is_filled_in_by_us() -> None:
    with serving(Scripted('{"terms": [{"text": "croup"}]}')) as server:
        assert plan_once(model_of(server)) == "croup"
    assert len(server.requests) == 1


def test_a_temperature_that_is_refused_is_left_out_from_then_on() -> None:
    with serving_by(refusing(["temperature"], good)) as server:
        assert asyncio.run(_twice(model_of(server))) == ["croup", "croup"]
    assert ["temperature" in r for r in server.requests] == [True, False, False]


def test_an_error_that_only_quotes_the_temperature_does_not_lose_it() -> None:
    echo = Scripted(status=400, body='{"error": {"message": "bad request: {temperature: 0, response_format: ...}"}}')

    def respond(request: Request) -> Scripted:
        return good(request) if "tools" in request else echo

    with serving_by(respond) as server:
        assert plan_once(model_of(server)) == "croup"
    assert "temperature" in server.requests[-1]


def test_broken_arguments_of_the_reply_as_a_call_are_mended_in_the_same_form() -> None:
    script = [Scripted(calls=[("QueryPlanReply", '{"terms": [')]), CALLED]

    with serving_by(refusing(["json_schema"], lambda _: script.pop(0))) as server:
        assert plan_once(model_of(server)) == "croup"
    assert [form(r) for r in server.requests] == ["json_schema", "function_calling", "function_calling"]
    assert "cannot be used" in server.requests[-1]["messages"][-1]["content"]


def test_tools_that_are_not_taken_are_a_typed_error() -> None:
    tool = {"name": "look", "description": "Look.", "parameters": {"type": "object", "properties": {}}}

    async def choose() -> object:
        return await model_of(server).choose("query_plan", [tool], [], {"question": "croup"})

    with serving_by(refusing(["tools"], good)) as server, pytest.raises(ServiceError, match="refused the request"):
        asyncio.run(choose())


def test_calls_are_required_until_a_server_refuses_that() -> None:
    tool = {"name": "look", "description": "Look.", "parameters": {"type": "object", "properties": {}}}

    async def twice(model: LanguageModel) -> list[str]:
        made = [await model.choose("query_plan", [tool], [], {"question": "croup"}, required=True) for _ in range(2)]
        return [calls[0].name for calls, _ in made]

    look = Scripted(calls=[("look", {})])
    for untaken, asked in (([], ["required", "required"]), (["tool_choice"], ["required", None, None])):
        with serving_by(refusing(untaken, lambda _: look)) as server:
            assert asyncio.run(twice(model_of(server))) == ["look", "look"]
        assert [r.get("tool_choice") for r in server.requests] == asked
