"""What is known of a word: how many documents hold it, and how common it is in everyday English.

A word of medicine stands more often in medical text than in everyday English. The ratio of the two frequencies tells
terms from talk, and it tells names, which are common in everyday English and rare in abstracts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

from tools.literature.known_words import known_words

UNKNOWN_WEIGHT = 0.8  # ours: a word that no collection knows, as a share of the rarest that is known
WORDS_A_DOCUMENT = 150  # ours: different words of an abstract, to compare frequencies of documents with those of words
EVERYDAY = 3.5  # ours: Zipf frequency of everyday words; most given names and many surnames lie above it
NAME_WORD = re.compile(r"[a-z][a-z-]{2,}")
CODE = re.compile(r"\d|[a-z][A-Z]|[A-Z]{2}")  # how the names of genes and compounds are written
CODE_IS = 0.8  # ours: such a name is technical, whatever word has the same letters
RAREST = 1.0  # code: the least Zipf frequency in wordfreq's large list; a word that is not listed is no more common


class Collection(Protocol):
    """The words of the collection that is searched, for example of a local mirror."""

    @property
    def documents(self) -> int:
        """How many documents it has."""

    def frequency(self, word: str) -> int:
        """How many of them hold a word (in lower case), 0 for one that is not there."""


@dataclass(frozen=True)
class Vocabulary:
    """The words that the library knows, each with the number of documents that hold it.

    Attributes:
        frequencies: documents of the library by word, lower case. documents: how many the library has.
        collection: the words of the collection that is searched, or those of published medical prose.
        words: further words that are medical: names of the graph and of the ICD-10 table, lower case.
    """

    frequencies: Mapping[str, int]
    documents: int
    collection: Collection = field(default_factory=known_words, repr=False)
    words: frozenset[str] = field(default=frozenset(), repr=False)

    def knows(self, word: str) -> bool:
        """Whether a word, singular or plural, stands in the library or among the medical names."""
        return any(form in self.frequencies or form in self.words for form in _forms(word))

    def collected(self, word: str) -> int:
        """Documents of the collection that hold a word, each part of a hyphened one."""
        parts = [p for p in word.lower().split("-") if p]
        return min((self.collection.frequency(p) for p in parts), default=0)

    def weight(self, word: str) -> float:
        """How much a word tells: its inverse document frequency, in the collection where that knows the word."""
        seen, documents = self._seen(word)
        rarest = math.log((1 + documents) / 1.5)
        return math.log((1 + documents) / (0.5 + seen)) if seen else UNKNOWN_WEIGHT * rarest

    def technical(self, word: str) -> float:
        """The logarithm to base 10 of a word's frequency in medical text over that in everyday English.

        Above 0 for words of medicine, far below for talk and names. A word that is in neither counts as 0, a code
        (PRDM9, iNKT) as no word of everyday English. Of a hyphened word the most technical part counts.
        """
        parts = [p for p in word.split("-") if len(p) > 1] or [word]
        if CODE.search(word):
            return max(CODE_IS, *(self._technical(p, RAREST) for p in parts))
        return max(self._technical(p, zipf(p.lower())) for p in parts)

    def _technical(self, word: str, everyday: float) -> float:
        seen, documents = self._seen(word.lower())
        if not seen and everyday <= RAREST:
            return 0.0
        return math.log10((0.5 + seen) / (1 + documents) / WORDS_A_DOCUMENT) - (everyday - 9)  # Zipf: per billion

    def _seen(self, word: str) -> tuple[int, int]:
        return self.collected(word), self.collection.documents


class CountedWords:
    """The words of a collection that can count: each word is counted once and remembered.

    Args:
        count: how many documents hold a word in title or abstract.
        documents: how many the collection has.
    """

    def __init__(self, count: Callable[[str], int], documents: int) -> None:
        self._count, self.documents = count, documents
        self._known: dict[str, int] = {}

    def frequency(self, word: str) -> int:
        """Documents that hold a word; 0 for what is no word."""
        if not word.isalnum():
            return 0
        if word not in self._known:
            self._known[word] = self._count(word)
        return self._known[word]


def technical_words(names: Iterable[str]) -> frozenset[str]:
    """The words of some medical names that are no everyday English, lower case."""
    words = {w for name in names for w in NAME_WORD.findall(name.lower())}
    return frozenset(w for w in words if zipf(w) < EVERYDAY)


def _forms(word: str) -> tuple[str, str, str]:
    return word, f"{word}s", word.removesuffix("s")


@lru_cache(maxsize=20_000)
def zipf(word: str) -> float:
    """How common a word is in English: the logarithm to base 10 of its uses in a billion words, at least `RAREST`."""
    from wordfreq import get_frequency_dict, zipf_frequency

    if not (word.isascii() and word.isalpha()):  # of several words, or of signs
        return max(RAREST, float(zipf_frequency(word, "en", wordlist="large")))
    uses = get_frequency_dict("en", "large").get(word.lower(), 0.0)
    return max(RAREST, round(math.log10(uses) + 9, 2)) if uses else RAREST
