"""The shape of what a model read in the documents of a turn, as ``reading.md`` asks for it."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from prompts.shown import Lenient, Number, Numbers

MOST = 200  # ours: sentences that a range may name; more is a slip
LABEL = re.compile(r"(?:\d{1,4}\.)?(\d{1,4})(?:\s*[-–]\s*(?:\d{1,4}\.)?(\d{1,4}))?")
STANCES = ("supports", "refutes", "mixed", "speaks", "silent")


def sentence_numbers(value: Any) -> list[int]:
    """The numbers of sentences of what a model gave for them: ``[2, "3.4", "5-7"]``, ``"[3.2], [3.5]"``, null."""
    items = value if isinstance(value, (list, tuple)) else [value]
    out: list[int] = []
    for first, last in (found.groups() for item in items for found in LABEL.finditer(str(item))):
        out += range(int(first), min(int(last or first), int(first) + MOST) + 1)
    return out


def _listed(value: Any) -> Any:
    """A list, also of one bare value; nothing for null."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _stance(value: Any) -> Any:
    """The word as the schema writes it; a word that it does not have says that the document speaks."""
    word = str(value).strip().strip(".").lower()
    return word if word in STANCES else "speaks"


SentenceNumbers = Annotated[list[int], BeforeValidator(sentence_numbers)]


class DocumentReply(Lenient):
    """A document that says something: its number, what it does to the question, and the sentences that say it."""

    number: Number
    stance: Annotated[Literal["supports", "refutes", "mixed", "speaks", "silent"], BeforeValidator(_stance)] = "speaks"
    sentences: SentenceNumbers = Field(default_factory=list)


class NeedReply(Lenient):
    """A need, and the numbers of the documents that answer it."""

    number: Number
    documents: Numbers = Field(default_factory=list)


class MissingReply(Lenient):
    """What no document says: the need that it belongs to, 0 for a new one, and what to search for."""

    need: Number = 0
    query: str

    @model_validator(mode="before")
    @classmethod
    def _bare(cls, value: Any) -> Any:
        """A bare phrase is a new need."""
        return {"query": value} if isinstance(value, str) else value


class ReadingReply(Lenient):
    """What each document says, which needs are answered, and what is missing."""

    documents: Annotated[list[DocumentReply], BeforeValidator(_listed)]
    needs: Annotated[list[NeedReply], BeforeValidator(_listed)] = Field(default_factory=list)
    missing: Annotated[list[MissingReply], BeforeValidator(_listed)] = Field(default_factory=list)
