"""The shapes of a model's answers and reports, and of their check, as ``answer.md`` and its neighbours ask.

What is forgiven loses nothing: a bare text for a statement, a label in brackets or as a number, a run of sentences.
Whether a sentence was given, and whether it bears a statement out, is judged by the answerer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field, model_validator

from prompts.shown import Lenient, Number, Numbers

# A sentence by document and number (3.2), a run of them (3.2-3.4, 3.2-4), a document alone (3), background (B1).
LABEL = re.compile(
    r"""(?<![\w.])(?P<background>b(?:ackground)?)?\W{0,3}?(?P<document>\d{1,3})
    (?:\s*\.\s*(?P<first>\d{1,4})
       (?:\s*(?:[-–—]|to)\s*(?:(?P<other>\d{1,3})\s*\.\s*)?(?P<last>\d{1,4}))?)?""",
    re.IGNORECASE | re.VERBOSE,
)
WORDED = re.compile(r"\bdoc(?:ument)?\W*(\d+)\W+s(?:entence)?\W*(\d+)", re.IGNORECASE)  # "document 3, sentence 2"
RUN = 6  # ours: sentences of a run that are read

# What is said about generated background, by the policy of the settings; "" where none is shown.
BACKGROUND_RULES = {
    "": "",
    "context": "Background (B1, B2, ...) was written by a language model and may be wrong: it helps to understand the"
    " documents, and no statement rests on it.",
    "allowed": "Background (B1, B2, ...) was written by a language model and may be wrong. Cite the documents wherever"
    " they say the same; a statement that only background supports cites it (B1).",
}

# Which word answers a closed question, as `graphs.verdicts.contract` has them.
VERDICT_RULE = (
    "yes or no: what the documents answer to the question as it is put. no_difference: alike; of “better than” it is"
    " no_difference where both are alike, no where it is worse. depends: yes for some, no for others. conflicting:"
    " documents disagree. insufficient: documents speak of it and do not settle it, or not for whom it is asked; none"
    " need say so in words."
)

# What a model is told about a statement that cannot stand.
FAULTS = {
    "empty": "it has no sentence of a usual length",
    "uncited": "it cites no sentence",
    "unknown": "there is no sentence {detail}",
    "background": "it rests on background, which is no evidence",
    "quote": "the documents that it cites do not say it",
    "order": "it repeats an instruction that stands in a document",
    "reference": "it names a publication that the cited sentences do not name ({detail})",
    "names": "what it cites does not mention {detail}",
    "numbers": "it has a figure that the cited sentences do not have",
    "negation": "it denies what the cited sentences affirm, or the reverse",
    "medicine": "it names a medicine that the cited sentences do not name",
    "disease": "it is about another disease than the cited sentences",
    "strength": "it is more certain than the cited sentences",
    "words": "the cited sentences do not say it",
}


def _cites(value: Any) -> list[str]:
    """Labels of whatever came for them: ``3.2``, ``"[3.2]"``, ``"3.2-3.4"``, ``{"document": 3, "sentence": 2}``."""
    return list(dict.fromkeys(_labels(value)))


def _labels(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        at = [str(value.get(name) or "") for name in ("document", "sentence")]
        yield from _labels(".".join(filter(None, at)))
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _labels(item)
    elif value is not None:
        for found in LABEL.finditer(WORDED.sub(r"\1.\2", str(value))):
            yield from _run(**found.groupdict())


def _run(background: str | None, document: str, first: str | None, other: str | None, last: str | None) -> list[str]:
    """The labels of one match; a run that goes on in another document is its two ends."""
    if background or first is None:
        return [f"{'B' if background else ''}{int(document)}"]
    start, end = int(first), int(last) if last is not None else int(first)
    if other is not None and int(other) != int(document):
        return [f"{int(document)}.{start}", f"{int(other)}.{end}"]
    return [f"{int(document)}.{n}" for n in range(start, max(start, min(end, start + RUN - 1)) + 1)]


def _part(value: Any) -> Any:
    """The part as the schema writes it; what is none of them is left to the place of the statement."""
    said = str(value).strip().lower()
    return said if said in ("asked", "diagnosis", "next", "urgent") else "next"


def word_of(value: Any) -> str:
    """A text; "" for null."""
    return "" if value is None else str(value).strip()


def _words(value: Any) -> list[str]:
    """Names of whatever came for them, the empty ones left out."""
    given = value if isinstance(value, (list, tuple)) else [value]
    return [name for name in map(word_of, given) if name]


Word = Annotated[str, BeforeValidator(word_of)]
Words = Annotated[list[str], BeforeValidator(_words)]


class StatementReply(Lenient):
    """A sentence of the answer, and the labels of the sentences that it rests on (``3.2``)."""

    text: str
    cites: Annotated[list[str], BeforeValidator(_cites)] = Field(default_factory=list)

    @model_validator(mode="before")
    @classmethod
    def _bare(cls, value: Any) -> Any:
        """A bare text is a statement that cites nothing."""
        return {"text": value} if isinstance(value, str) else value


class AnswerReply(Lenient):
    """An answer to a question of evidence.

    Attributes:
        unanswered: numbers of the open points that it leaves open.
        diagnoses: of a patient whom the question tells of, those that are considered by name, the likeliest first.
        emergency: what of this patient needs help at once, "" for nothing.
    """

    statements: list[StatementReply]
    unanswered: Numbers | None = None
    abstain: bool = False
    diagnoses: Words = Field(default_factory=list)
    emergency: Word = ""


class ExamReply(Lenient):
    """An answer that takes one of the options of an examination, whose patient is nobody: its letter or word; "" for
    none. The rest as of `AnswerReply`."""

    statements: list[StatementReply]
    option: Word
    unanswered: Numbers | None = None


class ChoiceReply(ExamReply):
    """The same of any other question with options; what is said of a patient as of `AnswerReply`."""

    diagnoses: Words = Field(default_factory=list)
    emergency: Word = ""


class CaseStatementReply(StatementReply):
    """A sentence on a case: whether it is what was asked, a diagnosis, both named by ``diagnosis``, what to do next, or
    when to seek urgent help."""

    part: Annotated[Literal["asked", "diagnosis", "next", "urgent"], BeforeValidator(_part)] = "next"
    diagnosis: Word = ""


class CaseReply(Lenient):
    """An answer to a case. ``emergency``: what of the case needs help at once, "" for nothing."""

    statements: list[CaseStatementReply]
    unanswered: Numbers | None = None
    emergency: Word = ""


class MendedReply(StatementReply):
    """A statement put right, by its number."""

    number: Number


class MendReply(Lenient):
    """Statements put right, one that is left out stays out; and the option, where it was asked about."""

    statements: list[MendedReply]
    option: Word = ""


# The shape of an answer from a model's own knowledge, as ``direct.md`` asks for it.


def _text(value: Any) -> Any:
    """The text of a statement that came as an object."""
    return value.get("text", value) if isinstance(value, dict) else value


class DirectReply(Lenient):
    """Sentences that nothing was retrieved for; the option taken, what of a case needs help at once, "" for none."""

    statements: list[Annotated[str, BeforeValidator(_text)]]
    option: Word = ""
    emergency: Word = ""


# The shape of a report on a case, as ``report.md`` asks for it (the parts of MedRAG's report).

# Disciplines of treatment; ours: the source sorts by the departments of its own hospital.
Discipline = Literal["medicines", "procedures", "physiotherapy", "psychology", "self_care", "general"]
DISCIPLINES: tuple[Discipline, ...] = get_args(Discipline)


def _discipline(value: Any) -> Any:
    """The discipline as the schema writes it; any other is general."""
    said = str(value).strip().lower().replace(" ", "_").replace("-", "_")
    return said if said in DISCIPLINES else "general"


class TreatmentReply(StatementReply):
    """A suggestion of treatment, and the discipline that it belongs to."""

    discipline: Annotated[Discipline, BeforeValidator(_discipline)] = "general"


class ReportReply(Lenient):
    """A report; a part of which nothing is known is empty."""

    diagnoses: list[StatementReply]
    explanation: list[StatementReply] = Field(default_factory=list)
    treatment: list[TreatmentReply] = Field(default_factory=list)
    evaluations: list[StatementReply] = Field(default_factory=list)


# The shape of a model's check of statements, as ``verification.md`` asks for it.


class CheckedReply(Lenient):
    """Whether the quotes of one statement support it."""

    number: Number
    reason: str = ""
    supported: bool


class VerificationReply(Lenient):
    """A verdict for every statement."""

    verdicts: list[CheckedReply] = Field(default_factory=list)
