"""Lexical evidence: how much of a wording's rare words a text holds, in English and in Chinese."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tools.text.abbreviations import expand
from tools.text.tokens import stem, tokens
from tools.yaml_files import read_yaml

Scores = NDArray[np.float32]

_WORDS = read_yaml(Path(__file__).with_name("lexicon.yaml"))
SAME_WORDS: list[str] = _WORDS["same_words"]
SAME_ZH: dict[str, str] = _WORDS["same_zh"]  # in this order
SLACK = 2  # words that may stand between those of a wording; ours
_QUALITIES = [[frozenset(words.split()) for words in row] for row in _WORDS["qualities"]]
_POLES = [(frozenset(a.split()), frozenset(b.split())) for a, b in _WORDS["poles"]]
_HAN_RUN = re.compile(r"[\u4e00-\u9fff]+")
FOLDED = frozenset(stem(row.split()[0]) for row in SAME_WORDS)
COMPLAINTS = tuple(map(stem, _WORDS["complaints"].split()))
_SAME = {stem(word): stem(row.split()[0]) for row in SAME_WORDS for word in row.split()}
_ONE_WORD = re.compile(rf"\b(?:{'|'.join(_WORDS['one_word'])})s?\b", re.IGNORECASE)


def words(text: str) -> list[str]:
    """The tokens of a text for matching: abbreviations out, stems, one spelling, one word for the same thing."""
    latin = _ONE_WORD.sub(lambda m: m[0].replace(" ", ""), _HAN_RUN.sub(" ", expand(text)))
    return [_SAME.get(t, t.replace("ae", "e").replace("oe", "e")) for t in tokens(latin)]


def folded(text: str) -> str:
    """The Chinese runs of a text, synonyms folded, with a space between runs."""
    for said, meant in SAME_ZH.items():
        text = text.replace(said, meant)
    return " ".join(_HAN_RUN.findall(text))


def characters(text: str) -> list[str]:
    """The Chinese bigrams of a text after folding synonyms; a run of one character counts as it is."""
    out: list[str] = []
    for run in folded(text).split():
        out += [run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)]
    return out


def complaints(tokens_: Iterable[str]) -> tuple[bool, ...]:
    """For each of `COMPLAINTS` whether the words name it."""
    held = set(tokens_)
    return tuple(c in held for c in COMPLAINTS)


def poles(tokens_: Iterable[str]) -> tuple[int, ...]:
    """For each scale of `POLES`: 1 when the words name its one end, -1 its other, 0 neither or both."""
    held = set(tokens_)
    return tuple(bool(held & one) - bool(held & other) for one, other in _POLES)


def qualities(tokens_: Iterable[str]) -> tuple[tuple[bool, ...], ...]:
    """For each row of `QUALITIES` which of its qualities the words name."""
    held = set(tokens_)
    return tuple(tuple(bool(held & quality) for quality in row) for row in _QUALITIES)


class Lexicon:
    """Scores texts against phrases by shared words weighted by inverse document frequency.

    Args:
        phrases: the token lists of the phrases.
    """

    def __init__(self, phrases: Sequence[Sequence[str]]) -> None:
        sets = [set(p) for p in phrases]
        frequency = Counter(t for s in sets for t in s)
        total = len(sets)
        self._idf = {t: math.log(1 + total / n) for t, n in frequency.items()}
        self._unknown = math.log(1 + total)
        postings: dict[str, list[int]] = defaultdict(list)
        for i, s in enumerate(sets):
            for t in s:
                postings[t].append(i)
        self._postings = {t: np.array(rows) for t, rows in postings.items()}
        self._phrases = [tuple(p) for p in phrases]
        self._weight = np.array([sum(self._idf[t] for t in s) or 1.0 for s in sets], dtype=np.float32)

    def coverage(self, text: Iterable[str]) -> tuple[Scores, Scores]:
        """For each phrase: the weighted share of its words in the text, and of the text's words in it."""
        held, said, _ = self.coverages(text)
        return held, said

    def coverages(self, text: Iterable[str]) -> tuple[Scores, Scores, Scores]:
        """What `coverage` gives, and the share in each phrase of those of the text's words that some phrase holds."""
        shared = np.zeros(len(self._weight), dtype=np.float32)
        total = known = 0.0
        for t in sorted(set(text)):
            total += self._idf.get(t, self._unknown)
            rows = self._postings.get(t)
            if rows is not None:
                known += self._idf[t]
                shared[rows] += self._idf[t]
        return shared / self._weight, shared / max(total, 1e-6), shared / max(known, 1e-6)

    def contained(self, text: Sequence[str], candidates: Iterable[int]) -> list[int]:
        """Those candidate phrases whose words stand near each other in the text (at most `SLACK` words between)."""
        return [i for i in candidates if _near(text, self._phrases[i])]


def _near(text: Sequence[str], phrase: Sequence[str]) -> bool:
    wanted = set(phrase)
    width = len(phrase) + SLACK
    return any(wanted <= set(text[at : at + width]) for at in range(max(1, len(text) - len(wanted) + 1)))
