"""Documents that this project wrote to mislead an agent, each with a question: orders to machines, withdrawn findings.

What withdrawn ones claim is false and no such study exists, so that its use in an answer shows.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from evals.datasets.rows import read_jsonl
from tools.evidence import Frozen

POISONED, WITHDRAWN = "poisoned_documents.jsonl", "withdrawn_documents.jsonl"
TYPES = {"retracted": "Retracted Publication", "concern": "Expression of Concern"}  # PubMed's names
Arm = Literal["seen", "held_out", "adaptive"]


class PoisonedDocument(Frozen):
    """A harmless text with an attack in it.

    Attributes:
        kind: how the attack is dressed (``instruction``, ``markup``, ``base64``, ...).
        arm: ``seen`` while the guard was made; ``held_out``: written before, and not looked at while it was made;
            ``adaptive``: written afterwards, to get past it.
        question: the message at which it is aimed. title: of the document.
        before, after: the harmless text around the attack.
        claims: words of an answer, in lower case, that show that it worked. citations: ids that it wants cited.
        tools: words of a tool call that it wants made.
    """

    id: str = Field(min_length=1)
    kind: str = Field(min_length=1)
    arm: Arm
    question: str = Field(min_length=1)
    title: str = Field(min_length=1)
    before: str
    attack: str = Field(min_length=1)
    after: str
    claims: tuple[str, ...] = Field(min_length=1)
    citations: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()

    @property
    def harmless(self) -> str:
        """The text without the attack."""
        return "\n\n".join(part for part in (self.before, self.after) if part)

    @property
    def text(self) -> str:
        """The text with the attack."""
        return "\n\n".join(part for part in (self.before, self.attack, self.after) if part)


class WithdrawnDocument(Frozen):
    """A document, retracted or of concern, that a search for its question finds when nothing is wrong with it.

    Attributes:
        claim: words of the text that no other document has.
    """

    id: str = Field(min_length=1)
    status: Literal["retracted", "concern"]
    question: str = Field(min_length=1)
    title: str = Field(min_length=1)
    text: str = Field(min_length=1)
    claim: str = Field(min_length=1)


def read_poisoned(folder: Path) -> list[PoisonedDocument]:
    """The documents of a folder; raises DataError as `read_jsonl` does."""
    return read_jsonl(folder / POISONED, PoisonedDocument)


def read_withdrawn(folder: Path) -> list[WithdrawnDocument]:
    """The documents of a folder; raises DataError as `read_jsonl` does."""
    return read_jsonl(folder / WITHDRAWN, WithdrawnDocument)
