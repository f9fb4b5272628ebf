"""Words of phenotype terms in text: names and synonyms, plural or not, in their order or another."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tools.text.tokens import stem

WORD = re.compile(r"[A-Za-z0-9]+")
# ours: words that tell no phenotype from another
EMPTY = frozenset("a an the of in to by due and with or on at is are has have s".split())
LONGEST = 10  # ours: words of the longest phrase looked for; longer names are found by their meaning
BREAKS = re.compile(r"[.;:!?\n]")
COMMA = re.compile(r"[,()/]|\b(?:and|or|but|with)\b")
NAME_PARTS = re.compile(r"[;,/]| with | and | or ", re.IGNORECASE)


@dataclass(frozen=True)
class Word:
    """A word of a text: its stem, "" for an empty one, and its characters."""

    stem: str
    start: int
    end: int


@dataclass(frozen=True)
class Hit:
    """A term found in a text by its words: characters ``start`` to ``end``."""

    term: int
    start: int
    end: int


def fold(word: str) -> str:
    """The stem of a word, British and American spelling alike."""
    word = word.lower()
    for british, american in (("ae", "e"), ("oe", "e"), ("our", "or")):
        word = word.replace(british, american)
    return stem(word)


def words(text: str) -> list[Word]:
    """The words of a text in order."""
    found = []
    for m in WORD.finditer(text):
        empty = m[0].lower() in EMPTY
        found.append(Word("" if empty else fold(m[0]), m.start(), m.end()))
    return found


def keys(phrases: Iterable[tuple[str, int]]) -> tuple[dict[str, int], dict[str, int]]:
    """Phrases with their terms -> (words in order -> term, words sorted -> term); of equal keys the first is held."""
    ordered: dict[str, int] = {}
    unordered: dict[str, int] = {}
    for phrase, term in phrases:
        stems = [w.stem for w in words(phrase) if w.stem]
        if stems and len(stems) <= LONGEST and not (len(stems) == 1 and len(stems[0]) < 3):
            ordered.setdefault(" ".join(stems), term)
            unordered.setdefault(" ".join(sorted(stems)), term)
    return ordered, unordered


class Lexicon:
    """Finds terms by their words, the longest phrase first.

    Args:
        ordered, unordered: as `keys` makes them.
    """

    def __init__(self, ordered: Mapping[str, int], unordered: Mapping[str, int]) -> None:
        self._ordered, self._unordered = ordered, unordered

    def find(self, text: str) -> list[Hit]:
        """The terms of a text in order, none overlapping another.

        Within a part of a sentence the order of words is free ("loss of hearing", "hearing loss"); across a comma or a
        conjunction a phrase must stand as it is written ("intellectual disability, moderate").
        """
        found = words(text)
        hits: list[Hit] = []
        at = 0
        while at < len(found):
            hit, at = self._longest(text, found, at)
            if hit is not None:
                hits.append(hit)
        return hits

    def _longest(self, text: str, found: Sequence[Word], at: int) -> tuple[Hit | None, int]:
        if not found[at].stem:
            return None, at + 1
        for end in range(self._reach(text, found, at), at, -1):
            window = found[at:end]
            if not window[-1].stem:
                continue
            term = self._term(text[window[0].start : window[-1].end], [w.stem for w in window if w.stem])
            if term is not None:
                return Hit(term, window[0].start, window[-1].end), end
        return None, at + 1

    def _reach(self, text: str, found: Sequence[Word], at: int) -> int:
        """The position after the last word that may belong to a phrase that begins here."""
        end = at + 1
        while (
            end < len(found)
            and end - at < 2 * LONGEST
            and not BREAKS.search(text, found[end - 1].end, found[end].start)
        ):
            end += 1
        return end

    def _term(self, text: str, stems: list[str]) -> int | None:
        if len(stems) > LONGEST:
            return None
        term = self._ordered.get(" ".join(stems))
        if term is None and not COMMA.search(text):
            term = self._unordered.get(" ".join(sorted(stems)))
        return term

    def in_name(self, name: str) -> list[int]:
        """The terms that the name of a disease holds ("Ataxia, sensory, with deafness")."""
        return list(dict.fromkeys(h.term for part in [name, *NAME_PARTS.split(name)] for h in self.find(part)))
