"""The contract of a tool.

A tool knows no state keys. It takes validated arguments (a schema of `prompts.tool_arguments`) and a `ToolContext`
that the graph fills, and returns a short text for the planner beside an artefact that the collect node merges.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, Protocol, TypeVar

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from tools.evidence import Evidence, Frozen
from tools.recorder import NullRecorder, Recorder
from tools.text.language import language_of

# A line of a ranking of rare diseases: what the ontology's room makes and a differential carries.


class RareDisease(Frozen):
    """A rare disease, ranked over the Human Phenotype Ontology.

    Attributes:
        disease: its id, ``OMIM:...``. score: share of belief over all annotated diseases, 0..1. log_evidence: nats.
        findings_for: the disease's own phenotypes that fit. findings_against: phenotypes that the patient has not and
            the disease usually has. missing: usual phenotypes of which nothing was said.
        evidence_id: of its entry, ``graph:hpo/OMIM:...``.
    """

    disease: str
    name: str
    score: float
    log_evidence: float
    findings_for: tuple[str, ...] = ()
    findings_against: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    evidence_id: str


T = TypeVar("T", bound=Hashable)
Tell = Callable[..., None]
"""Tells what is done now: the name of a message of the place ``progress``, and its gaps by name."""


def untold(_: str, **gaps: object) -> None:
    """Tell nobody."""


class Severity(StrEnum):
    """How loud a notice is."""

    INFO = "info"
    WARNING = "warning"
    DANGER = "danger"


class Notice(Frozen):
    """Something the user must know that is no statement about medicine. ``code`` is stable, for programs."""

    code: str
    text: str
    severity: Severity = Severity.INFO


class Outcome(StrEnum):
    """How a tool call ended. ``unavailable`` is a failure and is never reported as ``nothing_found``."""

    OK = "ok"
    NOTHING_FOUND = "nothing_found"
    UNAVAILABLE = "unavailable"
    REFUSED = "refused"

    @classmethod
    def of(cls, found: object, *, failed: bool) -> Outcome:
        """Of a search by what it found: one that failed is not one that found nothing."""
        return cls.OK if found else cls.UNAVAILABLE if failed else cls.NOTHING_FOUND


class Finding(Frozen):
    """A finding of the case, as understood from one clause.

    Attributes:
        id: the finding's id in the graph, or "" when only the wording is known.
        name: its name in the graph, or the clause.
        clause: the clause of the case that states it.
        present: True stated present, False stated absent, None uncertain.
        told_of: ``now`` for the patient as he is, ``past`` for what was, ``other`` for what somebody else has.
        side: ``left``, ``right``, ``both`` or None.
        site: body site named in the clause, or None.
        score: confidence of the match, 0..1.
        start, end: the clause's characters in the case text, -1 when it was not stated there.
    """

    id: str = ""
    name: str
    clause: str
    present: bool | None = True
    told_of: Literal["now", "past", "other"] = "now"
    side: str | None = None
    site: str | None = None
    score: float = 1.0
    start: int = -1
    end: int = -1


class RankedDisease(Frozen):
    """One line of a differential. ``score`` is a share of belief over the ranked diseases, 0..1.

    Attributes:
        records: ids of the records of the user's collection that spoke for it, where a ranking learned from them.
        shared: the clauses of the case that these records state too, the most telling first.
    """

    disease: str
    name: str
    name_zh: str = ""
    icd10: str
    l2: str
    l1: str
    score: float
    severity: str
    findings_for: tuple[str, ...] = ()
    findings_against: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    red_flags: tuple[str, ...] = ()
    evidence_id: str
    records: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()


class Hypothesis(Frozen):
    """A diagnosis that a planner considers, and what the graph makes of it.

    Attributes:
        name: as it was given. disease: its line, None where the graph does not hold it.
        place: among all diseases of the graph, from 1; None where nothing in the case is known to the graph.
    """

    name: str
    disease: RankedDisease | None = None
    place: int | None = None


class FollowUpQuestion(Frozen):
    """A question for the patient: what it asks about, in words, and what its answer is worth (bits).

    ``between`` names the two diseases that it tells apart; ``why`` says in a sentence what each answer would change;
    ``replies``: of a question that a place answers, the likeliest ones, each a reply as it stands.
    """

    finding: str
    text: str
    gain: float
    between: tuple[str, ...] = ()
    why: str = ""
    replies: tuple[str, ...] = ()


class SimilarRecord(Frozen):
    """A record of the user's collection that is near to the case. ``similarity`` is a cosine."""

    id: str
    diagnosis: str
    text: str
    similarity: float


class Differential(Frozen):
    """What the knowledge graph makes of a case. It reaches the answer whole: no selector or filter cuts it.

    Attributes:
        asides: what the case tells of the past or of somebody else; the ranking counts little or nothing of it.
        added: findings that a planner read from the case in words of its own; they count before what is read here.
        overruled: what was read here otherwise than a planner read it, and does not count.
        given: diseases that the case tells as diagnosed, each with its clause; they count beside the findings.
        hypotheses: diagnoses that a planner considers, wherever they stand, or that the graph does not hold.
        ranking: diseases, best first.
        categories: L2 ids with their votes, most first; `winners` holds the ones that lead (several on a tie).
        contrasts: K of the method: "disease | relation | what tells it apart", over the diseases of the winners.
        questions: next best questions, best first.
        rare: rare diseases over the phenotype ontology, where they were asked for; a section of its own.
        similar: d_tau of the method: the nearest records of the user's collection, nearest first.
        mode: ``ours``, or ``paper`` for the published votes.
        margin: score of the first less the second, 0..1. entropy: of the ranking, in bits.
        explained: probability that a disease of the graph explains the case; None where nothing was calibrated for it.
        outside: none explains it well: the ranking is only of the nearest that the graph knows.
        unexplained: what the case states and the leading disease does not account for, in the words of the case; None
            where that was not looked at.
        unread: what tells of a complaint that was not understood, likewise.
    """

    graph: str = "starter"
    mode: str = "ours"
    findings: tuple[Finding, ...] = ()
    asides: tuple[Finding, ...] = ()
    added: tuple[Finding, ...] = ()
    overruled: tuple[Finding, ...] = ()
    given: tuple[tuple[str, str], ...] = ()
    hypotheses: tuple[Hypothesis, ...] = ()
    ranking: tuple[RankedDisease, ...] = ()
    categories: tuple[tuple[str, float], ...] = ()
    winners: tuple[str, ...] = ()
    contrasts: tuple[str, ...] = ()
    similar: tuple[SimilarRecord, ...] = ()
    rare: tuple[RareDisease, ...] = ()
    questions: tuple[FollowUpQuestion, ...] = ()
    margin: float = 0.0
    entropy: float = 0.0
    explained: float | None = None
    outside: bool = False
    unexplained: tuple[str, ...] | None = None
    unread: tuple[str, ...] = ()

    def _repr_html_(self) -> str:
        """The first diseases of the ranking, as a notebook shows them."""
        from tools.notebook.markup import page, ranking_table, rendered

        return rendered(page("en", ranking_table(self.ranking)))


class AnsweredQuestion(Frozen):
    """A question of the collection that its document answers, with the span that does. ``direct``: the span was found
    for the question asked itself, and leads whatever the similarity."""

    question: str
    similarity: float
    evidence: Evidence
    start: int
    end: int
    direct: bool = Field(default=False, validation_alias=AliasChoices("direct", "section"))  # as sessions have it
    answer: Literal["", "yes", "no", "depends"] = ""


PHRASE = re.compile(r"[A-Za-z]{2,} +[A-Za-z]{2,}")  # English words, which a Chinese text has no two of in a row


class Gap(Frozen):
    """A knowledge requirement and what covers it (evidence ids; empty while it is a gap).

    ``query`` is what is searched for, "" where no words would find it. ``said``: the requirement in the language of the
    turn, where a model put it so. ``part_of``: the requirement, covered otherwise, of which it is what is missing.
    """

    requirement: str
    query: str
    covered_by: tuple[str, ...] = ()
    said: str = ""
    part_of: str = ""

    def told(self, language: str) -> str:
        """The requirement as a reader of a language is told it, "" where nobody put it so: a Chinese reader is told no
        English phrase that was searched for."""
        own = language != "zh" or (language_of(self.requirement) == "zh" and not PHRASE.search(self.requirement))
        return self.said or (self.requirement if own else "")


class DocumentReading(Frozen):
    """What a model that read the documents of a turn says of one of them.

    Attributes:
        sentences: numbers, from 1, of the sentences of the evidence's text (`tools.text.sentences.sentences`) that say
            something to the question; empty where the document says nothing to it.
        stance: what it does to the question: ``supports``, ``refutes``, ``mixed``, ``speaks`` (says something to a
            question that asks no yes or no), or ``silent``.
    """

    evidence_id: str
    sentences: tuple[int, ...] = ()
    stance: Literal["supports", "refutes", "mixed", "speaks", "silent"] = "silent"


class ToolArtifact(BaseModel):
    """Everything that a tool call hands to the collect node.

    ``notices`` are for the reader of an answer. ``remarks`` are only for whoever made the call: what of it was no use.
    """

    model_config = ConfigDict(extra="forbid")

    tool: str
    outcome: Outcome = Outcome.OK
    evidence: list[Evidence] = Field(default_factory=list)
    differential: Differential | None = None
    answered: list[AnsweredQuestion] = Field(default_factory=list)
    gaps: list[Gap] = Field(default_factory=list)
    readings: list[DocumentReading] = Field(default_factory=list)
    notices: list[Notice] = Field(default_factory=list)
    remarks: list[str] = Field(default_factory=list)
    strategy: list[dict[str, Any]] = Field(default_factory=list)


@dataclass(frozen=True)
class ToolContext:
    """What the graph lends to a tool beside its arguments.

    Attributes:
        question: the turn's stand-alone question or case, complete.
        case: the session's case, "" where none was told.
        kind: kind of turn, as triage decided.
        language: ``en`` or ``zh``.
        evidence: what the turn has found so far.
        findings: findings of the session so far.
        added: findings that an earlier look-up of this turn was given beside the case.
        options: options of a multiple-choice question by letter.
        retrieved: whether anything was retrieved in this run before this call.
        units: sentences of the question with the gate's labels (A critical, B helps the search, C unimportant).
        released: words that the user lets PubMed see in this turn, though they may be names.
        progress: is given a line on what a call does now; whoever asked sees it. Called on the loop that runs the tool.
    """

    question: str = ""
    case: str = ""
    kind: str = "case"
    language: str = "en"
    evidence: list[Evidence] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    added: list[Finding] = field(default_factory=list)
    options: dict[str, str] = field(default_factory=dict)
    retrieved: bool = False
    units: list[tuple[str, str]] = field(default_factory=list)
    released: tuple[str, ...] = ()
    recorder: Recorder = field(default_factory=NullRecorder)
    progress: Callable[[str], None] = untold

    def tell(self, doing: str, **gaps: object) -> None:
        """Tell what is done now, in the language of the turn; see `Tell`."""
        from tools.messages import messages  # a client's greeting, which tells nothing, does not wait for it

        self.progress(messages(self.language).say(f"progress.{doing}", **gaps))


class Tool(Protocol):
    """One thing that the agent can call. `description` and `arguments` are written for a language model."""

    @property
    def name(self) -> str:
        """The name that a planner calls it by."""

    @property
    def description(self) -> str:
        """What it does, when to call it and when not."""

    @property
    def arguments(self) -> type[BaseModel]:
        """The schema of its arguments."""

    async def run(self, arguments: Any, context: ToolContext) -> ToolArtifact:
        """Carry out a call. Raises ToolError for arguments to be mended, ServiceError for an outside failure."""


def unique(items: Iterable[T]) -> list[T]:
    """The items in order of first appearance."""
    return list(dict.fromkeys(items))
