"""What the graph's YAML files may say. docs/knowledge-format.md explains each field."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Annotated, Any, Literal, Self

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
MIN_SAY, MAX_SAY, MAX_SAY_ZH = 3, 8, 12  # docs/knowledge-format.md: wordings of a finding in a written graph
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
    """A fourth-level node (L4): something that a patient may have.

    Attributes:
        circumstance: whoever tells of the patient tells of it: silence speaks against a disease that is never without.
    """

    id: Id
    name: Words
    zh: Words
    relation: Relation
    kind: Kind
    site: Site | None = None
    broader: Id | None = None
    circumstance: bool = False
    sided: bool = False
    say: tuple[Words, ...] = ()
    say_zh: tuple[Words, ...] = ()
    ask: Words | None = None
    ask_zh: Words | None = None

    @property
    def of_family(self) -> bool:
        """What relatives have had, by its id."""
        return "family" in self.id.split("-")

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


LONGEST_ID = 120  # ours: characters of an id


def slug(text: str) -> str:
    """An id: lower case, ASCII, words joined by one hyphen; "" when nothing is left."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")


def key_of(text: str) -> str:
    """An id of its own for every wording: its slug, and where letters or the end are lost in that, a checksum too."""
    base = slug(text)
    lost = any(c.isalpha() and not slug(c) for c in text)
    if not lost and len(base) <= LONGEST_ID:
        return base
    digest = hashlib.sha256(" ".join(text.casefold().split()).encode()).hexdigest()[:8]
    return f"{base[: LONGEST_ID - 9].strip('-')}-{digest}".strip("-")


# What is wrong with a graph: every problem at once, whatever file the graph was read from.

# (node, where it stands) pairs, as read
Read = list[tuple[Any, str]]


def graph_problems(about: About, l1: Read, l2: Read, findings: Read, diseases: Read) -> list[str]:
    """Every problem, each with the file and the id that it concerns.

    A written graph must be full (docs/knowledge-format.md): so many wordings a finding, so many edges a disease.
    """
    full = about.origin == "written"
    problems: list[str] = []
    for level, nodes in (("L1", l1), ("L2", l2), ("finding", findings), ("disease", diseases)):
        problems += _duplicates(level, nodes)
    problems += [] if diseases else ["there is no disease"]
    problems += _taxonomy_problems(l1, l2, diseases)
    problems += _finding_problems(findings, full=full)
    return problems + list(_disease_problems(findings, diseases, full=full))


def problems_of(graph: Graph, where: str) -> list[str]:
    """The problems of a graph in memory; ``where`` names it in each."""
    parts = (graph.categories, graph.subcategories, graph.findings, graph.diseases)
    return graph_problems(graph.about, *([(node, where) for node in nodes] for nodes in parts))


def _duplicates(level: str, nodes: Read) -> Iterator[str]:
    times = Counter(node.id for node, _ in nodes)
    for node, file in nodes:
        if times[node.id] > 1:
            yield f"{file}: {node.id}: {level} id stands {times[node.id]} times"


def _taxonomy_problems(l1: Read, l2: Read, diseases: Read) -> Iterator[str]:
    l1_ids, l2_ids = {n.id for n, _ in l1}, {n.id for n, _ in l2}
    for node, file in l2:
        if node.l1 not in l1_ids:
            yield f"{file}: {node.id}: unknown L1 {node.l1!r}"
    for node, file in diseases:
        if node.l2 not in l2_ids:
            yield f"{file}: {node.id}: unknown L2 {node.l2!r}"
    yield from _unused("L1", l1, {n.l1 for n, _ in l2})
    yield from _unused("L2", l2, {n.l2 for n, _ in diseases})


def _unused(level: str, nodes: Read, used: set[str]) -> Iterator[str]:
    for node, file in nodes:
        if node.id not in used:
            yield f"{file}: {node.id}: orphan, nothing uses this {level}"


def _finding_problems(findings: Read, *, full: bool) -> Iterator[str]:
    broader = {node.id: node.broader for node, _ in findings}
    owner: dict[str, tuple[str, str]] = {}
    for node, file in findings:
        if node.broader is not None and node.broader not in broader:
            yield f"{file}: {node.id}: unknown broader finding {node.broader!r}"
        elif _in_circle(node.id, broader):
            yield f"{file}: {node.id}: its broader findings run in a circle"
        if node.relation == "therapy" and node.kind != "treatment":
            yield f"{file}: {node.id}: a therapy must be of kind treatment"
        if full:
            yield from (f"{file}: {node.id}: {words}" for words in _wrong_wordings(node))
        for phrase in (node.name, *node.say, node.zh, *node.say_zh):
            key = " ".join(phrase.casefold().split())
            first, where = owner.setdefault(key, (node.id, file))
            if first != node.id:
                yield f"{file}: {node.id}: phrase {phrase!r} stands under {first} too ({where})"


def _wrong_wordings(node: FindingNode) -> Iterator[str]:
    if not MIN_SAY <= len(node.say) <= MAX_SAY:
        yield f"{len(node.say)} wordings in say, {MIN_SAY} to {MAX_SAY} are wanted"
    if not 1 <= len(node.say_zh) <= MAX_SAY_ZH:
        yield f"{len(node.say_zh)} wordings in say_zh, 1 to {MAX_SAY_ZH} are wanted"


def _in_circle(start: str, broader: dict[str, str | None]) -> bool:
    seen: set[str] = set()
    at: str | None = start
    while at is not None and at not in seen:
        seen.add(at)
        at = broader.get(at)
    return at is not None


def _disease_problems(findings: Read, diseases: Read, *, full: bool) -> Iterator[str]:
    known = {node.id: node for node, _ in findings}
    used: set[str] = set()
    for disease, file in diseases:
        ids = [m.finding for m in disease.manifestations]
        used.update(ids)
        yield from (f"{file}: {disease.id}: unknown finding {i!r}" for i in ids if i not in known)
        yield from (f"{file}: {disease.id}: finding {i!r} stands twice" for i, n in Counter(ids).items() if n > 1)
        if full:
            yield from (f"{file}: {disease.id}: {words}" for words in _too_few(disease, known))
        elif not ids:
            yield f"{file}: {disease.id}: no manifestation"
        if full:
            yield from (f"{file}: {disease.id}: {words}" for words in _contradictions(disease, known))
        if full and not disease.icd10:
            yield f"{file}: {disease.id}: icd10 is missing"
    general = {} if full else {node.id: node.broader for node, _ in findings}  # a value of a used finding is used
    for node, file in findings:
        if node.id not in used and general.get(node.id) not in used:
            yield f"{file}: {node.id}: orphan, no disease uses this finding"


SELDOM = ("absent", "rare", "occasional", "common", "usual", "always")  # how often, least first


def _contradictions(disease: Disease, known: dict[str, FindingNode]) -> Iterator[str]:
    """What a finding implies is met at least as often as the finding itself, and does not speak against the disease."""
    often = {m.finding: m.how_often for m in disease.manifestations}
    for finding, how_often in often.items():
        above, seen = known[finding].broader if finding in known else None, {finding}
        while above in known and above not in seen:
            if above in often and SELDOM.index(often[above]) < SELDOM.index(how_often):
                yield f"{finding!r} is {how_often}, but {above!r}, which it implies, {often[above]}"
            seen.add(above)
            above = known[above].broader


def _too_few(disease: Disease, known: dict[str, FindingNode]) -> Iterator[str]:
    edges: Sequence[Any] = disease.manifestations
    count_a = sum("a" in m.roles for m in edges)
    count_d = sum("d" in m.roles and not (m.finding in known and known[m.finding].only_shown) for m in edges)
    if len(edges) < MIN_MANIFESTATIONS:
        yield f"{len(edges)} manifestations, at least {MIN_MANIFESTATIONS} are needed"
    if count_a < MIN_A:
        yield f"{count_a} manifestations with role a, at least {MIN_A} are needed"
    if count_d < MIN_D:
        yield f"{count_d} manifestations with role d that are no treatment, at least {MIN_D} are needed"
