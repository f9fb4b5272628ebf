"""A reader that says of each sentence what the test has written down, and that it is unrelated to anything else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tools.reading.contract import DIRECTIONS, ROLES, STANCES, Direction, Pair, Reading, Role, Stance


def reading(
    stance: Stance, p: float = 0.95, role: Role = Role.RESULT, direction: Direction = Direction.UNCLEAR
) -> Reading:
    """A reading of this stance with probability ``p``, the rest not shown; of this direction and role for sure."""
    rest = Stance.UNRELATED if stance is Stance.NOT_SHOWN else Stance.NOT_SHOWN
    return Reading(
        tuple(p if s is stance else 1 - p if s is rest else 0.0 for s in STANCES),
        tuple(float(d is direction) for d in DIRECTIONS),
        tuple(float(r is role) for r in ROLES),
    )


YES, NO, MIXED, UNSETTLED = (reading(s) for s in (Stance.SUPPORTS, Stance.REFUTES, Stance.MIXED, Stance.UNSETTLED))
BESIDE = reading(Stance.NOT_SHOWN)
UNRELATED = reading(Stance.UNRELATED, 1.0)


class ScriptedReader:
    """Reads by a table of sentences, to the letter.

    Attributes:
        asked: the pairs that it was given, in order.
    """

    def __init__(self, table: Mapping[str, Reading]) -> None:
        self._table = table
        self.asked: list[Pair] = []

    def read(self, pairs: Sequence[Pair]) -> list[Reading]:
        """What the table says; a sentence that is not in it is unrelated."""
        self.asked += pairs
        return [self._table.get(pair.sentence, UNRELATED) for pair in pairs]
