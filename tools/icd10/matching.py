"""The two settings that say which name a phrase is: the published one, and a stricter one of ours.

`PublishedMatch`: ICA-RAG states a fuzzy match at 0.5 and no scorer. The evaluation that was released with the
records of its main figures (CMEMR) takes the default of the library fuzzywuzzy, WRatio, at 50 of 100; so this does too
(rapidfuzz computes the same score). Its partial ratios give any phrase that shares a few letters with a long name far
more than 0.5, which is why almost everything is linked.

`StrictMatch` (ours): words by their rarity. The score is twice the weight of the shared words over the weight of both
names' words (Dice, with inverse document frequency); names at the other end of a scale (acute, chronic) never match.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from copy import copy
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tools.icd10.contract import Match, Name
from tools.icd10.names import NamedCodes
from tools.icd10.words import Words, opposed, plain, unsaid, words
from tools.text.language import HAN

PAPER_THRESHOLD = 0.5  # paper
PAPER_BEST = 10  # code: best names of a phrase that the evaluation released with CMEMR keeps
STRICT_THRESHOLD = 0.85  # ours: chosen on written examples, see docs/icd10.md
STRICT_THRESHOLD_ZH = 0.8  # ours: as above
MENDED = 0.95  # ours: a name that was met only after a misspelt word was put right scores a little less
CANDIDATES = 40  # ours: best names by words that are compared further
SHORT = 5  # ours: letters; one slip makes another word of a short one (lived, liver)
KINDS = {"title": 0, "term": 0, "alias": 1}  # ours: of names written alike the table's own come first
ROUNDING = 1.0  # ours: below a cutoff that a score just reaches, rapidfuzz may drop that score itself
EQUAL = 1e-6  # scores that differ by less are equal

Scores = NDArray[np.float32]


class Matcher(Protocol):
    """Which name a phrase is."""

    def best(self, forms: Sequence[str]) -> Match | None:
        """The best match of any of a phrase's forms (as written first); None when nothing reaches the threshold."""

    def at(self, threshold: float) -> Matcher:
        """The same with another threshold, in 0..1."""


class PublishedMatch:
    """rapidfuzz's WRatio against every name, at least `PAPER_THRESHOLD`.

    Args:
        names: in any order.
    """

    def __init__(self, names: Sequence[Name]) -> None:
        self._names = sorted(names, key=lambda n: (n.code, n.text))
        self._texts = [_processed(n.text) for n in self._names]
        self._cutoff = 100 * PAPER_THRESHOLD

    def best(self, forms: Sequence[str]) -> Match | None:
        """The best match of the phrase as written: other forms are no part of the published setting.

        Of equal scores, which WRatio gives by the hundred, that of the name written most alike, then the first code.
        """
        from rapidfuzz import fuzz, process

        said = _processed(forms[0]) if forms else ""
        first = process.extractOne(said, self._texts, scorer=fuzz.WRatio, score_cutoff=self._cutoff) if said else None
        if first is None:
            return None
        near = process.extract(said, self._texts, scorer=fuzz.WRatio, limit=None, score_cutoff=first[1] - ROUNDING)
        equal = [first, *(found for found in near if abs(found[1] - first[1]) < EQUAL)]
        best = min(equal, key=lambda found: (-fuzz.ratio(said, found[0]), found[2]))[2]
        return Match(self._names[best], first[1] / 100)

    def at(self, threshold: float) -> PublishedMatch:
        """The same with another threshold."""
        other = copy(self)
        other._cutoff = 100 * threshold
        return other

    def candidates(self, phrase: str, count: int = PAPER_BEST) -> list[Match]:
        """The best names at the threshold or above, best first."""
        from rapidfuzz import fuzz, process

        said = _processed(phrase)
        if not said:
            return []
        found = process.extract(said, self._texts, scorer=fuzz.WRatio, limit=count, score_cutoff=self._cutoff)
        return [Match(self._names[i], score / 100) for _, score, i in found]


class StrictMatch:
    """Names by their words; a phrase meets only names that it shares words with.

    Args:
        named: names of one language, with their words.
        threshold: least score.
    """

    def __init__(self, named: NamedCodes, threshold: float = STRICT_THRESHOLD) -> None:
        self._named, self._threshold = named, threshold
        frequency = Counter(w for read in named.read for w in read)
        self._rarity = {w: math.log(1 + len(named.read) / n) for w, n in frequency.items()}
        self._unknown = math.log(1 + max(1, len(named.read)))
        rows: dict[str, list[int]] = defaultdict(list)
        weights: dict[str, list[float]] = defaultdict(list)
        for i, read in enumerate(named.read):
            for word, weight in read.items():
                rows[word].append(i)
                weights[word].append(weight)
        self._rows = {w: np.array(r, dtype=np.int64) for w, r in rows.items()}
        self._weights = {w: np.array(v, dtype=np.float32) * self._rarity[w] for w, v in weights.items()}
        self._whole = np.array([self._weigh(read) for read in named.read], dtype=np.float32)

    def best(self, forms: Sequence[str]) -> Match | None:
        """The best match of any form; misspelt words of the first are put right where nothing matches."""
        found = [m for m in (self._match(form) for form in forms) if m is not None]
        if not found and forms and not HAN.search(forms[0]):
            mended = self._spelling.mended(forms[0])
            match = self._match(mended) if _one_slip_a_word(forms[0], mended) else None
            found = [Match(match.name, match.score * MENDED)] if match is not None else []
        return max(found, key=lambda m: m.score, default=None)

    def at(self, threshold: float) -> StrictMatch:
        """The same with another threshold."""
        other = copy(self)
        other._threshold = threshold
        return other

    def names(self, phrase: str) -> bool:
        """Whether the words of a phrase are exactly those of a name."""
        match = self._match(phrase)
        return match is not None and match.score > 1 - EQUAL

    def _match(self, phrase: str) -> Match | None:
        said = words(phrase)
        total = self._weigh(said)
        if not total or not self._named.rows:
            return None
        shared = np.zeros(len(self._named.rows), dtype=np.float32)
        for word, weight in said.items():
            if word in self._rows:
                shared[self._rows[word]] += self._weights[word] + np.float32(weight * self._rarity[word])
        scores = shared / (self._whole + np.float32(total))
        chinese = HAN.search(phrase) is not None
        near = _top(scores, self._threshold)
        ranked = [
            i for i in near if not (opposed(said, self._named.read[i], chinese=chinese) or self._other(i, phrase))
        ]
        if not ranked:
            return None
        best = min(ranked, key=lambda i: self._order(i, float(scores[i]), phrase))
        return Match(self._named.rows[best], min(1.0, float(scores[best])))

    def _other(self, i: int, phrase: str) -> bool:
        return unsaid(phrase, self._named.rows[i].text)

    def _order(self, i: int, score: float, phrase: str) -> tuple[Any, ...]:
        """Ties: the name that is written most alike in one spelling, the table's own before others, the first code."""
        from rapidfuzz import fuzz

        name = self._named.rows[i]
        alike = fuzz.ratio(plain(phrase), plain(name.text))
        return (-round(score / EQUAL), -alike, KINDS[name.kind], name.code, name.text)

    def _weigh(self, read: Words) -> float:
        return sum(weight * self._rarity.get(word, self._unknown) for word, weight in read.items())

    @cached_property
    def _spelling(self) -> Any:
        from tools.spelling import NameSpelling

        return NameSpelling(name.text for name in self._named.rows)


def _top(scores: Scores, least: float) -> list[int]:
    reached = np.flatnonzero(scores >= least)
    if len(reached) <= CANDIDATES:
        return [int(i) for i in reached]
    order = np.argsort(-scores[reached], kind="stable")[:CANDIDATES]
    return [int(i) for i in reached[order]]


def _one_slip_a_word(phrase: str, mended: str) -> bool:
    """Whether words changed, each by one slip: two make another word of thrombolysis or of a brand."""
    from rapidfuzz.distance import OSA

    pairs = [(a, b) for a, b in zip(phrase.lower().split(), mended.lower().split(), strict=False) if a != b]
    return bool(pairs) and all(len(a) > SHORT and OSA.distance(a, b) == 1 for a, b in pairs)


def _processed(text: str) -> str:
    """Lower case, letters and digits alone: what the published evaluation's library does before it compares."""
    from rapidfuzz.utils import default_process

    return default_process(text)
