"""Spelling of single terms: against the words that are known here, or by PubMed's own service.

A speller is given terms that passed the sieve, never a text.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from prompts.errors import ServiceError
from tools.literature.vocabulary import Vocabulary, zipf
from tools.literature.word_lists import NO_TERM

SHORTEST = 6  # ours: letters; below that one changed letter makes another word
SIMILAR = 88  # ours: rapidfuzz's ratio, 0..100: one slip in eight letters, two in sixteen
COMMON = 2.0  # ours: Zipf frequency from which a word is no slip


class VocabularySpeller:
    """Corrects against the words of the library and the medical names on this machine."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._words: list[str] = sorted({w for w in _words(vocabulary) if len(w) >= SHORTEST and w.isalpha()})

    async def suggest(self, term: str) -> str | None:
        """The term with each unknown word replaced by the one known word that is nearly it."""
        words = term.split()
        better = [self._nearest(w) or w for w in words]
        return " ".join(better) if better != words else None

    def knows(self, term: str) -> bool:
        """Whether every word of a term is known or too short to be judged."""
        return all(len(w) < SHORTEST or not w.isalpha() or self._known(w.lower()) for w in term.split())

    def _nearest(self, word: str) -> str | None:
        low = word.lower()
        if len(low) < SHORTEST or not low.isalpha() or self._known(low):
            return None
        from rapidfuzz import fuzz, process

        best = process.extract(low, self._words, scorer=fuzz.ratio, limit=2, score_cutoff=SIMILAR)
        sure = best and (len(best) == 1 or best[0][1] > best[1][1] or best[0][0].startswith(best[1][0]))
        return str(best[0][0]) if sure and best[0][0][0] == low[0] else None

    def _known(self, word: str) -> bool:
        vocabulary = self._vocabulary
        return vocabulary.knows(word) or vocabulary.collected(word) > 0 or zipf(word) >= COMMON or word in NO_TERM


class SpellingService(Protocol):
    """PubMed's spelling service, or what speaks the same."""

    async def spell(self, term: str) -> str | None:
        """PubMed's correction of a term, None when it has none. Raises ServiceError."""


class PubMedSpeller:
    """Asks PubMed's own service. When that fails the term stays; the ladder tells the failure if it lasts."""

    def __init__(self, service: SpellingService, otherwise: VocabularySpeller) -> None:
        self._service, self._otherwise = service, otherwise

    async def suggest(self, term: str) -> str | None:
        """The correction known here, else PubMed's; a term whose words are all known is not sent."""
        local = await self._otherwise.suggest(term)
        if local is not None:
            return local
        if self._otherwise.knows(term):
            return None
        try:
            return await self._service.spell(term)
        except ServiceError:
            return None


def _words(vocabulary: Vocabulary) -> Iterable[str]:
    yield from vocabulary.frequencies
    yield from vocabulary.words
