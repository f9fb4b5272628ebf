"""Texts as a model is shown them: one line each, cut where long, so that no line of a text looks like one of ours."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict

CUT = "…"  # ends a text that was cut; the templates say so
NUMBER = re.compile(r"(?<![\d.])-?\d{1,6}")


class Lenient(BaseModel):
    """A part of a reply: the schema asks for no more fields, but what comes beside them is left out, not refused."""

    model_config = ConfigDict(extra="ignore", json_schema_extra={"additionalProperties": False})


class Strict(BaseModel):
    """A part of a reply: unknown fields are faults."""

    model_config = ConfigDict(extra="forbid")


def one_line(text: str, most: int) -> str:
    """The text on one line, cut to ``most`` characters: no line of it can pass for a heading or a number of ours."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + CUT


def numbers(value: Any) -> list[int]:
    """The whole numbers of what a model gave for a list of them: ``[1, "2"]``, ``"1 and 2"``, ``3``, null."""
    items = value if isinstance(value, (list, tuple)) else [value]
    return [int(found) for item in items for found in NUMBER.findall(str(item))]


def listed(value: Any) -> Any:
    """A list, also of one bare value; nothing for null."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _text(value: Any) -> Any:
    return "" if value is None else value


def _first(value: Any) -> Any:
    return next(iter(numbers(value)), value)


Number = Annotated[int, BeforeValidator(_first)]
Text = Annotated[str, BeforeValidator(_text)]  # "" for null
Numbers = Annotated[list[int], BeforeValidator(numbers)]
