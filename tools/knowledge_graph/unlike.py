"""Wordings that say something else than a text although they share its words (ours): opposites, qualities, hedges."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from tools.knowledge_graph.lexicon import complaints, poles, qualities
from tools.knowledge_graph.units import Unit
from tools.text.negation import NORMAL

AMOUNT = 0  # the row of `lexicon.POLES` with raised and low
HEDGED = re.compile(r"\b(?:about to|almost|nearly)\b", re.IGNORECASE)  # ours: what has not happened
Flags = NDArray[np.bool_]


class Unlike:
    """Tells which wordings differ from a text.

    Args:
        phrases: the wordings. words: their words, as `lexicon.words` gives them.
        tests: array (wordings,): the wording is of a test.
    """

    def __init__(self, phrases: Sequence[str], words: Sequence[Sequence[str]], tests: Flags) -> None:
        self._poles = np.array([poles(p) for p in words], dtype=np.int8).T.copy()
        self._qualities = [
            np.array([_bits(flags) for flags in row], dtype=np.uint64)
            for row in zip(*(qualities(p) for p in words), strict=True)
        ]
        self._complaints = np.array([_bits(complaints(p)) for p in words], dtype=np.uint64)
        self._normal = np.array([NORMAL.search(p) is not None for p in phrases])
        self._hedged = np.array([HEDGED.search(p) is not None for p in phrases])
        self._amount = tests & (self._poles[AMOUNT] != 0)

    def opposite(self, said: Sequence[str]) -> Flags:
        """Array (scales, wordings): the wording names the other end of the scale than the words said."""
        ends = np.array(poles(said), dtype=np.int8)[:, None]
        return np.asarray((ends != 0) & (self._poles == -ends))

    def different(self, said: Sequence[str], unit: Unit, opposite: Flags) -> Flags:
        """Array (wordings,): the wording is not what the text says, whatever else they share.

        ``opposite`` is what `opposite` gives for the same words.

        It names the other end of a scale; other qualities than the text (sharp, crushing); what almost happened, or a
        normal result, and the text does not. Of a text that states something: it names a complaint that the text does
        not (pain on coughing, for a cough), or says that a test is raised where the text says only that it was done.
        """
        out = opposite.any(axis=0)
        for row, held in zip(qualities(said), self._qualities, strict=True):
            named = _bits(row)
            if named:
                out |= (held != 0) & ((held & named) == 0)
        if NORMAL.search(unit.text) is None:
            out |= self._normal
        if HEDGED.search(unit.text) is None:
            out |= self._hedged
        if not unit.denied:
            out |= (self._complaints & ~_bits(complaints(said))) != 0
            out |= self._amount & (poles(said)[AMOUNT] == 0)
        return np.asarray(out)


def _bits(flags: Iterable[bool]) -> np.uint64:
    """Flags as bits of one number: thousands of wordings are compared with a text at once. At most 64."""
    return np.uint64(sum(1 << i for i, flag in enumerate(flags) if flag))
