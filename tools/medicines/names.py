"""Medicines in a text, by any of their names: a brand, a generic name and a class are told to mean the same.

A general encoder does not know that rosuvastatin is a statin, or Tamiflu oseltamivir. Names are this project's own: a
table (``names.yaml``), and those of the records (`tools.medicines.records`).
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from tools.contract import unique
from tools.medicines.records import starter_records
from tools.yaml_files import read_yaml

TABLE, BESIDE, SHORT, WORDS = (
    Path(__file__).with_name(name) for name in ("names.yaml", "names_beside.yaml", "shorthand.yaml", "words.yaml")
)
PLURAL = re.compile(r"s?\b", re.IGNORECASE)  # a name's plural, and its end
FIRST = re.compile(r"[^\W_]+")  # words, as names begin
BEGINS = re.compile(r"(?:^|[.!?。！？])\W*$")  # before the first word of a sentence
SORT = re.compile(r"[\s-]+[A-Z]\b")  # behind the name of a sort: luminal A


class Medicine(NamedTuple):
    """A name as written in a text, at ``start``; the generic name and the class that it stands for.

    ``names`` are all names under which a text may speak of it: generic, brands, class; for a class its members.
    ``everyday`` marks words that are common outside medicine too. ``classes`` are those of ``names`` that name a
    medicine's class.
    """

    written: str
    start: int
    generic: str
    family: str
    names: tuple[str, ...]
    everyday: bool
    classes: tuple[str, ...] = ()


class _Entry(NamedTuple):
    generic: str
    family: str
    names: tuple[str, ...]
    everyday: bool
    classes: tuple[str, ...] = ()


def medicines_in(text: str) -> list[Medicine]:
    """The medicines that an English text names, in order."""
    table, low, found, end = _table(), text.lower(), list[Medicine](), 0
    if len(low) != len(text):  # a letter that grows when it is made small
        low = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    for word in FIRST.finditer(text):
        start = word.start()
        for name in table.beginning.get(_singular(word[0]), ()) if start >= end else ():
            after = PLURAL.match(text, start + len(name)) if low.startswith(name, start) else None
            if after is not None and not (name in table.words and _is_word(text, start, after.end())):
                end = after.end()
                found.append(Medicine(text[start:end], start, *table.entries[name]))
                break
    return found


def _is_word(text: str, start: int, end: int) -> bool:
    """Whether what may be a name or a word stands as the word: in small letters, first of a sentence, or of a sort."""
    return text[start].islower() or BEGINS.search(text[:start]) is not None or SORT.match(text, end) is not None


def other_names(text: str) -> dict[str, tuple[str, ...]]:
    """Each medicine named in the text, as written, with its other names; everyday words are left out."""
    return {m.written: m.names for m in medicines_in(text) if not m.everyday}


@lru_cache(maxsize=1)
def medicine_words() -> frozenset[str]:
    """Words that name medicines and nobody, in small letters: those of the table's own file, and generic names of one
    word. Brands of the records are left out: some are people's names too."""
    groups = read_yaml(TABLE)
    names = {n for g in groups for k, others in g["members"].items() for n in (k, *others, *g["class"])}
    names |= {n for g in groups for n in (*g["class"], *g.get("words", ()))}
    generic = {r.name.lower() for r in starter_records() if r.name.isalpha()}
    return frozenset(generic | {w for name in names for w in re.findall(r"[^\W\d_]{3,}", name.lower())})


def generic_names() -> list[str]:
    """Every generic name of the table, in order."""
    return sorted({entry.generic for entry in _table().entries.values() if entry.generic})


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


class _Table(NamedTuple):
    """Entries by name in lower case, by a name's first word the names that begin with it, the longest first, and names
    that are words too."""

    entries: dict[str, _Entry]
    beginning: dict[str, list[str]]
    words: frozenset[str]


@lru_cache(maxsize=1)
def _table() -> _Table:
    table: dict[str, _Entry] = {}
    groups = _groups()
    for group in groups:
        for generic, others in group["members"].items():
            names = unique([generic, *others])
            classes = tuple(group["class"])
            entry = _Entry(generic, classes[0], tuple(unique([*names, *classes])), False, classes)
            table |= {_key(name): entry for name in names if _key(name) not in table}
        table |= {
            _key(word): _Entry("", group["class"][0], tuple(group["class"]), True) for word in group.get("words", ())
        }
    for name in unique([name for group in groups for name in group["class"]]):
        table.setdefault(_key(name), _of_class(name, [g for g in groups if name in g["class"]]))
    for name, members in _classes().items():
        table.setdefault(_key(name), _Entry("", name, (name, *members), False))
    _add_short(table)
    beginning: dict[str, list[str]] = defaultdict(list)
    for name in sorted(table, key=lambda name: (-len(name), name)):
        beginning[_singular(FIRST.findall(name)[0])].append(name)  # "diuretics" begins as "diuretic" does
    return _Table(table, beginning, frozenset(read_yaml(WORDS)))


def _add_short(table: dict[str, _Entry]) -> None:
    """Add what is said and typed in haste: simva, a yellow fever jab, st johns wort, cotrimoxazole."""
    for generic, short in read_yaml(SHORT).items():
        for name in short:
            table.setdefault(_key(name), table[_key(generic)])
    for name in [name for name in table if name.endswith(" vaccine")]:
        for said in ("jab", "shot", "vaccination", "immunisation"):
            table.setdefault(f"{name.removesuffix('vaccine')}{said}", table[name])
    for name in list(table):
        for typed in (name.replace("'", ""), name.replace("-", ""), name.replace("-", " ")):
            table.setdefault(typed, table[name])


def _groups() -> list[dict[str, Any]]:
    """The groups of the table, with the medicines of the records in the groups of their classes, or in new ones."""
    groups: list[dict[str, Any]] = read_yaml(TABLE) + read_yaml(BESIDE)
    by_class = {_key(name): group for group in reversed(groups) for name in group["class"]}
    by_member = {_key(name): group for group in groups for name in group["members"]}
    for record in starter_records():
        group = by_member.get(_key(record.name)) or by_class.get(_key(record.classes[0]))
        if group is None:
            group = {"class": list(record.classes), "members": {}}
            groups.append(group)
            by_class |= {_key(name): group for name in record.classes if _key(name) not in by_class}
        held = group["members"].setdefault(record.name, [])
        held += [name for name in record.names if name not in held]
    return groups


def _classes() -> dict[str, list[str]]:
    """The names of the medicines of each class that records name."""
    classes: dict[str, list[str]] = defaultdict(list)
    for record in starter_records():
        for name in record.classes:
            classes[name] += [record.name, *record.names]
    return classes


def _of_class(name: str, groups: list[dict[str, Any]]) -> _Entry:
    """A class by one of its names; a name that several classes share (antibiotic) stands for itself."""
    members = [n for g in groups for generic, others in g["members"].items() for n in (generic, *others)]
    aliases = groups[0]["class"] if len(groups) == 1 else [name]
    return _Entry("", aliases[0], tuple(unique([*aliases, *members])), False, tuple(aliases))


def _singular(word: str) -> str:
    return word.lower().removesuffix("s")


def _key(name: str) -> str:
    return name.lower()
