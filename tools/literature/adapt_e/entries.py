"""The table of terms (``terms.yaml``): other names of a term, its MeSH heading, its group, everyday words for it."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from tools.literature.adapt_e.contract import Group
from tools.literature.adapt_e.spellings import american, singular
from tools.yaml_files import read_yaml

GRAMMAR = frozenset({"the", "with", "and", "for"})
TABLE = Path(__file__).with_name("terms.yaml")


class Entry(NamedTuple):
    """A row of the table; ``group`` is None when the row leaves it open."""

    term: str
    also: tuple[str, ...]
    mesh: str
    group: Group | None
    broader: str


def entry_of(phrase: str) -> Entry | None:
    """The row of a phrase, by its term or another name of it, in any number and spelling; None without one."""
    return _table()[0].get(_key(phrase))


def in_medical_words(text: str) -> str:
    """The text with everyday words for an illness or a treatment replaced by its term.

    ``a clot in the lung`` becomes ``a pulmonary embolism``. The longest wording is read first, and what the table
    holds as a term or another name of one stays as it is.
    """
    _, replaced, pattern = _table()
    return pattern.sub(lambda m: replaced.get(m[0].lower().replace("’", "'"), m[0]), text)


def wordings(text: str) -> list[tuple[int, int]]:
    """Where a text has an everyday wording, or a name, of the table."""
    return [m.span() for m in _table()[2].finditer(text)]


def bound(text: str) -> str:
    """The text with each name of the table in one piece, its words joined by underscores: deep_vein_thrombosis."""
    return _names().sub(lambda m: m[0].replace(" ", "_"), text)


@lru_cache(maxsize=1)
def _names() -> re.Pattern[str]:
    entries, _, _ = _table()
    names = {
        name.lower()
        for e in entries.values()
        for name in (e.term, *e.also)
        if re.fullmatch(r"[\w-]+(?: [\w-]+)+", name)
    }
    return re.compile(rf"\b(?:{'|'.join(sorted(map(re.escape, names), key=lambda n: (-len(n), n)))})\b", re.IGNORECASE)


@lru_cache(maxsize=1)
def table_words() -> frozenset[str]:
    """The words of the table's terms and other names, lower case, of three letters and more."""
    entries, _, _ = _table()
    names = (name for entry in entries.values() for name in (entry.term, *entry.also))
    return frozenset(w for name in names for w in re.findall(r"[a-z]{3,}", name.lower()) if w not in GRAMMAR)


@lru_cache(maxsize=1)
def _table() -> tuple[dict[str, Entry], dict[str, str], re.Pattern[str]]:
    rows: list[dict[str, Any]] = read_yaml(TABLE)
    entries: dict[str, Entry] = {}
    lay: dict[str, str] = {}
    names: set[str] = set()
    for row in rows:
        also = tuple(row.get("also", ()))
        group = Group(row["group"]) if row["group"] != Group.OTHER.value else None
        entry = Entry(row["term"], also, row.get("mesh", ""), group, row.get("broader", ""))
        for name in (row["term"], *also):
            entries.setdefault(_key(name), entry)
            names.add(name.lower())
        lay |= {words: row["term"] for words in row.get("lay", ()) if words not in lay}
    longest = sorted(names | lay.keys(), key=lambda n: (-len(n), n))
    wording = "|".join(re.escape(n).replace("'", "['’]") for n in longest)
    return (
        entries,
        {k: v for k, v in lay.items() if k not in names},
        re.compile(rf"\b(?:{wording})(?!\w)", re.IGNORECASE),
    )


def _key(phrase: str) -> str:
    plain = re.sub(
        r"\btype (i{1,2})\b", lambda m: f"type {len(m[1])}", phrase.lower().replace("’", "'").replace("'s", "")
    )
    words = american(plain).replace("-", " ").split()
    return " ".join([*words[:-1], singular(words[-1])]) if words else ""
