"""Reading what a model said: without its thinking, the JSON object of it, and what is wrong with that."""

from __future__ import annotations

import re
from typing import TypeVar

from pydantic import BaseModel, ValidationError

MAX_ERRORS = 5  # ours: faults of a reply that are told back; more would not help to mend it
LONGEST = 100_000  # characters of a reply that are read; ours: fifty times a long answer
SHOWN = 4000  # characters of a faulty reply that are shown to the model again; ours
THINKING = re.compile(r"<(/?)(think|thinking|thought|reasoning|analysis)>", re.IGNORECASE)
Reply = TypeVar("Reply", bound=BaseModel)


class Faulty(ValueError):  # noqa: N818  it never leaves the room
    """A reply that cannot be used, and what the model is told about it."""


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
    """The reply of a text; raises Faulty."""
    if len(text) > LONGEST:
        raise Faulty(f"it has {len(text)} characters; it must be short")
    said = without_thinking(text)
    if not said:
        raise Faulty("it is empty")
    try:
        return schema.model_validate_json(json_object(said))
    except ValidationError as error:
        raise Faulty(faults(error)) from None


def json_object(text: str) -> str:
    """The JSON object of a reply, without the fence or the words that some models put around it."""
    start, end = text.find("{"), text.rfind("}")
    return text[start : end + 1] if 0 <= start < end else text


def faults(error: ValidationError) -> str:
    """What is wrong, a few places of it, without the input."""
    found = [f"{'.'.join(map(str, e['loc'])) or 'reply'}: {e['msg']}" for e in error.errors(include_input=False)]
    return "; ".join(found[:MAX_ERRORS])
