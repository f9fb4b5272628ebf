"""Written documents with made-up findings that are marked as retracted or of concern, each with a question.

They were written for this project: no such study exists. What they claim is false, so that its use in an answer shows.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from evals.datasets.rows import read_jsonl

FILE = "withdrawn_documents.jsonl"
TYPES = {"retracted": "Retracted Publication", "concern": "Expression of Concern"}  # PubMed's names


class WithdrawnDocument(BaseModel):
    """A document that a search for its question finds when nothing is wrong with it.

    Attributes:
        claim: words of the text that no other document has.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(min_length=1)
    status: Literal["retracted", "concern"]
    question: str = Field(min_length=1)
    title: str = Field(min_length=1)
    text: str = Field(min_length=1)
    claim: str = Field(min_length=1)


def read_withdrawn(folder: Path) -> list[WithdrawnDocument]:
    """The documents of a folder; raises DataError as `read_jsonl` does."""
    return read_jsonl(folder / FILE, WithdrawnDocument)
