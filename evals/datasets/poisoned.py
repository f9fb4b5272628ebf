"""Written documents that try to give an agent orders, each with the question at which it is aimed."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from evals.datasets.rows import read_jsonl

FILE = "poisoned_documents.jsonl"
Arm = Literal["seen", "held_out", "adaptive"]


class PoisonedDocument(BaseModel):
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

    model_config = ConfigDict(frozen=True, extra="forbid")

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


def read_poisoned(folder: Path) -> list[PoisonedDocument]:
    """The documents of a folder; raises DataError as `read_jsonl` does."""
    return read_jsonl(folder / FILE, PoisonedDocument)
