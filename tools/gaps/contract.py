"""The judgements of the gap tool (KGCC, MedRGAG): what documents cover and what they lack, and background for that.

The first is one reading of all documents, or KGCC's own two steps: a summary of each, then what the summaries lack.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from tools.contract import DocumentReading, Gap
from tools.evidence import Evidence, Frozen


@dataclass(frozen=True)
class Inquiry:
    """What gaps are looked for in.

    Attributes:
        question, kind, language: as the turn has them.
        options: options of a multiple-choice question by letter.
        diseases: names of the leading diseases, best first.
        requirements: what the question itself asks one to know, most important first.
        named: whether the planner named them; else they were worked out from the question.
        coverage: for each piece of usable evidence how far it covers each requirement, 0..1, by words and meaning.
        relevance: for each how far it covers the best of them or the question itself, 0..1.
    """

    question: str
    kind: str = "evidence"
    language: str = "en"
    options: Mapping[str, str] = field(default_factory=dict)
    diseases: Sequence[str] = ()
    requirements: Sequence[str] = ()
    named: bool = False
    coverage: Mapping[str, Sequence[float]] = field(default_factory=dict)
    relevance: Mapping[str, float] = field(default_factory=dict)

    @property
    def asked(self) -> str:
        """The question with its options."""
        options = "\n".join(f"{label}. {text}" for label, text in self.options.items())
        return f"{self.question}\n{options}" if options else self.question


class Summary(Frozen):
    """What a document says to the question; ``text`` is "" where it says nothing useful."""

    evidence_id: str
    title: str = ""
    text: str = ""

    @property
    def useful(self) -> bool:
        """Whether the document says something to the question."""
        return bool(self.text)


class GapSurvey(Frozen):
    """What the documents cover and what is missing.

    Attributes:
        useful: ids of the documents that say something to the question.
        gaps: requirements, none twice; those without ``covered_by`` are gaps, the most important first.
        readings: what a model that read the documents says of each; none without a model that did.
    """

    useful: frozenset[str] = frozenset()
    gaps: tuple[Gap, ...] = ()
    readings: tuple[DocumentReading, ...] = ()


class GapFinder(Protocol):
    """Reads documents against what one must know, and says what is missing."""

    async def find(self, inquiry: Inquiry, documents: Sequence[Evidence]) -> GapSurvey:
        """``covered_by`` holds ids of the inquiry or of useful documents, none of a useless one."""


class Summariser(Protocol):
    """Reads documents against a question."""

    async def summarise(self, inquiry: Inquiry, documents: Sequence[Evidence]) -> list[Summary]:
        """One summary a document, in order."""


class Explorer(Protocol):
    """Names what one must know, and what of it is missing."""

    async def explore(self, inquiry: Inquiry, summaries: Sequence[Summary]) -> list[Gap]:
        """Requirements, most important first, none twice. ``covered_by`` holds ids of the inquiry or of useful
        summaries, none of a useless one, and is empty for a gap."""


class Generator(Protocol):
    """Writes background."""

    async def write(self, inquiry: Inquiry, points: Sequence[str]) -> list[Evidence]:
        """At most one document a point, of origin ``generated``; the point "" asks for the question alone."""
