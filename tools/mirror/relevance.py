"""Order by relevance: an approximation of PubMed's Best Match.

Best Match weighs how often and in which fields the words of a query stand, favours newer articles and then re-ranks
with a learnt model (PubMed User Guide, "Sort orders"). Here: BM25 (Robertson and Zaragoza 2009) over title and
abstract together, a word of the title counting several times; the learnt model and the weight of the date are left
out, the date only settles ties.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from tools.indexes.postings import ranged
from tools.mirror.bitmaps import BitMap, Documents, numbers, unpack
from tools.mirror.segments import ABSTRACT, ABSTRACT_COUNTS, TITLE, TITLE_COUNTS
from tools.mirror.snapshot import Snapshot
from tools.mirror.syntax import WORDS, Combination, Field, Near, Node, Operator, Term
from tools.mirror.words import STOPWORDS

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
