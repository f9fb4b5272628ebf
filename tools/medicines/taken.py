"""Which medicines a sentence tells as taken: regularly, or a dose that was given lately (ours)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal

from tools.medicines.names import Medicine
from tools.yaml_files import read_patterns

NEAR = 200  # ours: characters before a medicine in which it is told to be taken
MEASURED = frozenset({"vitamin", "vitamin D", "iron", "calcium", "magnesium", "insulin", "androgen", "thyroid hormone"})
"""Ours: classes that the body has too: "my calcium" may be a result."""
Taking = Literal["current", "given", ""]


def taken_in(part: str, named: Sequence[Medicine], *, asks: bool = False) -> Iterator[tuple[Medicine, Taking]]:
    """The medicines of a part of a sentence that it tells as taken.

    Args:
        named: those that the part names. asks: it is a question, which tells so only by the way ("with my sertraline").
    """
    if not asks and _words()["stopped"].search(part):
        return
    told: Taking = ""
    end = 0
    for medicine in sorted(named, key=lambda m: m.start):
        joined = told and _words()["row"].fullmatch(part, end, medicine.start)
        end = medicine.start + len(medicine.written)
        told = told if joined else _told(part[max(0, medicine.start - NEAR) : medicine.start], part[end:], asks=asks)
        result = medicine.family in MEASURED and _words()["measured"].search(part[end:])
        if told and not result and not medicine.family.endswith("vaccine"):
            yield medicine, told


def _told(before: str, after: str, *, asks: bool) -> Taking:
    """How words around a medicine's name tell it as taken."""
    words = _words()
    if words["takes_behind"].search(after):
        return "current"
    if asks:
        return "current" if words["own"].search(before) or words["takes_beside"].search(before) else ""
    if words["takes"].search(before) or words["takes_this"].search(before):
        return "current"
    return "given" if words["given"].search(before) or words["given_behind"].search(after) else ""


@lru_cache(maxsize=1)
def _words() -> dict[str, re.Pattern[str]]:
    return read_patterns(Path(__file__).with_name("taken.yaml"))
