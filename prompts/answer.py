"""The shapes of a model's answers, as ``answer.md``, ``answer_case.md``, ``choice.md`` and ``answer_mend.md`` ask.

What is forgiven loses nothing: a bare text for a statement, a single quote for a list, a number written in brackets.
Whether a document was given, and whether a quote stands in it, is judged by the answerer.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from prompts.shown import Lenient, Number

LABEL = re.compile(r"\b(b(?:ackground)?)?\W{0,3}?(\d{1,6})\b", re.IGNORECASE)

# What is said about generated background, by the policy of the settings; "" where none is shown.
BACKGROUND_RULES = {
    "": "",
    "context": "Background (B1, B2, ...) was written by a language model and may be wrong. It may help you to"
    " understand the documents. No statement may rest on it, and it cannot be quoted.",
    "allowed": "Background (B1, B2, ...) was written by a language model and may be wrong. Quote the documents"
    " wherever they say the same. A statement that only background supports names it (document B1) with an empty"
    " quote.",
}

# What a model is told about a statement that cannot stand.
FAULTS = {
    "empty": "it has no sentence of a usual length",
    "uncited": "it quotes no document",
    "unknown": "there is no document {detail}",
    "background": "it rests on background, which is no evidence",
    "quote": "its quotes do not stand in the documents that it names",
    "order": "it repeats an instruction that stands in a document",
    "reference": "it names a reference (a link, a PMID, a DOI) that its quotes do not name",
    "names": "what it quotes does not mention {detail}",
    "numbers": "it has a figure that its quotes do not have",
    "negation": "it denies what its quotes affirm, or the reverse",
    "medicine": "it names a medicine that its quotes do not name",
    "strength": "it is more certain than its quotes",
    "words": "its quotes do not say it",
}


def _label(value: Any) -> Any:
    """``3``, ``"[3]"`` and ``"document 3"`` are ``"3"``; ``"b1"`` and ``"background 1"`` are ``"B1"``."""
    found = LABEL.search(str(value))
    return f"{'B' if found[1] else ''}{int(found[2])}" if found else str(value)


def _listed(value: Any) -> Any:
    """A list of what came alone; nothing for null."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _part(value: Any) -> Any:
    """The part as the schema writes it; what is none of them is left to the place of the statement."""
    said = str(value).strip().lower()
    return said if said in ("diagnosis", "next", "urgent") else "next"


def _word(value: Any) -> str:
    """A text; "" for null."""
    return "" if value is None else str(value).strip()


class QuoteReply(Lenient):
    """Words of a document. ``document`` is its number, ``B`` before that of a background."""

    document: Annotated[str, BeforeValidator(_label)]
    quote: Annotated[str, BeforeValidator(_word)] = ""


class StatementReply(Lenient):
    """A sentence of the answer, and the words that it rests on."""

    text: str
    quotes: Annotated[list[QuoteReply], BeforeValidator(_listed)] = Field(default_factory=list)

    @model_validator(mode="before")
    @classmethod
    def _bare(cls, value: Any) -> Any:
        """A bare text is a statement without a quote."""
        return {"text": value} if isinstance(value, str) else value


class AnswerReply(Lenient):
    """An answer to a question of evidence."""

    statements: list[StatementReply]
    abstain: bool = False


class ChoiceReply(Lenient):
    """An answer that takes one of the options: its letter, or yes, no, maybe; "" for none."""

    statements: list[StatementReply]
    option: Annotated[str, BeforeValidator(_word)]


class CaseStatementReply(StatementReply):
    """A sentence on a case: a diagnosis, what to do next, or when to seek urgent help."""

    part: Annotated[Literal["diagnosis", "next", "urgent"], BeforeValidator(_part)] = "next"


class CaseReply(Lenient):
    """An answer to a case."""

    statements: list[CaseStatementReply]


class MendedReply(StatementReply):
    """A statement put right, by its number."""

    number: Number


class MendReply(Lenient):
    """Statements put right; one that is left out stays out."""

    statements: list[MendedReply]
