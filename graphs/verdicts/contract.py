"""A verdict on a closed question, who gives it, and its words."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol

from graphs.judging.key_terms import Subject
from tools.evidence import Evidence, Frozen
from tools.messages import messages
from tools.text.questions import WHICH_WAY

WRITTEN = frozenset({"library", "graph"})  # collections of which each sentence was written as a statement


class VerdictValue(StrEnum):
    """What the cited sentences answer.

    ``DEPENDS``: yes for some, no for others. ``CONFLICTING``: sources that disagree. ``INSUFFICIENT``: sources that say
    that it is not settled, or studies that speak for either side and none that is sure. Where nothing answers there is
    no verdict. Of a question that asks which way ("higher, lower, or the same") ``YES`` is higher and ``NO`` lower.
    """

    YES = "yes"
    NO = "no"
    DEPENDS = "depends"
    NO_DIFFERENCE = "no_difference"
    CONFLICTING = "conflicting"
    INSUFFICIENT = "insufficient"


class Certainty(StrEnum):
    """How sure, in GRADE's words but by our own rules (`graphs.verdicts.certainty`): it is no GRADE rating."""

    HIGH = "high"
    MODERATE = "moderate"
    LOW = "low"
    VERY_LOW = "very_low"
    NOT_ASSESSED = "not_assessed"


class Verdict(Frozen):
    """A verdict, with all that carries it.

    Attributes:
        statements: the texts of the answer's statements that carry it, the leading one first.
        sides: what each of them answers by itself, in their order; empty where that was not told.
        effect: the size of the effect as the leading statement gives it, "" when it gives none.
        population: who was studied, in the source's words, "" when it does not say.
        reason: the sources and their design, in one line.
    """

    value: VerdictValue
    statements: tuple[str, ...]
    effect: str = ""
    population: str = ""
    certainty: Certainty = Certainty.NOT_ASSESSED
    reason: str = ""
    sides: tuple[VerdictValue, ...] = ()


class Sentence(NamedTuple):
    """A sentence of a piece of evidence: characters ``start`` to ``end`` of its text, and its relevance, 0..1."""

    evidence: Evidence
    start: int
    end: int
    score: float = 0.0

    @property
    def text(self) -> str:
        """The slice of the evidence."""
        return self.evidence.text[self.start : self.end]


class Leaning(NamedTuple):
    """What the verdict would be were one always given, and the probability of its leading sentence's answer, 0..1."""

    value: VerdictValue
    probability: float


class Stage(StrEnum):
    """How far the sentences of a question came: its last one without a verdict, each lacking what the next has."""

    NOTHING = "nothing_found"  # there was no sentence to read
    ELSEWHERE = "elsewhere"  # some, none of them about the question
    SILENT = "silent"  # about it, none a result or a conclusion
    NOT_SHOWN = "not_shown"  # such ones, whose likeliest reading is no answer
    UNSURE = "unsure"  # an answer, not sure enough
    VERDICT = "verdict"


class Ruling(NamedTuple):
    """What was decided.

    Attributes:
        verdict: None when no sentence answers.
        carrying: the sentences that carry it, the leading one first.
        beside: sentences of results and conclusions on the same question, most relevant first, that do not answer it.
        leaning: None when no sentence may lead at all. No answer shows it; traces and evaluations do.
        stage: how far it came, for the same.
    """

    verdict: Verdict | None
    carrying: Sequence[Sentence] = ()
    beside: Sequence[Sentence] = ()
    leaning: Leaning | None = None
    stage: Stage = Stage.NOTHING


class VerdictJudge(Protocol):
    """Decides closed questions."""

    def judge(self, question: str, evidence: Sequence[Evidence], subjects: Sequence[Subject] = ()) -> Ruling:
        """The ruling on a question from pieces of evidence that may be cited; ``subjects``: the diseases it names."""

    def carries(self, question: str, value: VerdictValue, quotes: Sequence[Sentence]) -> Sequence[Sentence]:
        """The quotes that entail a verdict that somebody else gave, by the policy of `judge`, or none."""

    def says(self, statement: str, quotes: Sequence[str]) -> bool:
        """Whether sentences together say what a statement says, whatever their words."""

    def states(self, quotes: Sequence[Sentence]) -> Sequence[bool]:
        """Of each sentence whether it states something: titles, questions, aims and methods of studies do not."""


# A verdict in words, once for every view of an answer.

FACTS = ("effect", "population", "certainty", "reason")


def value_in_words(verdict: Verdict, question: str, language: str) -> str:
    """What it answers: "yes"; "higher" for the same value where the question asks which way."""
    words, value = messages(language), verdict.value
    asked = "which_way" if value in (VerdictValue.YES, VerdictValue.NO) and WHICH_WAY.search(question) else "values"
    return words[f"verdict.{asked}.{value.value}"]


def headed(verdict: Verdict, language: str, question: str = "") -> str:
    """The verdict in one line: "Verdict: yes"."""
    words = messages(language)
    return f"{words['verdict.title']}{words['list.colon']}{value_in_words(verdict, question, language)}"


def facts(verdict: Verdict, language: str, names: Sequence[str] = FACTS) -> list[str]:
    """What stands below it, a line each: size of effect, who was studied, certainty, sources; only what is known."""
    words = messages(language)
    told = {
        "effect": verdict.effect,
        "population": verdict.population,
        "certainty": words[f"verdict.certainties.{verdict.certainty.value}"],
        "reason": verdict.reason,
    }
    return [
        f"{words[f'verdict.{name}']}{words['list.colon']}{text}"
        for name, text in told.items()
        if text and name in names
    ]
