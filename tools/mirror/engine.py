"""The mirror, open for searching: the same contract as PubMed itself, in process and without a server."""

from __future__ import annotations

import asyncio
import contextlib
import math
import sqlite3
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, date, datetime
from functools import lru_cache, reduce
from operator import and_
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from tools.indexes.postings import LAST, ranged
from tools.literature.article import Article
from tools.literature.replies import SearchResult
from tools.mirror.database import connect, guarded
from tools.mirror.entries import COLUMNS, COLUMNS_OF, EVERYTHING, heading_key, prefix
from tools.mirror.mesh import Descriptors, stored_descriptors
from tools.mirror.parser import parse
from tools.mirror.records import MirrorRecord
from tools.mirror.resolution import nothing_left, resolve
from tools.mirror.segments import ABSTRACT, ABSTRACT_COUNTS, TITLE, TITLE_COUNTS, BitMap, Documents, numbers, unpack
from tools.mirror.stored import Manifest, Snapshot, Stored, generation, read_manifest, read_snapshot
from tools.mirror.syntax import WORDS, Combination, Dates, Field, Near, Node, Operator, QueryError, Term, Untagged
from tools.mirror.words import STOPWORDS, key, words

# The documents of one term: from the postings, and from FTS5 where the order or distance of words matters.
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


# The documents of a resolved query.
def evaluate(node: Node, leaves: Leaves) -> BitMap:
    """The live documents that a query finds, its operators taken from left to right.

    Raises:
        ValueError: words that were not mapped; a query is resolved first.
    """
    if isinstance(node, Combination):
        found = evaluate(node.first, leaves)
        for operator, part in node.rest:
            if operator is Operator.OR and isinstance(part, Term) and part.held:
                continue
            if operator is not Operator.OR and not found:
                continue
            found = _combined(found, operator, evaluate(part, leaves))
        return found
    if isinstance(node, Untagged):
        raise ValueError("untagged words are mapped before they are searched")
    return leaves.documents(node)


def _combined(left: BitMap, operator: Operator, right: BitMap) -> BitMap:
    if operator is Operator.AND:
        return left & right
    return left | right if operator is Operator.OR else left - right


# espell: words that the collection does not have, replaced by its most frequent word that is nearly the same.
SHORTEST = 5  # ours: letters; below that one changed letter makes another word
FREQUENT = 2  # ours: records that must have a word for it to be a correction; a single one may be a slip itself
SIMILAR = 80  # ours: rapidfuzz's ratio, 0..100: one slip in five letters, two in ten


class Speller:
    """Corrects by the vocabulary of one commit of the mirror."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        self._near = lru_cache(maxsize=8)(self._vocabulary)  # ours: lists by first letter, a few MB each

    def corrected(self, text: str) -> dict[str, str]:
        """The words of a text that are corrected, with what for, in order."""
        found: dict[str, str] = {}
        for word in dict.fromkeys(words(text)):
            better = self._better(word)
            if better:
                found[word] = better
        return found

    def _better(self, word: str) -> str | None:
        """PubMed's own words keep the first letter, and so does a correction here."""
        if len(word) < SHORTEST or not word.isalpha() or word in STOPWORDS or self._known(word):
            return None
        from rapidfuzz import fuzz, process

        listed = self._near(word[0])
        nearest = process.extract(word, listed.keys(), scorer=fuzz.ratio, limit=10, score_cutoff=SIMILAR)
        best = max(nearest, key=lambda hit: (round(hit[1]), listed[hit[0]]), default=None)
        return str(best[0]) if best else None

    def _known(self, word: str) -> bool:
        return any(any(lists) for _, lists in ranged(self._database, "words", word, word))

    def _vocabulary(self, letter: str) -> dict[str, int]:
        """Words of titles and abstracts by first letter, with the number of records: a count is one byte a record."""
        found: Counter[str] = Counter()
        for word, lists in ranged(self._database, "words", letter, letter + LAST):
            if len(word) >= SHORTEST and word.isalpha():
                found[word] += max(len(lists[TITLE_COUNTS]), len(lists[ABSTRACT_COUNTS]))
        return {word: n for word, n in found.items() if n >= FREQUENT}


# A mapped query as PubMed writes it in QueryTranslation; parsed again it finds the same records.
def translation(node: Node) -> str:
    """The query with every tag and every parenthesis that its meaning needs."""
    if isinstance(node, Combination):
        return _chain(node)
    if isinstance(node, Term):
        return _term(node)
    if isinstance(node, Near):
        return f'"{" ".join(node.words)}"[{node.field.value}:~{node.distance}]'
    if isinstance(node, Dates):
        return f"{node.text}[{node.field.value}]"
    return node.text


def _chain(node: Combination) -> str:
    """Members of the first operator stand side by side; what follows another operator is grouped from the left."""
    text, last = _member(node.first), None
    for operator, part in node.rest:
        if last is not None and operator is not last:
            text = f"({text})"
        text, last = f"{text} {operator.value} {_member(part)}", operator
    return text


def _member(node: Node) -> str:
    return f"({translation(node)})" if isinstance(node, Combination) else translation(node)


def _term(term: Term) -> str:
    if term.field is Field.PMID:
        return f"{term.text}[{term.field.value}]"
    name = term.field.value if term.explode else f"{term.field.value}:noexp"
    star = "*" if term.truncated else ""
    bare = term.field is Field.AUTHOR and not term.quoted
    text = " ".join(term.text.lower().split())
    return f"{text}{star}[{name}]" if bare else f'"{text}{star}"[{name}]'


Sort = Literal["relevance", "date"]


class Mirror:
    """Searches a mirror on disk; satisfies `tools.literature.client.PubMed`. Safe in several threads.

    Each search sees one commit; what a writer adds afterwards is seen by the next search.
    """

    def __init__(self, folder: Path, descriptors: Descriptors | None, today: Callable[[], date]) -> None:
        self._folder, self._descriptors, self._today = folder, descriptors, today
        self._lock = threading.Lock()
        self._open: list[sqlite3.Connection] = []
        self._idle: list[sqlite3.Connection] = []
        self._snapshot: Snapshot | None = None

    @classmethod
    def open(
        cls, folder: Path, descriptors: Descriptors | None = None, today: Callable[[], date] | None = None
    ) -> Mirror:
        """Open the mirror in ``folder``.

        Args:
            descriptors: MeSH entry terms and tree; by default those that were imported into the mirror, if any.
            today: what ``"last 5 years"[dp]`` counts back from; the present day by default.

        Raises:
            DataError: there is no mirror, it is damaged, or of another format.
        """
        mirror = cls(folder, descriptors, today or (lambda: datetime.now(UTC).date()))
        try:
            with mirror._reading():
                return mirror
        except BaseException:
            mirror.close()
            raise

    async def search(self, query: str, limit: int, *, offset: int = 0, sort: Sort = "relevance") -> SearchResult:
        """The PMIDs from ``offset`` on, at most ``limit``, by relevance or newest first. As `find`, in a thread."""
        return await asyncio.to_thread(self.find, query, limit, offset=offset, sort=sort)

    async def fetch(self, pmids: Sequence[str]) -> list[Article]:
        """The articles of some PMIDs, in their order; those not held are left out. In a thread."""
        return await asyncio.to_thread(lambda: [stored.article() for stored in self.stored(pmids).values()])

    def find(self, query: str, limit: int, *, offset: int = 0, sort: Sort = "relevance") -> SearchResult:
        """Search, blocking.

        Returns:
            the count of all that is found, some ids, PubMed's kind of translation, and warnings named as in eSearch.

        Raises:
            QueryError: the query is malformed or asks for what is not held.
            DataError: the mirror is damaged.
        """
        parsed = parse(query, self._today())
        warnings = list(parsed.warnings)
        with self._reading() as (database, snapshot):
            leaves = Leaves(database, snapshot, self._descriptors or stored_descriptors(database))
            tree = resolve(parsed.tree, leaves, warnings)
            if tree is None:
                raise nothing_left(0)
            documents = evaluate(tree, leaves)
            found = numbers(documents)
            wanted = max(limit, 0) + max(offset, 0)
            if sort == "date":
                ranked = best(snapshot, found, snapshot.published[found], wanted)
            else:
                ranked = best(snapshot, found, scores(database, snapshot, query_words(tree), found), wanted)
            ids = tuple(str(p) for p in snapshot.pmids[ranked[max(offset, 0) :]].tolist())
        if not documents:
            warnings.append("OutputMessage: No items found.")
        return SearchResult(
            count=len(documents), ids=ids, translation=translation(tree), warnings=tuple(dict.fromkeys(warnings))
        )

    def records(self, pmids: Sequence[str]) -> list[MirrorRecord]:
        """The searched fields of some PMIDs, in their order, each once; blocking. Raises DataError."""
        return [stored.record() for stored in self.stored(pmids).values()]

    def stored(self, pmids: Sequence[str]) -> dict[str, Stored]:
        """The stored records of some PMIDs by PMID, in their order; those not held are left out. Raises DataError."""
        find = "SELECT record FROM records WHERE pmid = ?"
        known = dict.fromkeys(str(int(p)) for p in pmids if p.isascii() and p.isdecimal() and len(p) <= 18)
        with self._reading() as (database, _):
            rows = [(p, row[0]) for p in known for row in database.execute(find, (int(p),))]
        return {pmid: Stored(row) for pmid, row in rows}

    def corrections(self, text: str) -> dict[str, str]:
        """Words of a text that the collection does not have, with the one that is meant. Raises DataError."""
        with self._reading() as (database, _):
            return Speller(database).corrected(text)

    def every(self) -> Iterator[Stored]:
        """Every stored record by PMID, as of one commit; on a connection of its own. Raises DataError."""
        with guarded(self._folder), contextlib.closing(connect(self._folder)) as database:
            for row in database.execute("SELECT record FROM records ORDER BY pmid"):
                yield Stored(row[0])

    def manifest(self) -> Manifest:
        """What the mirror holds."""
        with self._reading() as (database, snapshot):
            return read_manifest(database, snapshot)

    def close(self) -> None:
        """Close every connection; the mirror cannot be used afterwards."""
        with self._lock:
            for database in self._open:
                database.close()
            self._open.clear()
            self._idle.clear()

    @contextlib.contextmanager
    def _reading(self) -> Iterator[tuple[sqlite3.Connection, Snapshot]]:
        """A connection inside a read transaction, and the snapshot that belongs to it.

        Connections are lent, not bound to threads: a server has a new thread for every client.
        """
        with self._lock:
            database = self._idle.pop() if self._idle else None
        if database is None:
            database = connect(self._folder)
            with self._lock:
                self._open.append(database)
        with guarded(self._folder):
            database.execute("BEGIN")
            try:
                yield database, self._current(database)
            finally:
                database.execute("COMMIT")
                with self._lock:
                    self._idle.append(database)

    def _current(self, database: sqlite3.Connection) -> Snapshot:
        number = generation(database)
        with self._lock:
            if self._snapshot is None or self._snapshot.generation != number:
                self._snapshot = read_snapshot(database)
            return self._snapshot


# Order by relevance: an approximation of PubMed's Best Match.
# Best Match weighs how often and in which fields the words of a query stand, favours newer articles and then re-
# ranks with a learnt model (PubMed User Guide, "Sort orders"). Here: BM25 (Robertson and Zaragoza 2009) over title
# and abstract together, a word of the title counting several times; the learnt model and the weight of the date are
# left out, the date only settles ties.

K1, B = 1.2, 0.75  # BM25's usual saturation and length normalisation; paper
TITLE_WEIGHT = 3.0  # ours: how often a word of the title counts against one of the abstract
SEARCHED = WORDS | {Field.MESH, Field.MAJOR}
FEWER = 8  # ours: candidates are looked up in a list that is this many times longer; else the list in them
Scores = npt.NDArray[np.float32]


def query_words(node: Node) -> list[str]:
    """The words that a query asks for, each once, without what NOT excludes and without stop words."""
    found = list(dict.fromkeys(_words(node)))
    return [w for w in found if w not in STOPWORDS] or found


def scores(database: sqlite3.Connection, snapshot: Snapshot, words: Sequence[str], documents: Documents) -> Scores:
    """BM25 of some documents for some words, shape (n,), float32."""
    total = np.zeros(len(documents), dtype=np.float32)
    norm = K1 * (1 - B + B * snapshot.lengths[documents].astype(np.float32) / snapshot.mean_length)
    for word in words:
        rows = [lists for _, lists in ranged(database, "words", word, word)]
        titles, abstracts = unpack(r[TITLE] for r in rows), unpack(r[ABSTRACT] for r in rows)
        holding = (titles | abstracts).intersection_cardinality(snapshot.live)
        if not holding:
            continue
        counts = np.zeros(len(documents), dtype=np.float32)
        _count(counts, documents, titles, b"".join(r[TITLE_COUNTS] for r in rows), TITLE_WEIGHT)
        _count(counts, documents, abstracts, b"".join(r[ABSTRACT_COUNTS] for r in rows), 1.0)
        rarity = math.log1p((len(snapshot.live) - holding + 0.5) / (holding + 0.5))
        total += np.float32(rarity * (K1 + 1)) * counts / (counts + norm)
    return total


def best(snapshot: Snapshot, documents: Documents, keys: npt.NDArray[np.float32 | np.int32], wanted: int) -> Documents:
    """The ``wanted`` documents with the highest keys; ties go to the newer date, then to the higher PMID."""
    if wanted < len(documents):
        least = np.partition(keys, len(keys) - wanted)[len(keys) - wanted] if wanted else np.inf
        chosen = keys >= least
        documents, keys = documents[chosen], keys[chosen]
    order = np.lexsort((-snapshot.pmids[documents], -snapshot.published[documents], -keys))
    return documents[order[:wanted]]


def _count(counts: Scores, documents: Documents, holding: BitMap, packed: bytes, weight: float) -> None:
    """Add the weighted counts of a posting list to the documents that it shares."""
    listed = numbers(holding)
    frequency = np.frombuffer(packed, dtype=np.uint8)
    few, many = (documents, listed) if len(documents) * FEWER < len(listed) else (listed, documents)
    if not len(few) or not len(many):
        return
    at = np.searchsorted(many, few)
    at[at == len(many)] = 0
    shared = many[at] == few
    mine, theirs = (np.flatnonzero(shared), at[shared]) if few is documents else (at[shared], np.flatnonzero(shared))
    counts[mine] += weight * frequency[theirs]


def _words(node: Node) -> Iterator[str]:
    if isinstance(node, Combination):
        yield from _words(node.first)
        for operator, part in node.rest:
            if operator is not Operator.NOT:
                yield from _words(part)
    elif isinstance(node, Near) or (isinstance(node, Term) and node.field in SEARCHED and not node.truncated):
        yield from node.words
