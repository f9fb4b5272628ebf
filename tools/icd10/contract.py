"""What the room gives: phrases of a diagnosis text, names of codes, entities."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from tools.evidence import Frozen

Depth = Literal["category", "subdivision"]
Setting = Literal["paper", "strict"]

_CODE = re.compile(r"([A-Z]\d[0-9A-Z])(?:\.([0-9A-WYZ]))?")  # an X fills an empty place and says nothing


class Phrase(Frozen):
    """A diagnosis in a text: ``source[start:end] == text``.

    Attributes:
        suspected: it is said to be possible, not certain.
        past: it is told of the past (``status post``, ``history of``).
    """

    text: str
    start: int
    end: int
    suspected: bool = False
    past: bool = False


class Name(NamedTuple):
    """A name of a code: its ``title`` in the table, a ``term`` listed under it, or an ``alias`` from elsewhere."""

    code: str
    text: str
    kind: Literal["title", "term", "alias"] = "title"


class Match(NamedTuple):
    """The name that a phrase was matched with, and how well, in 0..1."""

    name: Name
    score: float


class Entity(Frozen):
    """A disease that a phrase names.

    Attributes:
        code: at the depth that was asked for; always one of the table. name: the table's name of that code.
        matched: the name that was matched. score: in 0..1.
    """

    code: str
    name: str
    matched: str
    score: float


class Linked(Frozen):
    """A phrase, and what it names; None for nothing in the table."""

    phrase: Phrase
    entity: Entity | None = None


def at_depth(code: str, depth: Depth) -> str:
    """The category (``E11``) of a code, or its first subdivision (``E11.2`` of ``E11.221+N08.3*``) where it has one.

    A code with a dagger or an asterisk counts as its first part. "" for what is no ICD-10 code.
    """
    match = _CODE.match(code)
    if match is None:
        return ""
    return match[1] if depth == "category" or not match[2] else f"{match[1]}.{match[2]}"
