"""Answers: the public result of a turn, and the judgement that writes it. `Answer` is stable and documented."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict, Field, model_validator

from graphs.completeness.contract import GateDecision
from graphs.completeness.explained import Explanation, explained
from graphs.differential_filter.contract import Verdict as DocumentVerdict
from graphs.kads.contract import Selection
from graphs.reporting.contract import Report
from graphs.triage.contract import Explain, RedFlag
from graphs.triage.facts import Fact
from graphs.verdicts.contract import Leaning, Stage, Verdict
from prompts.metering import Usage as ModelUsage
from tools.contract import (
    AnsweredQuestion,
    Differential,
    DocumentReading,
    Finding,
    FollowUpQuestion,
    Gap,
    Hypothesis,
    Notice,
    RankedDisease,
    RareDisease,
    SimilarRecord,
    unique,
)
from tools.evidence import Evidence, Frozen, SameWork, Statement
from tools.medicines.constraints import constraints_in
from tools.spelling import mended
from tools.text.clauses import clauses
from tools.text.demographics import read_person, without_mentions
from tools.text.questions import told_beside

# The patient as read from what was told: for a reader of the answer to see what it was held to.

PREGNANT = re.compile(
    r"\b(?:pregnan\w+|trimester|weeks'? gestation|expecting a baby)\b|怀孕|妊娠|孕妇|孕期|孕\d+周", re.I
)


class Patient(Frozen):
    """What was read of the patient; None and empty where nothing was.

    Attributes:
        age: in years. sex: ``female`` or ``male``. pregnant: False where it is denied.
        allergies, medicines: what the patient is allergic to and what is taken, as written.
    """

    age: float | None = None
    sex: str | None = None
    pregnant: bool | None = None
    allergies: tuple[str, ...] = ()
    medicines: tuple[str, ...] = ()


def patient_of(told: str) -> Patient | None:
    """What a case, or a message about a patient, tells; None where it tells nothing of these."""
    stated = " ".join(told[start:end] for start, end in told_beside(told))
    person, held = read_person(stated), constraints_in(told)
    named = [tuple(unique(c.named for c in held if (c.why == "allergy") is allergy)) for allergy in (True, False)]
    found = Patient(
        age=person.age,
        sex=person.sex,
        pregnant=_pregnant(stated),
        allergies=named[0],
        medicines=named[1],
    )
    return found if found != Patient() else None


def _pregnant(stated: str) -> bool | None:
    plain = without_mentions(stated)
    own = [c for c in clauses(stated) if not (c.other or c.past)]
    told = [c.present for c in own if PREGNANT.search(c.text if c.present is False else plain[c.start : c.end])]
    return True if True in told else False if False in told else None


ANSWER_SCHEMA = 2  # raised with every change of a field's meaning


class Choice(Frozen):
    """The option that was chosen of a multiple-choice question, or a model's own word on a closed one.

    ``evidence_ids`` is what the choice rests on; a ``parametric`` one rests on none, but on a model's own knowledge:
    not retrieved, not verified. On a closed question a choice is always parametric: what evidence carries is a verdict.
    """

    label: str
    text: str
    reason: str
    evidence_ids: tuple[str, ...] = ()
    parametric: bool = False


class Diagnosis(Frozen):
    """A diagnosis that a language model names of a case.

    ``disease`` is its id where the case's differential ranks it, else "". ``known``: the knowledge graph holds it.
    """

    name: str
    disease: str = ""
    known: bool = True


class Usage(Frozen):
    """What the turn cost; without a model the model's figures are 0.

    Attributes:
        cost: of the model calls, by the price table of the settings; ``unpriced`` calls are not in it.
        by_role: what each role's calls cost. session: what all turns so far cost, this one among them.
        seconds: wall time by part.
    """

    tool_calls: int = 0
    rounds: int = 0
    model_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    unpriced: int = 0
    by_role: dict[str, ModelUsage] = Field(default_factory=dict)
    session: ModelUsage = Field(default_factory=ModelUsage)
    seconds: dict[str, float] = Field(default_factory=dict)

    @property
    def models(self) -> ModelUsage:
        """What the turn's calls of models cost, all roles together."""
        return ModelUsage(
            calls=self.model_calls,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            cost=self.cost,
            unpriced=self.unpriced,
            cached=sum(spent.cached for spent in self.by_role.values()),
        )


class Risk(StrEnum):
    """What makes an answer one to review. Each is stable, for programs."""

    EMERGENCY = "emergency"
    MEDICINE = "medicine"
    UNSUPPORTED = "unsupported"
    CONCERN = "concern"
    PREGNANCY = "pregnancy"
    CHILD = "child"


class ReviewReason(Frozen):
    """One reason, in words, in the answer's language."""

    code: Risk
    text: str


class Answer(BaseModel):
    """What a turn gives back.

    Attributes:
        statements: sentences, each cited or parametric.
        evidence: every piece of evidence that a statement cites, and what was kept beside.
        same_work: by the searches of the turn, documents of one work (a preprint and its article), of which at least
            one is among the evidence.
        differential: for a case, diseases best first with findings for and against.
        diagnoses: for a case, or a question that tells of a patient, that a language model answered: those that it
            names, in its order, which the text on a case has.
        outside: for a case, no disease that the graph holds explains the findings well; the differential is then only
            of the nearest.
        unexplained: what the case states and the leading disease does not account for, as the case says it; None where
            that was not looked at.
        unread: what of the case tells of a complaint that was not understood; asides: what is of the past or of
            somebody else, of which the differential counts little or nothing. Both as the case says it.
        added: for a case, findings that a planner by a language model read from it in words of its own (``clause``);
            they count before what was read here. hypotheses: diagnoses that it considered, each with its line and its
            place among all diseases of the graph, None where the graph does not hold it.
        contrasts, similar_records: for a case, what tells the diseases of the leading group apart (K) and the nearest
            records of the user's collection (d_tau), both whole: no selector or filter cuts them.
        rare_diseases: for a case that asks for them, rare diseases over the phenotype ontology, best first.
        patient: age, sex, pregnancy, allergies and medicines as read from the session's case or the message.
        superseded: what was told of the patient and put right or taken back since: which message told it, with which
            characters, which message superseded it, and what is so now.
        verdict: for a closed question, what a cited statement entails; None where none does.
        choice: for a multiple-choice question, the option, only with evidence or marked ``parametric``.
        follow_up_questions: what to ask next, most useful first.
        suggested: for a question of evidence, up to two that were written with documents that the statements cite,
            and that no quote answers; nearest to the question first.
        notices: what the user must know that is no statement about medicine.
        abstained: nothing could be answered; ``statements`` holds then at most general knowledge, marked so.
        report: for a case, when it was asked for: MedRAG's report, each sentence cited or parametric.
        answered_on: the day on which it was searched and answered (UTC, ISO 8601); "" in answers stored before.
        gate: the completeness gate's decision, None where the gate was not asked.
        emergency: red flags; show them first.
        review_reasons: why a clinician should review the answer before anyone acts on it; empty where none is asked.
    """

    model_config = ConfigDict(extra="forbid")

    schema_version: int = ANSWER_SCHEMA
    session: str = ""
    turn: int = 0
    run: str = ""
    question: str
    kind: str
    language: str
    emergency: list[RedFlag] = Field(default_factory=list)
    statements: list[Statement] = Field(default_factory=list)
    evidence: list[Evidence] = Field(default_factory=list)
    same_work: list[SameWork] = Field(default_factory=list)
    differential: list[RankedDisease] = Field(default_factory=list)
    diagnoses: list[Diagnosis] = Field(default_factory=list)
    outside: bool = False
    unexplained: list[str] | None = None
    unread: list[str] = Field(default_factory=list)
    asides: list[str] = Field(default_factory=list)
    added: list[Finding] = Field(default_factory=list)
    hypotheses: list[Hypothesis] = Field(default_factory=list)
    contrasts: list[str] = Field(default_factory=list)
    similar_records: list[SimilarRecord] = Field(default_factory=list)
    rare_diseases: list[RareDisease] = Field(default_factory=list)
    patient: Patient | None = None
    superseded: list[Fact] = Field(default_factory=list)
    verdict: Verdict | None = None
    choice: Choice | None = None
    follow_up_questions: list[FollowUpQuestion] = Field(default_factory=list)
    suggested: list[str] = Field(default_factory=list)
    notices: list[Notice] = Field(default_factory=list)
    abstained: bool = False
    report: Report | None = None
    answered_on: str = ""
    gate: GateDecision | None = None
    review_reasons: list[ReviewReason] = Field(default_factory=list)
    usage: Usage = Field(default_factory=Usage)

    @model_validator(mode="before")
    @classmethod
    def _of_older_schema(cls, stored: Any) -> Any:
        """An answer stored before verdicts stays readable: its choice had a share that stood for no confidence."""
        if not isinstance(stored, dict) or stored.get("schema_version") != 1:
            return stored
        choice = stored.get("choice")
        kept = {k: v for k, v in choice.items() if k != "confidence"} if isinstance(choice, dict) else choice
        return stored | {"schema_version": ANSWER_SCHEMA, "choice": kept}

    @property
    def text(self) -> str:
        """The statements alone, as plain text: without the advice of an emergency, the verdict, the notices and the
        marks of what is not verified. `to_markdown` is what people are shown."""
        return " ".join(s.text for s in self.statements)

    @property
    def gate_explained(self) -> Explanation | None:
        """The gate's decision in words, in the answer's language; None where the gate was not asked."""
        return explained(self.gate, self.language) if self.gate is not None else None

    def to_json(self, **options: Any) -> str:
        """The stable JSON form (``anamnesis ask --json``)."""
        return self.model_dump_json(**options)

    def to_markdown(self) -> str:
        """The answer as Markdown, with numbered citations and their quotes."""
        from graphs.answering.rendering import markdown_of

        return markdown_of(self)

    def _repr_html_(self) -> str:
        """The answer as a notebook shows it."""
        from graphs.answering.rendering import html_of

        return html_of(self)

    def _repr_markdown_(self) -> str:
        """The same for a front end that shows no HTML."""
        return self.to_markdown()


class Said(Frozen):
    """What the session holds for a question about what was said.

    Attributes:
        asked: what is asked.
        case: the case as told so far, "" when the question is not about it.
        answer: the answer that is asked about, with its evidence; None when nothing was said yet.
    """

    asked: Explain
    case: str = ""
    answer: Answer | None = None


class AnswerView(Frozen):
    """What the answerer is given.

    ``evidence`` is what the selector and the filter kept (generated text included, marked); ``background`` all that a
    model wrote in the turn, kept or not; ``verdicts`` are the
    filter's; ``readings`` are what a model that read the documents says of each; ``path`` is ``direct``, ``researched``
    or ``session``; ``said`` is there for a question about what was said. ``case`` is the session's, whatever is asked:
    its allergies and medicines bar options.
    """

    question: str
    case: str = ""
    kind: str
    language: str
    path: str
    closed: bool = False
    options: dict[str, str] = Field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    verdicts: tuple[DocumentVerdict, ...] = ()
    background: tuple[Evidence, ...] = ()
    selection: Selection | None = None
    differential: Differential | None = None
    answered: tuple[AnsweredQuestion, ...] = ()
    gaps: tuple[Gap, ...] = ()
    readings: tuple[DocumentReading, ...] = ()
    gate: GateDecision | None = None
    red_flags: tuple[RedFlag, ...] = ()
    said: Said | None = None

    @property
    def meant(self) -> str:
        """The question with its misspelt words put right."""
        return mended(self.question)


class Draft(Frozen):
    """An answer before it is verified.

    Attributes:
        evidence: what the statements cite beyond the view's own (the graph's entries), and background that was written
            beside them.
        generated: the text of each parametric statement that rests on generated background -> ids of that.
        dropped: what a model wrote that could not stand, with why; for the trace.
        diagnoses: those that a model names of a case, in its order.
        told: the case, whose words a model's statements may repeat. asked: the message, whose figures they may.
        emergency: what a model sees beside the red flags of the rules.
        calm: a model has read the patient's message and names no emergency.
        left_open: of the open points of the research those that the answer leaves open; None where nobody told.
        leaning: what the judge of closed questions leans to, sure enough or not; for the trace.
        stage: how far its sentences came, for the same; None where none was asked.
    """

    statements: tuple[Statement, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    verdict: Verdict | None = None
    choice: Choice | None = None
    follow_up_questions: tuple[FollowUpQuestion, ...] = ()
    notices: tuple[Notice, ...] = ()
    abstained: bool = False
    generated: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    dropped: tuple[str, ...] = ()
    diagnoses: tuple[Diagnosis, ...] = ()
    told: str = ""
    asked: str = ""
    emergency: tuple[RedFlag, ...] = ()
    calm: bool = False
    left_open: tuple[str, ...] | None = None
    leaning: Leaning | None = None
    stage: Stage | None = None


class Answerer(Protocol):
    """Writes an answer from what it is given, and from nothing else."""

    async def answer(self, view: AnswerView) -> Draft:
        """Every statement cites evidence of the view or of the draft, with exact quotes."""
