"""Misspelt words of diagnoses, put right by the words of known names."""

from __future__ import annotations

import re
from collections.abc import Iterable

SHORTEST = 5  # ours: letters; a shorter word is too often an abbreviation or another word
LONG = 8  # ours: letters from which two slips are allowed; one below
_WORD = re.compile(r"[A-Za-z]+")


class Spelling:
    """The words of known names.

    Args:
        names: names of diseases, as written.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._known = {w.lower() for name in names for w in _WORD.findall(name)}
        self._by_letter: dict[str, list[str]] = {}
        for word in sorted(self._known):
            if len(word) >= SHORTEST:
                self._by_letter.setdefault(word[0], []).append(word)

    def mended(self, text: str) -> str:
        """The text with each unknown word replaced by the known word nearest to it.

        A slip is a letter too much, missing, wrong, or two exchanged. The first letter must be right, and no other
        known word may be as near: a word that could be two stays.
        """
        return _WORD.sub(lambda m: self._nearest(m[0]), text)

    def _nearest(self, word: str) -> str:
        from rapidfuzz.distance import OSA

        said = word.lower()
        if len(said) < SHORTEST or said in self._known:
            return word
        most = 2 if len(said) >= LONG else 1
        near = [(OSA.distance(said, w, score_cutoff=most), w) for w in self._by_letter.get(said[0], ())]
        found = sorted(pair for pair in near if pair[0] <= most)
        alone = len(found) == 1 or (len(found) > 1 and found[0][0] < found[1][0])
        return found[0][1] if alone else word
