"""The forms in which a server can be asked for a reply of a schema, and for tool calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Literal

from pydantic import BaseModel

Method = Literal["json_schema", "function_calling", "json_mode", "plain"]
METHODS: tuple[Method, ...] = ("json_schema", "function_calling", "json_mode", "plain")  # best first; ours


def form_of(method: Method, schema: type[BaseModel]) -> dict[str, Any]:
    """The part of a request that asks for a reply of a schema."""
    shape, name = schema_of(schema), schema.__name__
    if method == "json_schema":
        wanted = {"type": "json_schema", "json_schema": {"name": name, "schema": shape}}
        return _body(response_format=wanted)
    if method == "function_calling":
        function = {"name": name, "description": "Give the reply.", "parameters": shape}
        choice = {"type": "function", "function": {"name": name}}
        return _body(tools=[{"type": "function", "function": function}], tool_choice=choice)
    return _body(response_format={"type": "json_object"}) if method == "json_mode" else {}


def form_of_tools(tools: Sequence[Mapping[str, Any]], *, required: bool = False) -> dict[str, Any]:
    """The part of a request that offers tools (``name``, ``description``, ``parameters``); ``required``: one at least
    must be called."""
    must = {"tool_choice": "required"} if required else {}
    return _body(tools=[{"type": "function", "function": dict(tool)} for tool in tools], **must)


@cache
def schema_of(schema: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of a model, made once. Not to be changed."""
    return schema.model_json_schema()


def _body(**parts: Any) -> dict[str, Any]:
    """Parts of the request's body as they are: given by name, the client would check them piece by piece, read the
    reply itself, with half a second of imports, and raise an error of its own for each fault."""
    return {"extra_body": parts}
