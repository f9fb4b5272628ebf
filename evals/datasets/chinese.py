"""The Chinese cases that the project ships, in two sets: complete and sparse, with what is expected of some."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from evals.datasets.rows import read_yaml_rows

FOLDER = Path(__file__).parent.parent / "resources"
FIRST, SECOND = FOLDER / "chinese_cases.yaml", FOLDER / "chinese_cases_second.yaml"


class ChineseCase(BaseModel):
    """A case of one disease of the starter graph.

    Attributes:
        sentences: the complete case, a unit each. sparse: what is left of it when most is not told.
        labels: the letter that each sentence should have; "" where none was judged.
        terms: words of the case that must stay whole as tokens.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(min_length=1)
    disease: str = Field(min_length=1)
    department: str
    style: Literal["lay", "clinical"]
    sentences: tuple[str, ...] = Field(min_length=2)
    sparse: str = Field(min_length=1)
    labels: str = Field(default="", pattern="^[ABC]*$")
    terms: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.labels and len(self.labels) != len(self.sentences):
            raise ValueError("labels: one letter a sentence")
        lost = [t for t in self.terms if t not in self.text]
        if lost:
            raise ValueError(f"terms that the case does not hold: {', '.join(lost)}")
        return self

    @property
    def text(self) -> str:
        """The complete case."""
        return "".join(self.sentences)


def read_chinese(path: Path) -> list[ChineseCase]:
    """The cases, in the order of the file; raises DataError when a row is damaged."""
    return read_yaml_rows(path, ChineseCase)
