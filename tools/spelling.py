"""Misspelt words put right for search and matching; the text as written stays.

A word is misspelt that no list knows (`tools.literature.vocabulary`, wordfreq, the graph's wordings), from which one
word of published medical prose, of a wording or of a medicine is a slip away: a letter too much, missing, wrong, or
two exchanged; two slips in a long word. All ours.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from tools.medicines.names import medicine_words
from tools.text.frequency import zipf

WORDINGS = Path(__file__).parent / "knowledge_graph" / "starter" / "wordings" / "wordings.jsonl"
WORD = re.compile(r"(?<![\w'’./-])[A-Za-z]?[a-z]{3,24}(?![\w'’])")
SHORTEST, LONG = 4, 8  # letters; of a word that is looked at, and of one in which two slips are allowed
FREQUENT = 25  # documents of prose that hold a word to which another is mended
SHORT, COMMON = 5, 100  # letters of a short word, which is mended only to one that so many documents hold
OFTENER = 4.0  # how much oftener one of two equally near words must be
TOLD = 3  # wordings that hold a word that is known by them
ENGLISH = 1.8  # Zipf's scale (wordfreq): how common a word of English is that is no slip
ENDINGS = ("s", "es", "ed", "d", "ing")  # of a word whose base is known: "droops" is no slip for "drops"
SPOKEN = 20  # documents that a wording with the word counts as


def mended(text: str) -> str:
    """The text with its misspelt English words put right; words that begin with a capital only at its beginning."""
    return WORD.sub(lambda m: _better(m[0]) if m[0].islower() or not text[: m.start()].strip() else m[0], text)


@lru_cache(maxsize=65536)
def _better(word: str) -> str:
    from tools.literature.vocabulary import known_words

    low = word.lower()
    words = _words()
    bases = (low, *(low.removesuffix(ending) for ending in ENDINGS if low.endswith(ending) and len(low) > SHORTEST))
    if any(b in words.known or known_words().any(b) or zipf(b) >= ENGLISH for b in bases):
        return word
    near = _nearest(low, words.by_start.get(low[0], ()), words.counts)
    return near if word.islower() else near.capitalize()


def _nearest(word: str, listed: tuple[str, ...], counts: dict[str, int]) -> str:
    from rapidfuzz.distance import OSA

    most = 2 if len(word) >= LONG else 1
    least = COMMON if len(word) <= SHORT else 0
    near = [
        (OSA.distance(word, w, score_cutoff=most), -counts[w], w)
        for w in listed
        if abs(len(w) - len(word)) <= most and counts[w] >= least
    ]
    found = sorted(one for one in near if one[0] <= most)
    if not found:
        return word
    first, second = found[0], found[1] if len(found) > 1 else None
    alone = second is None or second[0] > first[0] or -first[1] >= OFTENER * -second[1]
    return first[2] if alone else word


class _Words:
    """Words that are known beside the published lists, and those to which others are mended, by their first letter."""

    def __init__(self) -> None:
        from tools.literature.vocabulary import known_words

        rows = map(json.loads, WORDINGS.read_text(encoding="utf-8").splitlines())
        said = Counter(
            w for row in rows for kind in ("lay", "clinical") for t in row[kind] for w in WORD.findall(t.lower())
        )
        spoken = {word for word, count in said.items() if count >= TOLD}  # fewer: people misspell in wordings too
        self.known = frozenset(spoken) | medicine_words()
        self.counts = known_words().frequent(FREQUENT)
        for word in self.known:
            self.counts[word] = self.counts.get(word, FREQUENT) + SPOKEN * said[word]
        by_start: dict[str, list[str]] = {}
        for word in sorted(self.counts):
            if len(word) >= SHORTEST:
                by_start.setdefault(word[0], []).append(word)
        self.by_start = {letter: tuple(words) for letter, words in by_start.items()}


@lru_cache(maxsize=1)
def _words() -> _Words:
    return _Words()


# Misspelt words of diagnoses, put right by the words of known names.
SHORTEST_IN_NAMES = 5  # ours: letters; a shorter word is too often an abbreviation or another word
LONG_IN_NAMES = 8  # ours: letters from which two slips are allowed; one below
_WORD = re.compile(r"[A-Za-z]+")


class NameSpelling:
    """The words of known names.

    Args:
        names: names of diseases, as written.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._known = {w.lower() for name in names for w in _WORD.findall(name)}
        self._by_letter: dict[str, list[str]] = {}
        for word in sorted(self._known):
            if len(word) >= SHORTEST_IN_NAMES:
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
        if len(said) < SHORTEST_IN_NAMES or said in self._known:
            return word
        most = 2 if len(said) >= LONG_IN_NAMES else 1
        near = [(OSA.distance(said, w, score_cutoff=most), w) for w in self._by_letter.get(said[0], ())]
        found = sorted(pair for pair in near if pair[0] <= most)
        alone = len(found) == 1 or (len(found) > 1 and found[0][0] < found[1][0])
        return found[0][1] if alone else word
