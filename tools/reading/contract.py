"""What a sentence says of a question or claim: the contract of the reader."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol


class Stance(StrEnum):
    """What a sentence answers to a closed question, or says of a claim.

    ``MIXED``: it depends, or both sides. ``UNSETTLED``: it says that this is not settled. ``NOT_SHOWN``: of the same
    subject, without an answer. ``UNRELATED``: of another intervention, outcome or population.
    """

    SUPPORTS = "supports"
    REFUTES = "refutes"
    MIXED = "mixed"
    UNSETTLED = "unsettled"
    NOT_SHOWN = "not_shown"
    UNRELATED = "unrelated"


class Direction(StrEnum):
    """What happens to the outcome with the intervention, against the comparator."""

    INCREASED = "increased"
    DECREASED = "decreased"
    NO_DIFFERENCE = "no_difference"
    UNCLEAR = "unclear"


class Role(StrEnum):
    """What a sentence is in its document."""

    RESULT = "result"
    CONCLUSION = "conclusion"
    AIM = "aim"
    METHOD = "method"
    BACKGROUND = "background"
    TITLE = "title"
    QUESTION = "question"


STANCES, DIRECTIONS, ROLES = tuple(Stance), tuple(Direction), tuple(Role)
ANSWERS = (Stance.SUPPORTS, Stance.REFUTES, Stance.MIXED, Stance.UNSETTLED)
TELLING = (Role.RESULT, Role.CONCLUSION)  # roles of sentences that may carry a verdict


# Headings of structured abstracts, by the words that they begin with or hold; ours.
ROLE_OF = (
    (re.compile(r"conclu|interpret|implication|summary and", re.I), Role.CONCLUSION),
    (re.compile(r"result|finding", re.I), Role.RESULT),
    (re.compile(r"method|design|setting|participant|patient|subject|intervention|measure|material", re.I), Role.METHOD),
    (re.compile(r"objective|aim|purpose|question|hypothes", re.I), Role.AIM),
    (re.compile(r"background|introduc|context|rationale", re.I), Role.BACKGROUND),
)
MIXED_HEADING = re.compile(r"\band\b.{0,80}(?:result|finding)|/", re.I)


class Pair(NamedTuple):
    """A question, a claim or a comparison (`comparison`), and a sentence with the title and the sentence before it."""

    question: str
    sentence: str
    title: str = ""
    before: str = ""


class Reading(NamedTuple):
    """Probabilities of each stance, direction and role, in the order of their types."""

    stances: tuple[float, ...]
    directions: tuple[float, ...]
    roles: tuple[float, ...]

    def stance(self, of: Stance) -> float:
        """Probability, 0..1."""
        return self.stances[STANCES.index(of)]

    @property
    def relevance(self) -> float:
        """Whether the sentence speaks of the question's intervention, outcome and population, 0..1."""
        return 1.0 - self.stance(Stance.UNRELATED)

    @property
    def direction(self) -> Direction:
        """The likeliest direction."""
        return DIRECTIONS[max(range(len(DIRECTIONS)), key=self.directions.__getitem__)]

    @property
    def role(self) -> Role:
        """The likeliest role."""
        return ROLES[max(range(len(ROLES)), key=self.roles.__getitem__)]

    @property
    def telling(self) -> float:
        """Probability that the sentence is a result or a conclusion."""
        return sum(self.roles[ROLES.index(r)] for r in TELLING)


class Reader(Protocol):
    """Reads pairs."""

    def read(self, pairs: Sequence[Pair]) -> list[Reading]:
        """One reading a pair. What cannot be read (empty, another language, a table) is ``unrelated`` for sure."""


def comparison(intervention: str, comparator: str, outcome: str) -> str:
    """A comparison as the reader is asked for its direction: Evidence Inference's prompt in one line."""
    against = f" compared with {comparator}" if comparator else ""
    return f"{intervention}{against}: effect on {outcome}"


def role_of(heading: str) -> Role | None:
    """What the sentences under a heading are; None where the heading joins several, or says nothing."""
    if MIXED_HEADING.search(heading):
        return None
    return next((role for pattern, role in ROLE_OF if pattern.search(heading)), None)
