"""Misspelt words put right for search and matching; the text as written stays.

A word is misspelt that no list knows (`tools.literature.vocabulary`, wordfreq, the graph's wordings), from which one
word of published medical prose, of a wording or of a medicine is a slip away: a letter too much, missing, wrong, or
two exchanged; two slips in a long word. All ours.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path

from tools.medicines.names import medicine_words
from tools.text.frequency import common_words, zipf

WORDINGS = Path(__file__).parent / "knowledge_graph" / "starter" / "wordings" / "wordings.jsonl"
LIBRARY = Path(__file__).parent / "library" / "starter"  # whose pages are named after diseases
WORD = re.compile(r"(?<![\w'’./-])[A-Za-z]?[a-z]{3,24}(?![\w'’])")
DOUBLED = re.compile(r"(.)\1")
SHORTEST, LONG = 4, 8  # letters; of a word that is looked at, and of one in which two slips are allowed
FREQUENT = 25  # documents of prose that hold a word to which another is mended
SHORT, COMMON = 5, 100  # letters of a short word, which is mended only to one that so many documents hold
OFTENER = 4.0  # how much oftener one of two equally near words must be
TOLD = 4  # wordings that hold a word that is known by them
ENGLISH = 1.8  # Zipf's scale (wordfreq): how common a word of English is that is no slip
ENDINGS = ("s", "es", "ed", "d", "ing")  # of a word whose base is known: "droops" is no slip for "drops"
SPOKEN = 20  # documents that a wording with the word counts as


def mended(text: str) -> str:
    """The text with its misspelt English words put right; words that begin with a capital only at its beginning."""
    instead = mends(text)
    return WORD.sub(lambda m: instead.get(m[0], m[0]), text) if instead else text


def mends(text: str) -> dict[str, str]:
    """The misspelt words of a text, as written, each with what it is read as."""
    words = dict.fromkeys(m[0] for m in WORD.finditer(text) if m[0].islower() or not text[: m.start()].strip())
    return {word: better for word in words if (better := _better(word)) != word}


@lru_cache(maxsize=65536)
def _better(word: str) -> str:
    from tools.literature.vocabulary import known_words

    low = word.lower()
    words = _words()
    ends = [e for e in ENDINGS if low.endswith(e) and len(low) > SHORTEST and _takes(low.removesuffix(e), e)]
    bases = (low, *(low.removesuffix(e) for e in ends))
    if any(b in words.known or known_words().any(b) or zipf(b) >= ENGLISH for b in bases):
        return word
    near = _nearest(low, words.by_start.get(low[0], ()), words.counts)
    return near if word.islower() else near.capitalize()


def _takes(base: str, ending: str) -> bool:
    """Whether a word may take an ending: "es" follows a hiss or an o, and no "ie" an "s", so that "rabbies" is of no
    "rabbi"."""
    return base.endswith(("s", "x", "z", "h", "o")) if ending == "es" else ending != "s" or not base.endswith("ie")


def _nearest(word: str, listed: tuple[str, ...], counts: dict[str, int]) -> str:
    from rapidfuzz.distance import OSA

    most = 2 if len(word) >= LONG else 1
    least = COMMON if len(word) <= SHORT else 0
    single, negated = DOUBLED.sub(r"\1", word), word.endswith("nt")  # "musnt" is no "must"
    near = [
        (
            apart - 0.5 * (DOUBLED.sub(r"\1", w) == single),
            -counts[w],
            w,
        )  # one letter of two alike is the commonest slip
        for w in listed
        if abs(len(w) - len(word)) <= most and counts[w] >= least and (w.endswith("nt") or not negated)
        if (apart := OSA.distance(word, w, score_cutoff=most)) <= most
    ]
    found = sorted(near)
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
        said, noted = Counter[str](), Counter[str]()
        for row in rows:
            said.update(w for t in row["lay"] for w in WORD.findall(t.lower()))
            noted.update(w for t in row["clinical"] for w in WORD.findall(t.lower()))
        said += noted
        often = [word for word, count in said.items() if count >= TOLD]
        # people misspell, in many wordings the same way
        spoken = {w for w in often if w in noted or zipf(w) >= ENGLISH}
        titles = {w for page in LIBRARY.glob("*.md") for w in page.stem.split("-") if len(w) > SHORT}
        self.known = frozenset(spoken) | medicine_words() | titles
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


# Error correction of a whole question, everyday words among them (CoMeta, Adapt-E, by a language model there).
EVERYDAY = 4.0  # ours: Zipf's scale, of a word that a misspelt everyday word is taken for
RARER = 2.0  # ours: how much less common, in powers of ten, the misspelt word is
SHORTEST_EVERYDAY = 5  # ours: letters; shorter ones are abbreviations as often as slips
VOWELS = frozenset("aeiouy")


def corrected(text: str, known: Callable[[str], bool] = lambda _: False) -> tuple[str, dict[str, str]]:
    """A text with every misspelt English word put right, and the words that were, as written and as meant.

    First `mended`, whose words are those of medicine. Then a word that no published prose and no list of medicines
    holds, and that is a slip away from an everyday word a hundred times as common: slips of doubling, of order and of
    one vowel for another before all others, then the commoner word. ``known``: words in small letters that stay.
    """
    meant: dict[str, str] = {}

    def better(match: re.Match[str]) -> str:
        word = match[0]
        if not (word.islower() or not text[: match.start()].strip()):
            return word
        found = _better(word)
        if found == word:
            found = _everyday(word)
        if found == word or known(word.lower()):
            return word
        meant[word] = found
        return found

    return WORD.sub(better, text), meant


@lru_cache(maxsize=65536)
def _everyday(word: str) -> str:
    from rapidfuzz.distance import OSA

    from tools.literature.vocabulary import known_words

    low = word.lower()
    own = zipf(low)
    if len(low) < SHORTEST_EVERYDAY or known_words().any(low) or low in medicine_words():
        return word
    near = [
        (not _likely(low, w), -common, w)
        for w, common in _common_words().get(low[0], ())
        if common >= own + RARER and abs(len(w) - len(low)) <= 1 and OSA.distance(low, w, score_cutoff=1) == 1
    ]
    if not near:
        return word
    best = min(near)[2]
    return best if word.islower() else best.capitalize()


def _likely(written: str, meant: str) -> bool:
    """Whether one slip is among the commonest: a doubled letter, two exchanged, a vowel for another."""
    if len(written) == len(meant):
        apart = [(a, b) for a, b in zip(written, meant, strict=True) if a != b]
        return len(apart) == 2 or all(a in VOWELS and b in VOWELS for a, b in apart)
    short, long = sorted((written, meant), key=len)
    at = next((i for i, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    return at > 0 and long[at] == long[at - 1]


@lru_cache(maxsize=1)
def _common_words() -> dict[str, tuple[tuple[str, float], ...]]:
    """Everyday words with how common they are, by their first letter."""
    by_start: dict[str, list[tuple[str, float]]] = {}
    for word, common in common_words(EVERYDAY):
        by_start.setdefault(word[0], []).append((word, common))
    return {letter: tuple(words) for letter, words in by_start.items()}


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
