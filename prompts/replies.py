"""Reading what a model said: without its thinking, the JSON object in it, and what is wrong with that."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

MAX_ERRORS = 5  # ours: faults of a reply that are told back; more would not help to mend it
LONGEST = 100_000  # characters of a reply that are read; ours: fifty times a long answer
SHOWN = 4000  # characters of a faulty reply that are shown to the model again; ours
MAX_TRIES = 200  # ours: braces of a text at which an object is looked for; prose before a reply has few
# What a reply lacks that only what was asked can tell; code: as pydantic names errors.
LACKING = frozenset({"missing", "literal_error", "enum", "too_short", "value_error"})
DECODER = json.JSONDecoder(strict=False)  # line breaks within a text are common, and lose nothing
FENCED = re.compile(r"```(.*?)```", re.DOTALL)
BEGUN = re.compile(r"\{\s*[\"'}]")
THINKING = re.compile(r"(?:<|\[(?=/?think\]))(/?)(think|thinking|thought|reasoning|analysis)[>\]]", re.IGNORECASE)
Reply = TypeVar("Reply", bound=BaseModel)


class Faulty(ValueError):  # noqa: N818  it never leaves the room
    """A reply that cannot be used, and what the model is told about it.

    Attributes:
        of_form: its form alone is at fault, so that it can be put right without what was asked.
    """

    def __init__(self, told: str, *, of_form: bool = False) -> None:
        super().__init__(told)
        self.of_form = of_form


def without_thinking(text: str) -> str:
    """The text without thinking that servers leave in it, closed, or opened by the template and only closed here.

    One pass, whatever the text. Thinking that is never closed goes when the text begins with it; elsewhere such a word
    is a part of the text.
    """
    kept: list[str] = []
    opened: re.Match[str] | None = None
    at = 0
    for tag in THINKING.finditer(text):
        closes = bool(tag[1])
        if opened is None and not closes:
            opened = tag
        elif closes and (opened is None or opened[2].lower() == tag[2].lower()):
            if opened is None:
                kept.clear()
            else:
                kept.append(text[at : opened.start()])
            opened, at = None, tag.end()
    if opened is not None and not "".join([*kept, text[at : opened.start()]]).strip():
        return ""
    return "".join([*kept, text[at:]]).strip()


def parse(text: str, schema: type[Reply]) -> Reply:
    """The reply of a text: the first object of the schema in it, in a fence or anywhere; raises Faulty."""
    if len(text) > LONGEST:
        raise Faulty(f"it has {len(text)} characters; it must be short")
    said = without_thinking(text)
    if not said:
        raise Faulty("it is empty")
    fault: Faulty | None = None
    for found in json_objects(said):
        if not found.keys() & schema.model_fields.keys():  # braces of prose, or a part of the reply
            continue
        try:
            return schema.model_validate(found)
        except ValidationError as error:
            fault = fault or Faulty(faults(error), of_form=not _lacks(error))
    raise fault or _no_object(said, schema)


def json_objects(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects of a text in order, those in fences first; what only looks like one is passed over."""
    for part in (*FENCED.findall(text), text):
        at, tried = part.find("{"), 0
        while at >= 0 and tried < MAX_TRIES:
            tried += 1
            try:
                found, end = DECODER.raw_decode(part, at)
            except (ValueError, RecursionError):  # no JSON, or nested beyond reason
                end = at + 1
            else:
                yield found
            at = part.find("{", end)


def holds_object(text: str) -> bool:
    """Whether a text has at least the beginning of a JSON object: braces of prose are none."""
    return BEGUN.search(text) is not None


def faults(error: ValidationError) -> str:
    """What is wrong, a few places of it, without the input."""
    found = [f"{'.'.join(map(str, e['loc'])) or 'reply'}: {e['msg']}" for e in error.errors(include_input=False)]
    return "; ".join(found[:MAX_ERRORS])


def _lacks(error: ValidationError) -> bool:
    """Whether a reply lacks something that only what was asked can tell."""
    return any(e["type"] in LACKING for e in error.errors(include_input=False, include_url=False))


def _no_object(said: str, schema: type[BaseModel]) -> Faulty:
    """The fault of a text without an object of the schema."""
    if not holds_object(said):
        return Faulty("it holds no JSON object")
    try:
        DECODER.raw_decode(said, said.find("{"))
    except RecursionError:
        return Faulty("it is nested too deeply")
    except ValueError as error:
        return Faulty(f"it is no sound JSON: {error}", of_form=said.rstrip("`\n ").endswith("}"))
    return Faulty(f"none of the fields {', '.join(schema.model_fields)} is in it")
