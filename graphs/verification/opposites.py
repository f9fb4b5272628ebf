"""Words of which one cannot stand for another: safe and unsafe, start and stop, men and women, at least and at most."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from tools.text.negation import DENIES, denies
from tools.text.tokens import tokens
from tools.yaml_files import read_yaml

FILE = Path(__file__).with_name("opposites.yaml")
# Under a condition alone a thing may be told with a denial or without.
ONLY = re.compile(r"\b(?:only|unless|until|except|before)\b", re.IGNORECASE)
WORD = re.compile(r"[a-z][a-z-]{4,}")  # long enough to be known under a prefix; ours
PREFIXES = ("un", "non-", "non", "ab", "a")  # that make a word its reverse: unstable, abnormal, asymptomatic; ours
SAME = frozenset({"sleep", "round", "mount", "live", "way", "part", "side", "long"})  # ours: "a-" denies none of these
SHARED = 0.6  # ours: share of the shorter clause's words from which two clauses speak of the same
LEAST = 2  # ours: words that they share at least, where the shorter one has as many

WHERE = re.compile(r"\b(?:when|if|where|once|who|whose)\b.*", re.IGNORECASE)  # what a clause holds for

Ways = Sequence[re.Pattern[str]]
"""The ways that a matter can be."""
Way = tuple[int, bool]
"""Which of its ways a matter is, and whether that is denied."""


class Matters(NamedTuple):
    """The matters by name: those that differ wherever in a text they stand, those that do in clauses of the same, and
    those that are also said by a denial."""

    anywhere: dict[str, Ways]
    in_a_clause: dict[str, Ways]
    deniable: dict[str, Ways]


class Limits(NamedTuple):
    """Words by which a figure is the least or the most that is meant: before it, behind it with its unit, and any."""

    before: re.Pattern[str]
    behind: re.Pattern[str]
    words: re.Pattern[str]


@lru_cache(maxsize=1)
def matters() -> Matters:
    """The matters of the file."""
    read = read_yaml(FILE)

    def of(name: str) -> dict[str, Ways]:
        return {matter: [re.compile(way, re.IGNORECASE) for way in ways] for matter, ways in read[name].items()}

    return Matters(of("anywhere"), of("in_a_clause"), of("deniable"))


@lru_cache(maxsize=1)
def limits() -> Limits:
    """The words of limits; groups ``least`` and ``most``."""
    told = {name: "|".join(words) for name, words in read_yaml(FILE)["limits"].items()}
    before = rf"(?P<least>{told['least_before']})|(?P<most>{told['most_before']})"
    behind = rf"(?P<least>{told['least_behind']})|(?P<most>{told['most_behind']})"
    return Limits(
        re.compile(rf"\b(?:{before})(?:\s+(?!(?:to|and|or)\b)[A-Za-z]+){{0,3}}\s*$", re.IGNORECASE),
        re.compile(rf"(?:[\s-]?[A-Za-z/%]+)?(?:\s(?:of age))?\s+(?:{behind})\b", re.IGNORECASE),
        re.compile(rf"\b(?:{before})\b", re.IGNORECASE),
    )


def opposed(clauses: Sequence[str], held: Sequence[str]) -> bool:
    """Whether clauses tell one way of a matter where those of the quotes tell only another, whatever they speak of."""
    for ways in matters().anywhere.values():
        said, quoted = ({n for c in side for n, way in enumerate(ways) if way.search(c)} for side in (clauses, held))
        if said and quoted and not said & quoted:
            return True
    return False


def opposed_clause(clauses: Sequence[str], held: Sequence[str]) -> bool:
    """Whether one of some clauses says the opposite of a clause of the quotes that speaks of the same."""
    known = matters()
    named = [(ways, False) for ways in (*known.anywhere.values(), *known.in_a_clause.values())]
    named += [(ways, True) for ways in known.deniable.values()]
    named += [(ways, True) for ways in _prefixed(clauses, held)]
    return any(_turns(clause, held, ways, deniable) for clause in clauses for ways, deniable in named)


def _prefixed(clauses: Sequence[str], held: Sequence[str]) -> list[Ways]:
    """Words that the one side has and the other has with a syllable that denies: stable and unstable."""
    said, quoted = ({w for c in side for w in WORD.findall(c.lower())} for side in (clauses, held))
    words = {w for a, b in ((said, quoted), (quoted, said)) for w in a - SAME if {p + w for p in PREFIXES} & b}
    return [
        [re.compile(rf"(?<![\w-]){w}\b", re.I), re.compile(rf"\b(?:{'|'.join(PREFIXES)}){w}\b", re.I)] for w in words
    ]


def told_apart(clause: str, held: str) -> bool:
    """Whether one of two clauses denies what is the opposite of the other's: "not stopped", "continued"."""
    return any(
        s[0] != q[0] and s[1] is not q[1]
        for ways in matters().deniable.values()
        for s in _ways(clause, ways, True)
        for q in _ways(held, ways, True)
    )


def _turns(clause: str, held: Sequence[str], ways: Ways, deniable: bool) -> bool:
    """Whether a clause says the opposite of the clause that speaks of the same as much as any does."""
    said = _ways(clause, ways, deniable)
    if len(said) != 1:
        return False
    words = _words(clause, ways)
    crossed = straight = 0
    for other in held:
        quoted, theirs = _ways(other, ways, deniable), _words(other, ways)
        shared, size = len(words & theirs), min(len(words), len(theirs))
        if len(quoted) != 1 or not shared or shared < max(min(LEAST, size), SHARED * size):
            continue
        (way, denied), (their_way, theirs_denied) = *said, *quoted
        alone = way == their_way and (ONLY.search(clause) or ONLY.search(other))
        if (way == their_way) is (denied is not theirs_denied) and not alone:
            crossed = max(crossed, shared)
        else:
            straight = max(straight, shared)
    return crossed > straight


def _ways(clause: str, ways: Ways, deniable: bool) -> set[Way]:
    """The ways of a matter that a clause tells; denied where the part of it that tells one holds a denial, be it what
    the clause holds for or the rest."""
    main, what = WHERE.sub(" ", clause), WHERE.search(clause)
    parts = [part for part in (main, what[0] if what else "") if part.strip()]
    found = [(n, way, part) for n, way in enumerate(ways) for part in parts if way.search(part)]
    return {(n, deniable and denies(way.sub(" ", part))) for n, way, part in found}


def _words(clause: str, ways: Ways) -> set[str]:
    """What a clause speaks of beside the matter."""
    for way in ways:
        clause = way.sub(" ", clause)
    return set(tokens(DENIES.sub(" ", clause)))
