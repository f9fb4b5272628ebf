"""Told manifestations of all records to findings (L4d): the same words are one, near wordings are merged."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from tools.encoders import Encoder
from tools.knowledge_graph.building.contract import Told
from tools.knowledge_graph.building.merging import clusters, may_meet
from tools.knowledge_graph.formats.foreign import slug
from tools.knowledge_graph.lexicon import characters, words
from tools.knowledge_graph.schema import FindingNode, Kind, Relation
from tools.text.body_sites import sites
from tools.text.language import language_of

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
    "therapy": "history",  # what a patient tells of treatment is history
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
    relation = "anamnesis" if relation == "therapy" else relation
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
    base = slug(name)[:LONGEST_ID].strip("-") or "finding"
    chosen, n = base, 1
    while chosen in ids:
        n += 1
        chosen = f"{base}-{n}"
    ids.add(chosen)
    return chosen
