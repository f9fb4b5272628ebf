"""What the graph's YAML files may say. docs/knowledge-format.md explains each field."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from tools.evidence import Frozen

Id = Annotated[str, Field(pattern=r"^[a-z0-9]+(?:-[a-z0-9]+)*$")]
Words = Annotated[str, Field(min_length=1)]
Relation = Literal[
    "symptomatology", "lifestyle", "anamnesis", "therapy", "exposure", "immunology", "psychopathology"
]  # paper: the relations of the fourth level
# ours: a distinction is a sentence that tells a disease from its neighbours: shown in K, never matched
Kind = Literal["symptom", "sign", "test", "history", "exposure", "habit", "treatment", "distinction"]
Site = Literal[
    "head", "face", "eye", "ear", "nose", "mouth", "throat", "neck", "chest", "breast", "back", "abdomen",
    "upper-abdomen",
    "lower-abdomen", "groin", "pelvis", "genital", "arm", "hand", "leg", "foot", "joint", "skin", "whole-body",
]  # fmt: skip
HowOften = Literal["always", "usual", "common", "occasional", "rare", "absent"]
HowCommon = Literal["very_common", "common", "uncommon", "rare", "very_rare"]
DiseaseSeverity = Literal["emergency", "urgent", "routine", "self_limiting", "unknown"]
Polarity = Literal["present", "absent"]
MIN_SAY, MAX_SAY, MAX_SAY_ZH = 3, 8, 4  # docs/knowledge-format.md: wordings of a finding in a written graph
MIN_MANIFESTATIONS, MIN_A, MIN_D = 8, 2, 5  # docs/knowledge-format.md


class About(Frozen):
    """What a graph is.

    Attributes:
        name: stands in the ids of its entries, ``graph:starter/gerd``.
        origin: ``written`` by hand, ``built`` from records, ``imported`` from a file; only a written one must be full.
        source: what it was made from. licence: of the source. note: repairs and limits.
    """

    name: Id = "starter"
    origin: Literal["written", "built", "imported"] = "written"
    source: str = ""
    licence: str = ""
    note: str = ""


class Category(Frozen):
    """A first-level node (L1)."""

    id: Id
    name: Words
    zh: Words


class Subcategory(Category):
    """A second-level node (L2) with its one parent."""

    l1: Id


class FindingNode(Frozen):
    """A fourth-level node (L4): something that a patient may have."""

    id: Id
    name: Words
    zh: Words
    relation: Relation
    kind: Kind
    site: Site | None = None
    broader: Id | None = None
    sided: bool = False
    say: tuple[Words, ...] = ()
    say_zh: tuple[Words, ...] = ()
    ask: Words | None = None
    ask_zh: Words | None = None

    @property
    def is_therapy(self) -> bool:
        """A treatment: shown in K, never matched, voted on or asked about (ours)."""
        return self.relation == "therapy" or self.kind == "treatment"

    @property
    def only_shown(self) -> bool:
        """A treatment or a distinction: in K and in entries, never matched, voted on, missed or asked about."""
        return self.is_therapy or self.kind == "distinction"


class Ages(Frozen):
    """Years: hard limits, and the usual range within them."""

    min: float = Field(ge=0, le=120)
    max: float = Field(ge=0, le=120)
    typical: tuple[float, float]

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        low, high = self.typical
        if not self.min <= low <= high <= self.max:
            raise ValueError("ages must be min <= typical <= max")
        return self


class Manifestation(Frozen):
    """An edge from a disease to a finding.

    Attributes:
        roles: ``d`` typical presentation (L4d), ``a`` tells it apart (L4a).
        rate: share of patients with the disease who have the finding, counted in ``records`` records; None: estimated.
        value: of a finding with a number, as ``4-7``.
        source: where the edge comes from (``records``, ``starter``, ``library:gerd@0-80``, ``generated:<model>``);
            "" for the graph's own source.
    """

    finding: Id
    how_often: HowOften
    roles: tuple[Literal["d", "a"], ...] = Field(min_length=1, max_length=2)
    side: Literal["left", "right", "one", "both"] | None = None
    site: Site | None = None
    onset: Literal["sudden", "hours", "days", "weeks", "months"] | None = None
    note: Words | None = None
    rate: float | None = Field(default=None, ge=0, le=1)
    records: int | None = Field(default=None, ge=1)
    value: Words | None = None
    source: str = ""

    @property
    def polarity(self) -> Polarity:
        """``absent`` for a finding whose presence speaks against the disease."""
        return "absent" if self.how_often == "absent" else "present"

    @model_validator(mode="after")
    def _roles_once(self) -> Self:
        if len(set(self.roles)) != len(self.roles):
            raise ValueError("a role stands twice")
        return self


class Disease(Frozen):
    """A third-level node (L3) with its one parent and its edges to findings."""

    id: Id
    name: Words
    zh: Words
    aliases: tuple[Words, ...] = ()
    aliases_zh: tuple[Words, ...] = ()
    icd10: Annotated[str, Field(pattern=r"^(?:[A-Z]\d[0-9A-Z](?:\.[0-9A-Z]{1,4})?)?$")] = ""
    l2: Id
    how_common: HowCommon
    severity: DiseaseSeverity
    sex: Literal["any", "female", "male"]
    ages: Ages
    red_flags: tuple[Words, ...] = ()
    red_flags_zh: tuple[Words, ...] = ()
    manifestations: tuple[Manifestation, ...]


class Graph(BaseModel):
    """The whole graph, checked by `tools.knowledge_graph.loader`; every list is in file order."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    categories: tuple[Category, ...]
    subcategories: tuple[Subcategory, ...]
    findings: tuple[FindingNode, ...]
    diseases: tuple[Disease, ...]
    about: About = About()

    def entry_id(self, disease: str) -> str:
        """The id under which an answer cites the entry on a disease."""
        return f"graph:{self.about.name}/{disease}"

    @cached_property
    def finding(self) -> dict[str, FindingNode]:
        """Findings by id."""
        return {f.id: f for f in self.findings}

    @cached_property
    def disease(self) -> dict[str, Disease]:
        """Diseases by id."""
        return {d.id: d for d in self.diseases}

    @cached_property
    def l2(self) -> dict[str, Subcategory]:
        """Subcategories by id."""
        return {s.id: s for s in self.subcategories}

    def broader(self, finding: str) -> list[str]:
        """The more general findings that a finding implies, nearest first."""
        return self.above[finding]

    @cached_property
    def above(self) -> dict[str, list[str]]:
        """For each finding the more general ones that it implies, nearest first."""
        out: dict[str, list[str]] = {f.id: [] for f in self.findings}
        for finding, found in out.items():
            above = self.finding[finding].broader
            while above is not None:
                found.append(above)
                above = self.finding[above].broader
        return out

    @cached_property
    def narrower(self) -> dict[str, list[str]]:
        """For each finding, every finding that implies it."""
        below: dict[str, list[str]] = {f.id: [] for f in self.findings}
        for f in self.findings:
            for above in self.broader(f.id):
                below[above].append(f.id)
        return below
