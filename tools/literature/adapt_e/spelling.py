"""Spelling of single words, against the words that are known on this machine: none is sent anywhere for it."""

from __future__ import annotations

from collections.abc import Iterable

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


def _words(vocabulary: Vocabulary) -> Iterable[str]:
    yield from vocabulary.frequencies
    yield from vocabulary.words
