"""What a medical text says of its subject (cause, treatment, outlook, ...): told by its words, and how it is asked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from tools.yaml_files import read_yaml

TABLE = Path(__file__).with_name("kinds.yaml")
OPENING = 2.0  # ours: the first statement of a text, and its headings, say more of what the text is about than the rest


class Kind(NamedTuple):
    """A kind of statement: the words that tell it, and the questions that ask for it, with ``{s}`` for the subject.

    ``of``: "disease" is not asked of a measure, "thing" (medicines, tests) not of a disease, "any" of both.
    """

    name: str
    cues: re.Pattern[str]
    forms: tuple[str, ...]
    of: str


@lru_cache(maxsize=1)
def kinds() -> tuple[Kind, ...]:
    """The table."""
    rows = read_yaml(TABLE)
    return tuple(
        Kind(row["name"], re.compile(row["cues"]), tuple(row["forms"]), row.get("of", "disease")) for row in rows
    )


@lru_cache(maxsize=65536)  # ours: a build asks for each statement twice, when it is written for and when it is judged
def kinds_of(words: str) -> tuple[Kind, ...]:
    """The kinds that a statement, a heading or a question is of."""
    lower = words.lower()
    return tuple(kind for kind in kinds() if kind.cues.search(lower))


def shares(found: Mapping[str, float]) -> dict[str, float]:
    """Weights as shares of the largest."""
    most = max(found.values(), default=0.0)
    return {name: weight / most for name, weight in found.items()} if most else {}


def weigh(statements: Iterable[tuple[int, str]]) -> dict[str, tuple[float, int]]:
    """Kind -> (weight, number of the first statement of it), of (number, words) in order."""
    weights: dict[str, tuple[float, int]] = {}
    for number, words in statements:
        for kind in kinds_of(words):
            weight, first = weights.get(kind.name, (0.0, number))
            weights[kind.name] = (weight + (OPENING if number == 0 else 1.0), first)
    return weights
