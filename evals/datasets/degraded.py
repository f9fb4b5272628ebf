"""Cases told with less: a share of a patient's statements taken away, by the seed.

A statement is a sentence of the fixed text, which is what DDXPlus codes as one evidence. The first sentence, which says
age and sex, and the first complaint always stay. What is taken at a higher level includes all that a lower one takes.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from evals.datasets.ddxplus import TextPatient
from tools.text.sentences import sentences

LEVELS = (0, 25, 50, 75)  # percent of the statements taken away; of the issue that asked for the figures


def degraded(row: TextPatient, percent: int, seed: int) -> str:
    """The patient's text without ``percent`` of the statements that may go, the others in their order.

    Args:
        percent: 0 to 100; half a statement is rounded as Python rounds.
        seed: with the row's id it decides which statements go first.
    """
    said = [s.of(row.text) for s in sentences(row.text)]
    gone = set(_order(row, said, seed)[: round(percent / 100 * len(_loose(row, said)))])
    return row.text if not gone else " ".join(s for i, s in enumerate(said) if i not in gone)


def _order(row: TextPatient, said: Sequence[str], seed: int) -> list[int]:
    loose = _loose(row, said)
    random.Random(f"{seed} {row.id}").shuffle(loose)  # noqa: S311
    return loose


def _loose(row: TextPatient, said: Sequence[str]) -> list[int]:
    """Positions of the statements that may go."""
    first = {s.of(row.initial_text) for s in sentences(row.initial_text)}
    return [i for i, sentence in enumerate(said) if i > 0 and sentence not in first]
