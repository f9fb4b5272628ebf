"""MeSH descriptors: NLM's descriptor file imported into the mirror, for term mapping and for narrower headings."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from prompts.errors import DataError
from tools.mirror.words import key
from tools.mirror.xml_stream import elements


# MeSH descriptors: entry terms and the tree. None are shipped; an import may provide them.
class Descriptors(Protocol):
    """A table of MeSH descriptors. Names are compared as `tools.mirror.words.key` makes them."""

    def heading(self, name: str) -> str | None:
        """The heading that a heading or entry term names, as MeSH writes it; None when it is neither."""

    def narrower(self, name: str) -> Sequence[str]:
        """All headings below a heading, as MeSH writes them; none when it is not known."""


RECORD = "DescriptorRecord"
ROOT = "DescriptorRecordSet"


class Descriptor(NamedTuple):
    """A heading: its name, all its entry terms, and where it stands in the tree (``C08.127``)."""

    name: str
    entries: tuple[str, ...]
    numbers: tuple[str, ...]


def read_descriptors(path: Path) -> Iterator[Descriptor]:
    """The descriptors of a file such as desc2026.xml. Raises DataError as `xml_stream.elements` does."""
    for element in elements(path, (RECORD,)):
        name = _text(element.find("DescriptorName/String"))
        if name:
            entries = (_text(e) for e in element.iterfind("ConceptList/Concept/TermList/Term/String"))
            numbers = (_text(e) for e in element.iterfind("TreeNumberList/TreeNumber"))
            yield Descriptor(name, tuple(filter(None, entries)), tuple(filter(None, numbers)))


def store_descriptors(database: sqlite3.Connection, descriptors: Iterator[Descriptor]) -> int:
    """Replace the table by these, within the caller's transaction; returns how many there were.

    An entry term that two headings share is left to the heading of that name, else to the first.
    """
    database.execute("DELETE FROM descriptors")
    database.execute("DELETE FROM tree")
    count = 0
    for each in descriptors:
        count += 1
        own = key(each.name)
        database.execute("INSERT OR REPLACE INTO descriptors VALUES (?, ?)", (own, each.name))
        terms = [(key(term), each.name) for term in each.entries if key(term) not in ("", own)]
        database.executemany("INSERT OR IGNORE INTO descriptors VALUES (?, ?)", terms)
        rows = [(number, own, each.name) for number in each.numbers]
        database.executemany("INSERT OR REPLACE INTO tree VALUES (?, ?, ?)", rows)
    if not count:
        raise DataError("The file holds no descriptor.", "Give NLM's descriptor file, for example desc2026.xml.")
    return count


def stored_descriptors(database: sqlite3.Connection) -> Descriptors | None:
    """The imported table; None when none was imported."""
    found = database.execute("SELECT 1 FROM descriptors LIMIT 1").fetchone()
    return _Stored(database) if found else None


class _Stored:
    """Descriptors in the mirror's file."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def heading(self, name: str) -> str | None:
        """The heading that a heading or entry term names."""
        row = self._database.execute("SELECT name FROM descriptors WHERE key = ?", (name,)).fetchone()
        return row[0] if row else None

    def narrower(self, name: str) -> Sequence[str]:
        """All headings below a heading."""
        rows = self._database.execute(
            # ":" follows "." and all digits, so the range holds every number below
            "SELECT DISTINCT below.name FROM tree own JOIN tree below "
            "ON below.number > own.number || '.' AND below.number < own.number || '.:' WHERE own.key = ?",
            (name,),
        )
        return [row[0] for row in rows]


def _text(element: Any) -> str:
    return " ".join((element.text or "").split()) if element is not None else ""
