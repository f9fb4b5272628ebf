"""The graph of a build: diseases, topics, counted edges and distinctions put together."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from tools.encoders import Encoder
from tools.knowledge_graph.building.contract import Distinction, Merge, Record, Told, Topic
from tools.knowledge_graph.building.judges import clusters, may_meet
from tools.knowledge_graph.lexicon import characters, words
from tools.knowledge_graph.schema import (
    About,
    Ages,
    Category,
    Disease,
    FindingNode,
    Graph,
    HowCommon,
    HowOften,
    Kind,
    Manifestation,
    Relation,
    Subcategory,
    slug,
)
from tools.text.body_sites import sites
from tools.text.language import language_of

# Told manifestations of all records to findings (L4d): the same words are one, near wordings are merged.
SAME = 0.93  # ours: cosine from which two wordings of records are one finding, unless words forbid it
SAY = 8  # ours: wordings kept a finding, the most frequent
LONGEST_ID = 80  # ours: characters of an id
KINDS: dict[Relation, Kind] = {
    "symptomatology": "symptom",
    "psychopathology": "symptom",
    "anamnesis": "history",
    "exposure": "exposure",
    "lifestyle": "habit",
    "immunology": "history",
    "therapy": "treatment",
}
_SIDE = re.compile(r"\b(?:left|right|both)\b(?:[- ]sided| sides?)?", re.IGNORECASE)
_PEOPLE = r"(?:son|daughter|child|baby|boy|girl|wife|husband|partner|mother|father|patient|man|woman)"
_LEAD = re.compile(
    rf"^(?:I|he|she|they|patient|(?:my|our|the|this) {_PEOPLE})\s+(?:have|has|had)"
    r"(?:\s+(?:had|been))?\s+(?:an?\s+)?(?=\S)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)?(?:个?(?:小时|天|日|周|月|年|岁|次|度|℃))?")


@dataclass
class Group:
    """One finding to be: its wordings with their counts, and where it was told."""

    wordings: Counter[str] = field(default_factory=Counter)
    relations: Counter[Relation] = field(default_factory=Counter)
    sided: bool = False
    family: bool = False


@dataclass(frozen=True)
class Findings:
    """The findings, and for each manifestation (by `key_of`) the position of its finding."""

    nodes: tuple[FindingNode, ...]
    of: dict[str, int]


def key_of(told: Told) -> str:
    """What makes a manifestation the same: its words without numbers and sides, and of whom it is told."""
    bare = _NUMBER.sub(" ", _SIDE.sub(" ", told.text))
    said = words(_LEAD.sub("", bare)) + characters(bare)
    return ("family " if told.other else "") + " ".join(sorted(set(said)) or [told.text.casefold()])


def findings_of(told: Sequence[Told], encoder: Encoder) -> Findings:
    """Merge what is told. The most frequent wording names a finding; numbers and sides are on the edges."""
    groups: dict[str, Group] = defaultdict(Group)
    for t in told:
        group = groups[key_of(t)]
        group.wordings[_plain(t)] += 1
        group.relations[t.relation] += 1
        group.sided |= t.side is not None
        group.family |= t.other
    keys = list(groups)
    names = [groups[k].wordings.most_common(1)[0][0] for k in keys]
    family = {n: groups[k].family for k, n in zip(keys, names, strict=True)}
    merged = clusters(names, encoder.encode_documents(names), SAME, lambda a, b: _may_merge(a, b, family))
    nodes: list[FindingNode] = []
    used: set[str] = set()
    ids: set[str] = set()
    of: dict[str, int] = {}
    for positions in merged:
        of |= {keys[i]: len(nodes) for i in positions}
        nodes.append(_node([groups[keys[i]] for i in positions], used, ids))
    return Findings(tuple(nodes), of)


def _may_merge(one: str, other: str, family: dict[str, bool]) -> bool:
    return family[one] == family[other] and sites(one) == sites(other) and may_meet(one, other)


def _plain(told: Told) -> str:
    text = " ".join(_SIDE.sub(" ", _NUMBER.sub(" ", told.text)).split())
    return text or told.text


def _node(groups: Sequence[Group], used: set[str], ids: set[str]) -> FindingNode:
    wordings, relations = Counter[str](), Counter[Relation]()
    for g in groups:
        wordings.update(g.wordings)
        relations.update(g.relations)
    relation = relations.most_common(1)[0][0]
    best = wordings.most_common(1)[0][0]
    name = _free(_LEAD.sub("", best), used) or _free(best, used) or f"{best} ({len(ids) + 1})"
    say = [w for w, _ in wordings.most_common(SAY) if ((w == best and w != name) or w != best) and _free(w, used)]
    family = any(g.family for g in groups)
    return FindingNode(
        id=_id(f"family {name}" if family else name, ids),
        name=name,
        zh=name,
        relation=relation,
        kind=KINDS[relation],
        sided=any(g.sided for g in groups),
        say=tuple(w for w in say if language_of(w) != "zh"),
        say_zh=tuple(w for w in say if language_of(w) == "zh"),
    )


def _free(phrase: str, used: set[str]) -> str:
    """The phrase, taken from now on; "" when another finding has it."""
    key = " ".join(phrase.casefold().split())
    if not key or key in used:
        return ""
    used.add(key)
    return phrase


def _id(name: str, ids: set[str]) -> str:
    chosen = _free_key(slug(name)[:LONGEST_ID].strip("-") or "finding", ids)
    ids.add(chosen)
    return chosen


# Presence rates of findings in diseases, counted from records: the edges of role d.
Side = Literal["left", "right", "one", "both"]

# ours: the ranges of docs/knowledge-format.md, from the top
HOW_OFTEN: tuple[tuple[float, HowOften], ...] = ((0.9, "always"), (0.6, "usual"), (0.3, "common"), (0.1, "occasional"))
DENIED = 0.5  # ours: share of a disease's records that must deny what others have, for an edge against it
# ours: a disease's records against the mean of all diseases
HOW_COMMON: tuple[tuple[float, HowCommon], ...] = (
    (3.0, "very_common"),
    (0.7, "common"),
    (0.3, "uncommon"),
    (0.1, "rare"),
)
FEW = 10  # ours: records below which ages tell nothing of a disease
OLDEST = 120.0  # the schema's bound
TYPICAL = (10, 90)  # ours: percentiles of the ages that are called typical


@dataclass
class Tally:
    """What the records of one disease say of one finding."""

    present: int = 0
    denied: int = 0
    sides: Counter[Side] = field(default_factory=Counter)
    values: list[float] = field(default_factory=list)


def tallies(records: Sequence[Record], told: Mapping[str, Sequence[Told]], findings: Findings) -> dict[int, Tally]:
    """For each finding (by position) what the records of one disease say; a record counts once for a finding."""
    out: dict[int, Tally] = defaultdict(Tally)
    for record in records:
        by_finding: dict[int, list[Told]] = defaultdict(list)
        for t in told[record.id]:
            by_finding[findings.of[key_of(t)]].append(t)
        for at, items in by_finding.items():
            tally = out[at]
            stated = [t for t in items if t.present is not False]
            tally.present += bool(stated)
            tally.denied += not stated
            sides = {t.side for t in stated if t.side is not None}
            if sides:
                tally.sides["both" if len(sides) > 1 else sides.pop()] += 1
            tally.values += [
                float(t.value.replace(",", ".")) for t in stated if t.value is not None and _number(t.value)
            ]
    return out


def edges(tally: Mapping[int, Tally], findings: Findings, n: int, ever: frozenset[int]) -> list[Manifestation]:
    """The edges of role d of a disease with ``n`` records, most frequent first; ``ever``: found in some record."""
    out: list[Manifestation] = []
    for at, t in sorted(tally.items(), key=lambda item: (-item[1].present, item[0])):
        node = findings.nodes[at]
        if t.present:
            rate = t.present / n
            out.append(
                Manifestation(
                    finding=node.id,
                    how_often=how_often(rate),
                    roles=("d",),
                    rate=round(rate, 4),
                    records=n,
                    side=_one_side(t, node.sided),
                    value=_range(t.values),
                    source="records",
                )
            )
        elif at in ever and t.denied / n >= DENIED:
            out.append(
                Manifestation(finding=node.id, how_often="absent", roles=("d",), rate=0.0, records=n, source="records")
            )
    return out


def how_often(rate: float) -> HowOften:
    """The word for a presence rate above 0."""
    return next((word for least, word in HOW_OFTEN if rate > least), "rare")


def how_common(n: int, mean: float) -> HowCommon:
    """How common a disease is among the records, against the mean disease."""
    return next((word for least, word in HOW_COMMON if n >= least * mean), "very_rare")


def ages(records: Sequence[Record]) -> Ages:
    """The ages of a disease: no limits, and the usual range where there are records enough."""
    told = [r.age for r in records if r.age is not None]
    if len(told) < FEW:
        return Ages(min=0, max=OLDEST, typical=(0, OLDEST))
    low, high = np.percentile(told, TYPICAL)
    return Ages(min=0, max=OLDEST, typical=(round(float(low), 1), min(round(float(high), 1), OLDEST)))


def _one_side(tally: Tally, sided: bool) -> Side | None:
    """The side that all records with the finding name; ``one`` when they name different ones; None for no rule."""
    named = sum(tally.sides.values())
    if not sided or named < tally.present or not named:
        return None
    if len(tally.sides) == 1:
        return next(iter(tally.sides))
    return "one" if "both" not in tally.sides else None


def _range(values: Sequence[float]) -> str | None:
    if not values:
        return None
    low, high = min(values), max(values)
    return f"{low:g}" if low == high else f"{low:g}-{high:g}"


def _number(text: str) -> bool:
    return text.replace(",", ".").replace(".", "", 1).isdigit()


DISTINCTIVE = "usual"  # ours: how often a distinction is there, where its source does not say


class Judged(NamedTuple):
    """What the judgements gave.

    Attributes:
        merges: the diseases. l2: topics over the diseases. l1: topics over the topics of ``l2``.
        told: manifestations by record id. findings: of all of them. distinctions: for each disease.
    """

    merges: Sequence[Merge]
    l2: Sequence[Topic]
    l1: Sequence[Topic]
    told: Mapping[str, Sequence[Told]]
    findings: Findings
    distinctions: Sequence[Sequence[Distinction]]


def assemble_graph(about: About, records: Sequence[Record], judged: Judged, known: Graph | None) -> Graph:
    """The graph; findings that nothing uses (only ever denied) are left out, and diseases without a finding."""
    by_name = {name: at for at, merge in enumerate(judged.merges) for name in merge.names}
    of_disease: list[list[Record]] = [[] for _ in judged.merges]
    for record in records:
        of_disease[by_name[record.diagnosis]].append(record)
    ever = frozenset(
        judged.findings.of[key_of(t)] for items in judged.told.values() for t in items if t.present is not False
    )
    tables = _Tables(judged.findings, known)
    l1_ids, l2_ids = _ids(judged.l1), _ids(judged.l2)
    l2_of = {at: l2_ids[n] for n, topic in enumerate(judged.l2) for at in topic.members}
    l1_of = {at: l1_ids[n] for n, topic in enumerate(judged.l1) for at in topic.members}
    ids = _unique([m.into if slug(m.into) else m.known or "disease" for m in judged.merges])
    mean = len(records) / len(judged.merges)
    diseases: list[Disease] = []
    for at, (merge, rows) in enumerate(zip(judged.merges, of_disease, strict=True)):
        counted = edges(tallies(rows, judged.told, judged.findings), judged.findings, len(rows), ever)
        found = tables.with_distinctions(counted, judged.distinctions[at])
        if found:
            diseases.append(_disease(ids[at], merge, l2_of[at], rows, mean, found, known))
    used_l2 = {d.l2 for d in diseases}
    subcategories = [
        Subcategory(id=l2_ids[n], name=t.name, zh=t.name, l1=l1_of[n])
        for n, t in enumerate(judged.l2)
        if l2_ids[n] in used_l2
    ]
    used_l1 = {s.l1 for s in subcategories}
    categories = [
        Category(id=l1_ids[n], name=t.name, zh=t.name) for n, t in enumerate(judged.l1) if l1_ids[n] in used_l1
    ]
    return Graph(
        categories=tuple(categories),
        subcategories=tuple(subcategories),
        findings=tables.used(diseases),
        diseases=tuple(diseases),
        about=about,
    )


class _Tables:
    """The findings of the graph, with those that distinctions add."""

    def __init__(self, findings: Findings, known: Graph | None) -> None:
        self._nodes = {n.id: n for n in findings.nodes}
        self._by_phrase = {_key(p): n.id for n in findings.nodes for p in (n.name, n.zh, *n.say, *n.say_zh)}
        self._known = known

    def with_distinctions(self, counted: list[Manifestation], told: Sequence[Distinction]) -> list[Manifestation]:
        """The counted edges with the distinctions: a finding that is both has both roles."""
        found = {e.finding: e for e in counted}
        for distinction in told:
            node = self._node(distinction)
            edge = found.get(node.id)
            if edge is not None and (edge.how_often == "absent") == distinction.against:
                both = f"{edge.source}; {distinction.source}" if "a" not in edge.roles else edge.source
                found[node.id] = edge.model_copy(update={"roles": (*edge.roles[:1], "a"), "source": both})
            elif edge is None:
                often = "absent" if distinction.against else DISTINCTIVE
                new = {"finding": node.id, "how_often": often, "roles": ("a",), "source": distinction.source}
                found[node.id] = Manifestation.model_validate(new)
        return list(found.values())

    def used(self, diseases: Sequence[Disease]) -> tuple[FindingNode, ...]:
        """The findings that some disease has, without broader ones that are not among them."""
        used = {e.finding for d in diseases for e in d.manifestations}
        return tuple(
            n if n.broader in used else n.model_copy(update={"broader": None})
            for n in self._nodes.values()
            if n.id in used
        )

    def _node(self, distinction: Distinction) -> FindingNode:
        node = self._known.finding.get(distinction.finding) if self._known is not None else None
        names = (distinction.text,) if node is None else (distinction.text, node.zh)
        known = next((self._by_phrase[_key(n)] for n in names if _key(n) in self._by_phrase), None)
        if known is not None:
            return self._nodes[known]
        key = _free_key(slug(distinction.text)[:LONGEST_ID].strip("-") or "distinction", self._nodes)
        if node is not None:
            say = tuple(p for p in node.say if _key(p) not in self._by_phrase)
            say_zh = tuple(p for p in node.say_zh if _key(p) not in self._by_phrase)
            made = node.model_copy(update={"id": key, "say": say, "say_zh": say_zh, "broader": None})
        else:
            therapy = distinction.relation == "therapy"
            kind = "treatment" if therapy else "distinction"
            fields = {"id": key, "name": distinction.text, "zh": distinction.text, "kind": kind}
            made = FindingNode.model_validate(fields | {"relation": distinction.relation})
        self._nodes[key] = made
        self._by_phrase |= {_key(p): key for p in (made.name, made.zh, *made.say, *made.say_zh)}
        return made


def _disease(
    id: str, merge: Merge, l2: str, rows: Sequence[Record], mean: float, found: list[Manifestation], known: Graph | None
) -> Disease:
    same = known.disease.get(merge.known) if known is not None else None
    aliases = tuple(dict.fromkeys(n for n in merge.names if n != merge.into))
    return Disease(
        id=id,
        name=merge.into,
        zh=same.zh if same is not None else merge.into,
        aliases=aliases,
        aliases_zh=same.aliases_zh if same is not None else (),
        icd10=merge.code if len(merge.code) <= len("A00.1234") else "",
        l2=l2,
        how_common=how_common(len(rows), mean),
        severity=same.severity if same is not None else "unknown",
        sex="any",
        ages=ages(rows),
        manifestations=tuple(found),
    )


def _ids(topics: Sequence[Topic]) -> list[str]:
    return _unique([t.name for t in topics])


def _unique(names: Sequence[str]) -> list[str]:
    taken: dict[str, str] = {}
    out: list[str] = []
    for name in names:
        key = _free_key(slug(name)[:LONGEST_ID].strip("-") or "topic", taken)
        taken[key] = name
        out.append(key)
    return out


def _free_key(base: str, taken: Container[str]) -> str:
    """The id, or the first of ``id-2``, ``id-3``, ... that is not taken."""
    key, n = base, 1
    while key in taken:
        n += 1
        key = f"{base}-{n}"
    return key


def _key(phrase: str) -> str:
    return " ".join(phrase.casefold().split())
