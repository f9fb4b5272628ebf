"""Which matches are shown (ours): a finding is named to a reader only when the text says what its wording says.

The ranking weighs every likely match, and a wrong one costs it little. A finding that is shown must be right. What is
stated must hold the words of the wording (a cough is no bloody cough); what is denied must be held by them (no night
sweats is not no sweating, no pets is no cat). What is told of a medicine, of a part that is normal, or of the inside of
the mouth tells of some kinds of findings only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tools.knowledge_graph.schema import FindingNode
from tools.knowledge_graph.units import Unit
from tools.text.body_sites import compatible, is_only_a_part
from tools.text.clauses import Clause
from tools.text.medicines import tells_of_medicine

STANDS, STANDS_BEHIND = 0.35, 0.25  # ours: least cosine of a wording that stands in the text, and most behind the best
HELD, ALIKE, BEHIND = 0.45, 0.72, 0.1  # ours: share of a wording's words in the text, with its cosine
MOSTLY_HELD, MOSTLY_SAID, NEARLY_ALIKE = 0.7, 0.6, 0.6  # ours: the same where most of both is the other's
ALL_HELD = 0.99  # ours: the same where every word is held, however far apart
ALL_SAID, LESS_HELD = 0.95, 0.7  # ours: a text that is no more than a part of a wording must be this much of it
VAGUE_ALIKE = 0.58  # ours: least cosine of a sign whose one word is said of many parts (red, swollen)
JOINED_HELD = 0.65  # ours: share of a wording's words when two clauses are read together
DENIED_SAID = 0.6  # ours: share of a denied text's known words in the wording
DENIED_MORE_ALIKE, DENIED_LESS_SAID = 0.85, 0.5  # ours: the same for a wording that means nearly the same
INNER = frozenset({"eye", "ear", "mouth", "throat"})  # ours: sites where redness or itching is not the skin's
_PREFIX = re.compile(r"\W*non[- ]", re.IGNORECASE)
Matrix = NDArray[np.float32]
Flags = NDArray[np.bool_]


class Wordings(NamedTuple):
    """Arrays (wordings,) about one text and every wording.

    Attributes:
        held: weighted share of the wording's words in the text. said: of the text's known words in the wording.
        cosine: similarity. stands: the wording stands in the text.
        vague: a sign in one word that is said of many parts.
        unlike: the wording says something else (see `wordings.py`).
    """

    held: Matrix
    said: Matrix
    cosine: Matrix
    stands: Flags
    vague: Flags
    unlike: Flags


def entailed(told: Wordings, unit: Unit) -> Flags:
    """For each wording whether the text says it (or, of a denied text, whether denying the text denies it)."""
    behind = told.cosine.max() - told.cosine
    found = _denied(told, behind) if unit.denied and not unit.negated else _stated(told, behind, unit)
    return np.asarray(found & ~told.unlike & _separate(unit))


def _stated(told: Wordings, behind: Matrix, unit: Unit) -> Flags:
    stands = told.stands & (told.cosine >= STANDS) & (behind <= STANDS_BEHIND)
    stands &= ~told.vague | (told.cosine >= VAGUE_ALIKE)
    alike = (told.cosine >= ALIKE) & (told.held >= (JOINED_HELD if len(unit.members) > 1 else HELD))
    mostly = ((told.held >= MOSTLY_HELD) & (told.said >= MOSTLY_SAID)) | (told.held >= ALL_HELD)
    alike |= mostly & (told.cosine >= NEARLY_ALIKE)
    alike &= (told.said < ALL_SAID) | (told.held >= LESS_HELD)
    return np.asarray(stands | (alike & (behind <= BEHIND)))


def _denied(told: Wordings, behind: Matrix) -> Flags:
    alike = (told.said >= DENIED_SAID) & ((told.cosine >= ALIKE) | told.stands)
    alike |= (told.said >= DENIED_LESS_SAID) & (told.cosine >= DENIED_MORE_ALIKE)
    return np.asarray(alike & (behind <= BEHIND))


def _separate(unit: Unit) -> bool:
    """Whether the unit may be shown at all: denials are shown of what one clause says by itself."""
    return not unit.distant and not (unit.denied and not unit.negated and (unit.topical or len(unit.members) > 1))


class Kinds:
    """What a clause may tell of by the kind and the site of a finding."""

    def __init__(self, findings: Sequence[FindingNode]) -> None:
        self._examined = np.array([f.kind in ("sign", "test") for f in findings])
        self._of_medicine = np.array([f.kind in ("history", "exposure") for f in findings])
        self._skin = np.array([f.site == "skin" for f in findings])

    def tellable(self, unit: Unit, clauses: Sequence[Clause]) -> Flags:
        """For each finding whether the unit may tell of it to a reader."""
        clause = clauses[unit.clause]
        allowed = np.ones(len(self._skin), dtype=bool)
        if _says_nothing(unit, clauses) or _denied_by_prefix(clauses, unit.clause):
            return ~allowed
        if clause.normal:
            allowed &= self._examined
        if tells_of_medicine(clause.told):
            allowed &= self._of_medicine
        if clause.sites and clause.sites <= INNER:
            allowed &= ~self._skin
        return allowed


def _denied_by_prefix(clauses: Sequence[Clause], at: int) -> bool:
    """Whether a clause is denied only because a list before it began with ``non-``, which denies its own word."""
    if clauses[at].present is not False or clauses[at].told != clauses[at].plain:
        return False
    while at > 0 and clauses[at].present is False and clauses[at].told == clauses[at].plain:
        at -= 1
    return _PREFIX.match(clauses[at].told) is not None


def _says_nothing(unit: Unit, clauses: Sequence[Clause]) -> bool:
    """Whether a unit is no more than the name of a part, or joins two clauses on parts far from each other."""
    if len(unit.members) == 1:
        return is_only_a_part(unit.text)
    first, second = (clauses[m].sites for m in unit.members)
    return not compatible(second, first)
