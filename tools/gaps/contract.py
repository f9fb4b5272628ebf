"""The judgements of the gap tool (KGCC, MedRGAG): what documents cover and what they lack, and background for that.

The first is one reading of all documents, or KGCC's own two steps: a summary of each, then what the summaries lack.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from pydantic import Field

from tools.contract import DocumentReading, Gap
from tools.evidence import Evidence, Frozen

# Settings of the gap tool: ours, and the published ones of MedRGAG.

Policy = Literal["off", "context", "allowed"]


class GapSettings(Frozen):
    """How gaps are found and filled.

    How the roles are called is a matter of the model's settings. The authors call explorer and generator at a
    temperature of 1.2 (paper and code). Ours calls them with the common one, 0 by default, because background is read
    once and is better steady than various. The authors limit background to 256 tokens (paper). Ours asks for 150 words
    and cuts the text, because a model that thinks would spend a limit of the request on its thinking.

    Attributes:
        together: one call reads all documents and names what is missing, and one writes background on all points
            (ours; off, published: a call a document, one for what is missing, and one a point).
        unretrieved: the tool is used before anything was retrieved too, and the explorer then names what is missing of
            all that the question needs (MedRGAG's ablation; off: a model would only guess, ours).
        documents: retrieved documents that are read, those that cover most first (ours; MedRGAG keeps five: paper).
        beside: further pieces of their pages that are read, each of which covers a need best (ours; none: published).
        points: gaps that are filled (three: code, the authors' explorer names three).
        results: pieces of evidence asked for a gap (ours).
        generated: ``off`` writes no background; how far an answer may rest on it otherwise is the answerer's matter.
        search_first: search for each gap, and write background only for what that left open (ours; off: published).
        conditioned: documents of background that are written for a gap each, at most.
        question_only: documents of background that are written for the question alone (two: paper; none: ours, since
            nothing says what they add that is missing).
        own_requirements: what the planner named, and when no summary is useful what the question itself asks, stay
            requirements whatever the explorer says (ours; off: published).
    """

    together: bool = True
    unretrieved: bool = False
    documents: int = Field(default=8, ge=1, le=50)
    beside: int = Field(default=2, ge=0, le=10)
    points: int = Field(default=3, ge=0, le=10)
    results: int = Field(default=3, ge=1, le=20)
    generated: Policy = "context"
    search_first: bool = True
    conditioned: int = Field(default=3, ge=0, le=10)
    question_only: int = Field(default=0, ge=0, le=10)
    own_requirements: bool = True


PUBLISHED = GapSettings(
    together=False,
    documents=5,
    beside=0,
    generated="allowed",
    search_first=False,
    question_only=2,
    own_requirements=False,
)  # paper and code: three gaps, three documents for them, two for the question alone


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
