"""Medicines in a text, by any of their names: a brand, a generic name and a class are told to mean the same.

A general encoder does not know that rosuvastatin is a statin, or Tamiflu oseltamivir. The table is this project's own
(``names.yaml``); it holds names only.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from tools.contract import unique
from tools.yaml_files import read_yaml

TABLE = Path(__file__).with_name("names.yaml")


class Medicine(NamedTuple):
    """A name as written in a text, at ``start``; the generic name and the class that it stands for.

    ``names`` are all names under which a text may speak of it: generic, brands, class; for a class its members.
    ``everyday`` marks words that are common outside medicine too.
    """

    written: str
    start: int
    generic: str
    family: str
    names: tuple[str, ...]
    everyday: bool


class _Entry(NamedTuple):
    generic: str
    family: str
    names: tuple[str, ...]
    everyday: bool


def medicines_in(text: str) -> list[Medicine]:
    """The medicines that an English text names, in order."""
    table, pattern = _table()
    found = []
    for match in pattern.finditer(text):
        entry = table[_key(match[1])]
        found.append(Medicine(match[0], match.start(), *entry))
    return found


def other_names(text: str) -> dict[str, tuple[str, ...]]:
    """Each medicine named in the text, as written, with its other names; everyday words are left out."""
    return {m.written: m.names for m in medicines_in(text) if not m.everyday}


@lru_cache(maxsize=1)
def medicine_words() -> frozenset[str]:
    """Every word of the table's names, in small letters."""
    return frozenset(w for name in _table()[0] for w in re.findall(r"[^\W\d_]{3,}", name))


def generic_names() -> list[str]:
    """Every generic name of the table, in order."""
    return sorted({entry.generic for entry in _table()[0].values() if entry.generic})


def forms(text: str) -> list[str]:
    """The text, then the text with generic names for brands, then with classes for medicines; each once."""
    named = medicines_in(text)
    if not named:
        return [text]
    return unique([text, _with(text, named, "generic"), _with(text, named, "family")])


def _with(text: str, named: list[Medicine], part: str) -> str:
    out, at = "", 0
    for medicine in named:
        name: str = getattr(medicine, part) or medicine.written
        plural = medicine.written.endswith("s") and not name.endswith("s") and name == medicine.family
        out += text[at : medicine.start] + name + ("s" if plural else "")
        at = medicine.start + len(medicine.written)
    return out + text[at:]


@lru_cache(maxsize=1)
def _table() -> tuple[dict[str, _Entry], re.Pattern[str]]:
    """Entries by name in lower case, and a pattern that finds any name, the longest first, plurals included."""
    table: dict[str, _Entry] = {}
    groups = read_yaml(TABLE)
    for group in groups:
        for generic, others in group["members"].items():
            names = unique([generic, *others])
            entry = _Entry(generic, group["class"][0], tuple(unique([*names, *group["class"]])), False)
            table |= {_key(name): entry for name in names if _key(name) not in table}
        table |= {
            _key(word): _Entry("", group["class"][0], tuple(group["class"]), True) for word in group.get("words", ())
        }
    for name in unique([name for group in groups for name in group["class"]]):
        table.setdefault(_key(name), _of_class(name, [g for g in groups if name in g["class"]]))
    longest = sorted(table, key=lambda name: (-len(name), name))
    return table, re.compile(rf"\b({'|'.join(map(re.escape, longest))})s?\b", re.IGNORECASE)


def _of_class(name: str, groups: list[dict[str, Any]]) -> _Entry:
    """A class by one of its names; a name that several classes share (antibiotic) stands for itself."""
    members = [n for g in groups for generic, others in g["members"].items() for n in (generic, *others)]
    aliases = groups[0]["class"] if len(groups) == 1 else [name]
    return _Entry("", aliases[0], tuple(unique([*aliases, *members])), False)


def _key(name: str) -> str:
    return name.lower()
