"""What building a graph passes along, and its four judgements; each has a local and a model's implementation.

Source: MedRAG (arXiv 2502.04413): diagnoses are clustered, topics aggregated upward, manifestations decomposed (L4d)
and augmented (L4a).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from pydantic import Field

from tools.evidence import Frozen
from tools.knowledge_graph.schema import Relation

UNCLASSIFIED = "Unclassified"


class Record(Frozen):
    """A patient's record: the diagnosis as it was written, and the text. ``age`` in years."""

    id: str = Field(min_length=1)
    diagnosis: str = Field(min_length=1)
    text: str = Field(min_length=1)
    age: float | None = Field(default=None, ge=0, le=130)
    sex: Literal["F", "M"] | None = None


class Merge(Frozen):
    """Raw diagnoses that are taken as one disease.

    Attributes:
        into: the name that stands for all. code: ICD-10, "" when none was found.
        why: of the surest of the reasons. merge: whether they are merged; what is unsure is proposed with False.
        known: id of the starter graph's disease that it is, "" for none.
    """

    into: str
    names: tuple[str, ...] = Field(min_length=1)
    why: str
    merge: bool = True
    code: str = ""
    known: str = ""


class Topic(Frozen):
    """A node of a higher level: its name, and the positions of what lies under it."""

    name: str = Field(min_length=1)
    members: tuple[int, ...] = Field(min_length=1)
    code: str = ""


class Named(Frozen):
    """What is aggregated: a name and its ICD-10 code or range, "" for none."""

    name: str
    code: str = ""


class Told(Frozen):
    """A manifestation as one record tells it.

    Attributes:
        text: what is told, without the words that deny it. present: False when it is denied, None when uncertain.
        value: a number or a range as told. other: it is about a relative.
    """

    text: str = Field(min_length=1)
    present: bool | None = True
    relation: Relation = "symptomatology"
    side: Literal["left", "right", "both"] | None = None
    value: str | None = None
    other: bool = False


class Distinction(Frozen):
    """What tells a disease apart (L4a), and where it comes from.

    Attributes:
        finding: id of the starter graph's finding, "" for a sentence.
        against: its presence speaks against the disease.
        source: ``starter``, ``library:gerd@0-80`` or ``generated:<model>``.
    """

    text: str = Field(min_length=1)
    relation: Relation = "symptomatology"
    source: str
    finding: str = ""
    against: bool = False


class Clustering(Protocol):
    """Which raw diagnoses are one disease."""

    async def cluster(self, names: Sequence[str]) -> list[Merge]:
        """Every name stands in just one merge with ``merge`` True; proposals (False) name two or more again."""


class Topics(Protocol):
    """Aggregation to the next level."""

    async def group(self, nodes: Sequence[Named], level: Literal["l2", "l1"]) -> list[Topic]:
        """Every position stands under just one topic; what has none goes under `UNCLASSIFIED`."""


class Decomposition(Protocol):
    """From a record's text to single manifestations."""

    async def decompose(self, record: Record) -> list[Told]:
        """The manifestations, in the order of the text; nothing that the text does not say."""


class Augmentation(Protocol):
    """What tells a disease from its neighbours."""

    async def augment(self, disease: Merge, neighbours: Sequence[str]) -> list[Distinction]:
        """The distinctions, each with its source; none where nothing is known."""


@dataclass(frozen=True)
class Judges:
    """The four judgements of a build. ``name`` goes into the journal, so that another's results are not reused."""

    name: str
    clustering: Clustering
    topics: Topics
    decomposition: Decomposition
    augmentation: Augmentation | None = None
