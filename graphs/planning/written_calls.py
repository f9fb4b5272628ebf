"""Tool calls that a model wrote as text, because its server does not read them out of what it says."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Any

from prompts.endpoint import Call

MARKS = re.compile(r"</?tool_calls?>|\[/?TOOL_CALLS?\]|```(?:json)?|[\s,\[\]]")  # what models put around written calls
GIVEN = ("arguments", "parameters")  # names under which models give the arguments


def written_calls(text: str, tools: Collection[str]) -> tuple[Call, ...]:
    """The calls of a text that holds nothing but calls; none of any other text, which may quote what was retrieved."""
    found: list[Call] = []
    rest: list[str] = []
    at = 0
    while at < len(text):
        start = text.find("{", at)
        if start < 0:
            break
        try:
            value, end = json.JSONDecoder().raw_decode(text, start)
        except (ValueError, RecursionError):  # no JSON, or nested beyond reason
            return ()
        call = _call(value, tools)
        if call is None:
            return ()
        found.append(call)
        rest.append(text[at:start])
        at = end
    rest.append(text[at:])
    return () if MARKS.sub("", "".join(rest)) else tuple(found)


def _call(value: Any, tools: Collection[str]) -> Call | None:
    if not isinstance(value, dict) or value.get("name") not in tools:
        return None
    arguments: dict[str, Any] = next((value[key] for key in GIVEN if isinstance(value.get(key), dict)), {})
    return Call("", value["name"], arguments)
