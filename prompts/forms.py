"""The forms in which a server can be asked for a reply of a schema, and for tool calls; schemas made for the wire.

A schema is sent as OpenAI's structured outputs want it, which every other server takes too: objects say all their
properties, require each and allow no other, references are written out, and nothing stands in it that a decoder need
not know: no title, no docstring, no default, no bound of a value (code: the rules of ``strict``; bounds are refused by
some servers). Bounds and defaults are ours to check and to fill in.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Any, Literal

from pydantic import BaseModel

Method = Literal["json_schema", "function_calling", "json_mode", "plain"]
METHODS: tuple[Method, ...] = ("json_schema", "function_calling", "json_mode", "plain")  # best first; ours
UNION = "anyOf"


def form_of(method: Method, schema: type[BaseModel]) -> dict[str, Any]:
    """The part of a request that asks for a reply of a schema, strictly where the schema allows it."""
    shape, name = schema_of(schema), schema.__name__
    strict = {"strict": True} if is_closed(shape) else {}
    if method == "json_schema":
        wanted = {"type": "json_schema", "json_schema": {"name": name, **strict, "schema": shape}}
        return _body(response_format=wanted)
    if method == "function_calling":
        function = function_of(name, "Give the reply.", schema)
        choice = {"type": "function", "function": {"name": name}}
        return _body(tools=[{"type": "function", "function": function}], tool_choice=choice)
    return _body(response_format={"type": "json_object"}) if method == "json_mode" else {}


def function_of(name: str, description: str, schema: type[BaseModel], left_out: Collection[str] = ()) -> dict[str, Any]:
    """A function of the protocol: its arguments are a schema without some of its fields, strict where that may be."""
    shape = dict(schema_of(schema))
    shape["properties"] = {key: value for key, value in shape["properties"].items() if key not in left_out}
    shape["required"] = list(shape["properties"])
    strict = {"strict": True} if is_closed(shape) else {}
    return {"name": name, "description": description, **strict, "parameters": shape}


def form_of_tools(tools: Sequence[Mapping[str, Any]], *, required: bool = False) -> dict[str, Any]:
    """The part of a request that offers tools, as `function_of` gives them; ``required``: one at least must be called.

    An argument that may be left out is then given empty. Several calls at once, which a server may not hold to their
    schemas (code), are checked here as any others.
    """
    must = {"tool_choice": "required"} if required else {}
    return _body(tools=[{"type": "function", "function": dict(tool)} for tool in tools], **must)


def loosened(form: Mapping[str, Any]) -> dict[str, Any]:
    """A form without ``strict``, for a server that does not take it."""
    body: dict[str, Any] = dict(form.get("extra_body", {}))
    if "json_schema" in body.get("response_format", {}):
        shape = {key: value for key, value in body["response_format"]["json_schema"].items() if key != "strict"}
        body["response_format"] = {**body["response_format"], "json_schema": shape}
    if "tools" in body:
        functions = [{k: v for k, v in tool["function"].items() if k != "strict"} for tool in body["tools"]]
        body["tools"] = [{"type": "function", "function": function} for function in functions]
    return {**form, "extra_body": body}


def is_strict(form: Mapping[str, Any]) -> bool:
    """Whether a form asks for a schema to be kept to strictly."""
    return loosened(form) != {"extra_body": {}, **form}


@cache
def schema_of(schema: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of a model as it is sent, made once. Not to be changed."""
    whole = schema.model_json_schema()
    return _plain(whole, whole.get("$defs", {}))


def is_closed(shape: Mapping[str, Any]) -> bool:
    """Whether a schema says all that may come, as ``strict`` wants it: no object and no value of any kind."""
    if UNION in shape:
        return all(is_closed(option) for option in shape[UNION])
    if shape.get("type") == "object":
        return "properties" in shape and all(is_closed(value) for value in shape["properties"].values())
    if shape.get("type") == "array":
        return is_closed(shape.get("items", {}))
    return "type" in shape or "enum" in shape


def _plain(shape: Mapping[str, Any], parts: Mapping[str, Any]) -> dict[str, Any]:
    """A part of a schema as it is sent; a field's own description stays, the docstring of what it refers to goes."""
    kept: dict[str, Any] = {key: shape[key] for key in ("description", "type", "enum") if key in shape}
    if "$ref" in shape:
        return _plain({**parts[str(shape["$ref"]).rpartition("/")[2]], "description": ""}, parts) | kept
    if "const" in shape:
        kept["enum"] = [shape["const"]]
    if UNION in shape:
        kept[UNION] = [_plain(option, parts) for option in shape[UNION]]
    if "items" in shape:
        kept["items"] = _plain(shape["items"], parts)
    if "properties" in shape:
        properties = {name: _plain(value, parts) for name, value in shape["properties"].items()}
        kept |= {"properties": properties, "required": list(properties), "additionalProperties": False}
    elif shape.get("type") == "object":
        kept["additionalProperties"] = shape.get("additionalProperties", True)
    if "properties" in shape or not kept.get("description", True):
        kept.pop("description", None)
    return kept


def _body(**parts: Any) -> dict[str, Any]:
    """Parts of the request's body as they are: given by name, the client would check them piece by piece, read the
    reply itself, with half a second of imports, and raise an error of its own for each fault."""
    return {"extra_body": parts}
