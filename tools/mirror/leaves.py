"""The documents of one term: from the postings, and from FTS5 where the order or distance of words matters."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from functools import reduce
from operator import and_

import numpy as np

from tools.indexes.postings import LAST, ranged
from tools.mirror.bitmaps import BitMap
from tools.mirror.descriptors import Descriptors
from tools.mirror.entries import COLUMNS, COLUMNS_OF, EVERYTHING, heading_key, prefix
from tools.mirror.postings import unpack
from tools.mirror.snapshot import Snapshot
from tools.mirror.syntax import WORDS, Dates, Field, Near, Node, QueryError, Term
from tools.mirror.words import key

LANGUAGE_CODES = {"japanese": "jpn", "en": "eng", "zh": "chi"}  # where the first three letters are not the code


class Leaves:
    """Finds the live documents of terms in one snapshot; remembers them for the length of a search."""

    def __init__(self, database: sqlite3.Connection, snapshot: Snapshot, descriptors: Descriptors | None) -> None:
        self._database, self._snapshot, self._descriptors = database, snapshot, descriptors
        self._known: dict[Term | Near | Dates, BitMap] = {}

    @property
    def explodes(self) -> bool:
        """Whether narrower headings are known."""
        return self._descriptors is not None

    def heading(self, words: Sequence[str]) -> str | None:
        """The MeSH heading that some words name: a descriptor's, or one that records of the mirror have."""
        name = " ".join(words)
        known = self._descriptors.heading(name) if self._descriptors else None
        if known:
            return known
        row = self._database.execute("SELECT name FROM headings WHERE key = ?", (name,)).fetchone()
        return row[0] if row and self._keys(Field.MESH, [name]) & self._snapshot.live else None

    def found(self, node: Node) -> bool:
        """Whether any live record has this term."""
        return not isinstance(node, Term | Near | Dates) or bool(self.documents(node))

    def documents(self, node: Term | Near | Dates) -> BitMap:
        """The live documents of a term."""
        if node not in self._known:
            self._known[node] = self._find(node) & self._snapshot.live
        return self._known[node]

    def _find(self, node: Term | Near | Dates) -> BitMap:
        if isinstance(node, Dates):
            return self._dates(node)
        if isinstance(node, Near):
            return self._near(node)
        if node.field in WORDS:
            return self._words(node)
        if node.truncated:
            return self._starting(f"{prefix(node.field)}{key(node.text)}")
        return self._exact(node)

    def _exact(self, term: Term) -> BitMap:
        if term.field is Field.PMID:
            return self._records(term.text.replace(",", " ").split())
        if term.field is Field.AUTHOR:
            return self._author(term)
        name = " ".join(term.words)
        if term.field is Field.SUBSET and name == EVERYTHING:
            return self._snapshot.live
        if term.field is Field.LANGUAGE:
            return self._keys(term.field, [LANGUAGE_CODES.get(name, name[:3])])
        if term.field is Field.IDENTIFIER:
            return self._keys(term.field, [term.text.lower().strip()])
        if term.field in (Field.MESH, Field.MAJOR, Field.TYPE):
            return self._heading(term)
        return self._keys(term.field, [name])

    def _heading(self, term: Term) -> BitMap:
        """A heading or publication type, with the narrower ones when they are known and asked for."""
        name, slash, subheading = heading_key(term.text).partition("/")
        names = [name]
        if term.explode and self._descriptors:
            names += [key(n) for n in self._descriptors.narrower(name)]
        return self._keys(term.field, [f"{n}{slash}{subheading}" for n in names])

    def _author(self, term: Term) -> BitMap:
        """A name exactly when it is quoted; else also with more initials or a suffix (User Guide, "Author [au]")."""
        name = " ".join(term.words)
        if term.quoted:
            return self._keys(term.field, [name])
        by = prefix(term.field)
        start = f"{by}{name}"
        found = ranged(self._database, "keys", start, start + LAST)
        return unpack(lists[0] for name, lists in found if _same_author(term.words, name.removeprefix(by)))

    def _keys(self, field: Field, names: Iterable[str]) -> BitMap:
        found = BitMap()
        for name in names:
            whole = f"{prefix(field)}{name}"
            found |= unpack(lists[0] for _, lists in ranged(self._database, "keys", whole, whole))
        return found

    def _starting(self, start: str) -> BitMap:
        return unpack(lists[0] for _, lists in ranged(self._database, "keys", start, start + LAST))

    def _records(self, pmids: Sequence[str]) -> BitMap:
        find = "SELECT document FROM records WHERE pmid = ?"
        known = (p for p in pmids if len(p) <= 18)  # longer numbers are no PMID, and no integer of SQLite
        return BitMap(row[0] for p in known for row in self._database.execute(find, (int(p),)))

    def _dates(self, dates: Dates) -> BitMap:
        published = dates.field is Field.PUBLISHED
        days = self._snapshot.published if published else self._snapshot.entered
        if len(days) and not days.any():  # an empty answer would say that nothing is new
            what = f"No record of this mirror has a date of {'publication' if published else 'entry'}"
            raise QueryError(what, "Import PubMed's own files, which have it, or leave the date out.", dates.at)
        found = np.flatnonzero((days >= dates.low) & (days <= dates.high)).astype(np.uint32)
        return unpack([b"\0" + found.tobytes()])

    def _words(self, term: Term) -> BitMap:
        """Words, phrases, and the last word truncated."""
        *before, last = term.words
        single = [self._word(w, w, term.field) for w in dict.fromkeys(before)]
        single.append(self._word(last, last + LAST if term.truncated else last, term.field))
        if not before:
            return single[0]
        phrase = f'"{" ".join(term.words)}"{" *" if term.truncated else ""}'
        return self._positions(term.field, phrase, single)

    def _near(self, near: Near) -> BitMap:
        # FTS5 counts all words between the first and the last one found, the other words asked for among them
        span = near.distance + len(near.words) - 2
        quoted = " ".join(f'"{w}"' for w in near.words)
        single = [self._word(w, w, near.field) for w in near.words]
        return self._positions(near.field, f"NEAR({quoted}, {span})", single)

    def _word(self, low: str, high: str, field: Field) -> BitMap:
        columns = len(COLUMNS_OF[field])  # the searched columns are always the first ones, or a single one
        start = COLUMNS.index(COLUMNS_OF[field][0])
        found = ranged(self._database, "words", low, high)
        return unpack(packed for _, lists in found for packed in lists[start : start + columns])

    def _positions(self, field: Field, match: str, single: Sequence[BitMap]) -> BitMap:
        """What FTS5 finds; it is not asked when no document has all the words."""
        candidates = reduce(and_, single) & self._snapshot.live
        if not candidates:
            return candidates
        columns = " ".join(COLUMNS_OF[field])
        rows = self._database.execute(
            "SELECT rowid FROM positions WHERE positions MATCH ?", (f"{{{columns}}} : {match}",)
        )
        return BitMap([row[0] for row in rows]) & candidates


def _same_author(asked: Sequence[str], name: str) -> bool:
    """Whether a stored name begins with the words asked for, the last of them perhaps cut within the initials."""
    stored = name.split()
    if len(stored) < len(asked) or stored[: len(asked) - 1] != list(asked[:-1]):
        return False
    last, found = asked[-1], stored[len(asked) - 1]
    return found == last or (len(asked) > 1 and len(found) <= 3 and found.startswith(last))
