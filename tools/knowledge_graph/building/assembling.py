"""The graph of a build: diseases, topics, counted edges and distinctions put together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tools.knowledge_graph.building.contract import Distinction, Merge, Record, Told, Topic
from tools.knowledge_graph.building.counting import ages, edges, how_common, tallies
from tools.knowledge_graph.building.findings import Findings, key_of
from tools.knowledge_graph.formats.foreign import slug
from tools.knowledge_graph.schema import (
    About,
    Category,
    Disease,
    FindingNode,
    Graph,
    Manifestation,
    Subcategory,
)

LONGEST_ID = 80  # ours: characters of an id
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
        key = _free(slug(distinction.text)[:LONGEST_ID].strip("-") or "distinction", self._nodes)
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
        key = _free(slug(name)[:LONGEST_ID].strip("-") or "topic", taken)
        taken[key] = name
        out.append(key)
    return out


def _free(base: str, taken: Mapping[str, object]) -> str:
    key, n = base, 1
    while key in taken:
        n += 1
        key = f"{base}-{n}"
    return key


def _key(phrase: str) -> str:
    return " ".join(phrase.casefold().split())
