"""The shape of a model's choice of documents with what each does, as ``choosing.md`` asks for it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from prompts.filter import Share
from prompts.reading import SentenceNumbers
from prompts.selection import KeptReply
from prompts.shown import Lenient

STANCES = ("supports", "refutes", "conflicts", "relevant", "irrelevant")
OTHER = {"silent": "irrelevant"}  # a word of the reading's that a model may take over; every other one is relevant


def _stance(value: Any) -> Any:
    word = str(value).strip().strip(".").lower()
    return word if word in STANCES else OTHER.get(word, "relevant")


class ChosenReply(KeptReply):
    """A document that is kept, and what it does to the question or in the case."""

    stance: Annotated[
        Literal["supports", "refutes", "conflicts", "relevant", "irrelevant"], BeforeValidator(_stance)
    ] = "relevant"
    support: Share = 0.5
    sentences: SentenceNumbers = Field(default_factory=list)


class ChoosingReply(Lenient):
    """The documents that are kept, the most useful first."""

    keep: list[ChosenReply]
