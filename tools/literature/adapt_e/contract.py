"""The contract of Adapt-E: a search plan, and who makes one (CoMeta, query pipeline).

A plan holds terms and expressions only. The text that it was made from stays on this machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from enum import StrEnum
from typing import Literal, Protocol

from pydantic import Field

from tools.contract import Notice
from tools.evidence import Frozen

Rungs = Literal["terms", "pico"]  # what the abstraction between strict and relaxed is made of


class Group(StrEnum):
    """What a term is in the question: population or problem, intervention, comparison, outcome, or none of these."""

    PROBLEM = "P"
    INTERVENTION = "I"
    COMPARISON = "C"
    OUTCOME = "O"
    OTHER = "other"


class Intent(StrEnum):
    """What the question wants to know."""

    TREATMENT = "treatment"
    DIAGNOSIS = "diagnosis"
    PROGNOSIS = "prognosis"
    AETIOLOGY = "aetiology"
    HARM = "harm"
    PREVENTION = "prevention"
    MECHANISM = "mechanism"
    OTHER = "other"


class RungName(StrEnum):
    """The three kinds of rung, in the order in which they run, and the one of a search that was typed as a query."""

    STRICT = "strict"
    ABSTRACTION = "abstraction"
    RELAXED = "relaxed"
    TYPED = "typed"


class PlannedTerm(Frozen):
    """A term of the plan.

    Attributes:
        text: the normalised term, at most four words.
        group: its place in the question.
        synonyms: other forms that are asked for beside it: spellings, plurals, written-out abbreviations, names.
        broader: a class that stands for it when it finds too little, "" when none is known.
        mesh: its MeSH heading, "" when none is known.
        weight: how much it tells, 0 and more; the terms of a plan stand in this order.
    """

    text: str
    group: Group = Group.OTHER
    synonyms: tuple[str, ...] = ()
    broader: str = ""
    mesh: str = ""
    weight: float = 1.0


class Correction(Frozen):
    """A spelling that was mended."""

    written: str
    meant: str


class DateRange(Frozen):
    """Publication dates, both ends included; None leaves an end open. ``because`` are the words that say so."""

    since: date | None = None
    until: date | None = None
    because: str = ""


class Limit(Frozen):
    """What every query ends in beside dates: ``what`` is limited, by which ``clause``; ``because`` the words say so."""

    what: str
    clause: str
    because: str = ""


class Pico(Frozen):
    """The plan's terms by their place in the question."""

    problem: tuple[str, ...] = ()
    intervention: tuple[str, ...] = ()
    comparison: tuple[str, ...] = ()
    outcome: tuple[str, ...] = ()


class Expression(Frozen):
    """A rung: the query as it is sent, and why it is asked like that."""

    rung: RungName
    query: str
    why: str


class Rejected(Frozen):
    """An expression that was mended or left out, and why. ``mended`` is "" for one that was left out."""

    query: str
    reason: str
    mended: str = ""


class SearchPlan(Frozen):
    """What is searched for, and how.

    Attributes:
        terms: the most telling first. corrections: spellings that were mended. dates: None without a constraint.
        limits: of language, species and type of publication.
        expressions: the rungs in order; each was parsed and linted. rejected: what the lint mended or left out.
        held: words of the text that are not sent; they are shown to the user and never written with the plan.
        planner: ``local`` or the model's name. notices: what the user must know, for example a fallback.
    """

    terms: tuple[PlannedTerm, ...] = ()
    corrections: tuple[Correction, ...] = ()
    intent: Intent = Intent.OTHER
    pico: Pico = Pico()
    dates: DateRange | None = None
    limits: tuple[Limit, ...] = ()
    expressions: tuple[Expression, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    planner: str = "local"
    held: tuple[str, ...] = Field(default=(), exclude=True, repr=False)
    notices: tuple[Notice, ...] = ()


class QueryPlanner(Protocol):
    """Makes a plan of a question, a case or a narrative."""

    async def plan(self, text: str, *, case: bool, terms: Sequence[str] = ()) -> SearchPlan:
        """The plan of a text; without expressions when it gives no terms that may be sent.

        Args:
            text: the question or narrative; it stays on this machine, or goes to the configured model.
            case: the text is about a patient: only words that are known to be medical become terms.
            terms: terms that somebody named already, other names of a term behind a bar (``gout | podagra``); they pass
                the sieve, and the text's own are then not looked for.
        """


def pico_of(terms: Sequence[PlannedTerm]) -> Pico:
    """The terms by group."""

    def of(group: Group) -> tuple[str, ...]:
        return tuple(t.text for t in terms if t.group is group)

    return Pico(
        problem=of(Group.PROBLEM),
        intervention=of(Group.INTERVENTION),
        comparison=of(Group.COMPARISON),
        outcome=of(Group.OUTCOME),
    )
