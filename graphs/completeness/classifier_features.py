"""What the light head reads of a unit: its meaning, that of the rest of the case, and its part in the first look.

All are ours. Nothing of them needs the diagnosis that is right, so what holds in training holds in use.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from graphs.completeness.contract import Label, Unit
from graphs.completeness.labels import names_of
from graphs.completeness.labels import units as by_rules
from tools.contract import Differential, Finding, RankedDisease
from tools.encoders import Encoder
from tools.text.sentences import Span, sentences

Matrix = NDArray[np.float32]

MANY_UNITS, MANY_WORDS, MANY_FINDINGS = 20.0, 20.0, 10.0  # ours: scales at which a count is about 1
BITS = 4.0  # ours: entropy in bits at which a ranking says little
# What follows the two vectors, in order: of the unit, of the case, and of both. A head names them, so that another
# version's is refused.
PLAIN = (
    "first", "position", "words", "redundant", "rule_a", "rule_b", "present", "denied", "surest", "unsure",
    "for_first", "for_second", "for_first_alone", "for_second_alone", "against_first", "against_second",
    "share_of_support", "sole_support", "units", "findings", "margin", "entropy", "lead", "next", "ranked",
    "log_odds", "margin_for_first_alone", "margin_share", "close_and_sole",
)  # fmt: skip


class CaseFeatures:
    """Features of every unit of one case, of one first look-up."""

    def __init__(self, text: str, first_look: Differential | None) -> None:
        self.text, self._look = text, first_look or Differential()
        self.spans: tuple[Span, ...] = sentences(text)
        self.units: tuple[Unit, ...] = by_rules(text, first_look)
        self._lines = [*self._look.ranking[:2], None, None][:2]

    def matrix(self, vectors: Matrix) -> Matrix:
        """Array (units, 2 * dimension + plain features), float32.

        Args:
            vectors: (units, dimension), of the units' texts, of unit length.
        """
        count = len(self.spans)
        if not count:
            return np.zeros((0, 2 * vectors.shape[1] + len(PLAIN)), dtype=np.float32)
        rest = (vectors.sum(axis=0, keepdims=True) - vectors) / max(1, count - 1)
        near = vectors @ vectors.T - 2 * np.eye(count, dtype=np.float32)
        redundant = near.max(axis=1) if count > 1 else np.zeros(count)
        plain = [self._plain(n, float(redundant[n])) for n in range(count)]
        return np.hstack([vectors, rest, np.array(plain, dtype=np.float32)]).astype(np.float32)

    def _plain(self, n: int, redundant: float) -> list[float]:
        span, unit, look = self.spans[n], self.units[n], self._look
        found = [f for f in look.findings if span.start <= f.start < span.end]
        first, second = self._lines
        for_first, for_second = _named(found, first, "for"), _named(found, second, "for")
        all_for_first = _named(look.findings, first, "for")
        share = for_first / all_for_first if all_for_first else 0.0
        alone, other = float(for_first > for_second), float(for_second > for_first)
        scores = [line.score if line is not None else 0.0 for line in self._lines]
        close = 1.0 - look.margin
        return [
            float(n == 0), n / len(self.spans), min(2.0, len(unit.text.split()) / MANY_WORDS), redundant,
            float(unit.label is Label.A), float(unit.label is Label.B),
            min(1.0, sum(f.present is True for f in found) / 3), float(any(f.present is False for f in found)),
            max((f.score for f in found), default=0.0), float(any(f.present is None for f in found)),
            float(for_first > 0), float(for_second > 0), alone, other,
            float(_named(found, first, "against") > 0), float(_named(found, second, "against") > 0),
            share, float(for_first > 0 and for_first == all_for_first),
            len(self.spans) / MANY_UNITS, len(look.findings) / MANY_FINDINGS, look.margin, look.entropy / BITS,
            scores[0], scores[1], float(bool(look.ranking)), _log_odds(scores[0]),
            look.margin * alone, look.margin * share, close * share,
        ]  # fmt: skip


def vectors_of(texts: Sequence[str], encoder: Encoder) -> Matrix:
    """Array (texts, dimension): the units as documents, so that an agent's cache of vectors serves them."""
    if not texts:
        return np.zeros((0, encoder.dimension), dtype=np.float32)
    return encoder.encode_queries(list(texts))


def _named(found: Sequence[Finding], line: RankedDisease | None, side: str) -> int:
    """How many of the findings a line of the ranking names for it, or against it."""
    if line is None:
        return 0
    names = line.findings_for if side == "for" else line.findings_against
    return sum(not set(names).isdisjoint(names_of(f)) for f in found)


def _log_odds(share: float) -> float:
    """Log-odds of a share, bounded, about -1 to 1."""
    bounded = min(0.99, max(0.01, share))
    return math.log(bounded / (1 - bounded)) / 4.6
