"""espell: words that the collection does not have, replaced by its most frequent word that is nearly the same."""

from __future__ import annotations

import sqlite3
from collections import Counter
from functools import lru_cache

from tools.mirror.blocks import LAST, ranged
from tools.mirror.segments import ABSTRACT_COUNTS, TITLE_COUNTS
from tools.mirror.words import STOPWORDS, words

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
