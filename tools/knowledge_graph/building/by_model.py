"""The judgements of a build by a language model. Whatever it leaves out or adds is set right by code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from prompts.graph_building import DistinctionsReply, GroupsReply, ManifestationsReply
from prompts.language_model import LanguageModel
from tools.knowledge_graph.building.contract import (
    UNCLASSIFIED,
    Distinction,
    Merge,
    Named,
    Record,
    Told,
    Topic,
)
from tools.text.tokens import tokens

BATCH = 120  # ours: names given at once; a longer list makes replies that lose some
LEVELS = {
    "l2": "the clinical subcategory, such as a kind of disorder of one organ",
    "l1": "the organ system or specialty",
}


class ClusteringByModel:
    """Groups the different names; the groups of one batch do not know the next one's."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model

    async def cluster(self, names: Sequence[str]) -> list[Merge]:
        """See `Clustering`. A name that the model does not give back as written stands alone."""
        unique = list(dict.fromkeys(names))
        merges: list[Merge] = []
        for at in range(0, len(unique), BATCH):
            part = unique[at : at + BATCH]
            reply, _ = await self._model.structured("graph_diagnoses", GroupsReply, names=_numbered(part))
            for name, members in _partition(reply, len(part)):
                chosen = tuple(part[i] for i in members)
                into = name if name else chosen[0]
                why = f"grouped by {self._model.name}" if len(chosen) > 1 else "alone"
                merges.append(Merge(into=into, names=chosen, why=why))
        return merges


class TopicsByModel:
    """Names the topics of a level."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model

    async def group(self, nodes: Sequence[Named], level: Literal["l2", "l1"]) -> list[Topic]:
        """See `Topics`. What the model leaves out is unclassified; topics of one name are one."""
        found: dict[str, list[int]] = {}
        for at in range(0, len(nodes), BATCH):
            part = [n.name for n in nodes[at : at + BATCH]]
            reply, _ = await self._model.structured(
                "graph_topics", GroupsReply, names=_numbered(part), level=LEVELS[level]
            )
            for name, members in _partition(reply, len(part)):
                found.setdefault(name or UNCLASSIFIED, []).extend(at + i for i in members)
        return [Topic(name=name, members=tuple(members)) for name, members in found.items()]


class DecompositionByModel:
    """Reads single manifestations out of a record; what the record does not say is dropped."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model

    async def decompose(self, record: Record) -> list[Told]:
        """See `Decomposition`. A manifestation must quote the record, word for word."""
        reply, _ = await self._model.structured("graph_manifestations", ManifestationsReply, record=record.text)
        held = " ".join(record.text.casefold().split())
        present = {"yes": True, "no": False, "maybe": None}
        return [
            Told(
                text=m.finding,
                present=present[m.present],
                relation=m.relation,
                side=None if m.side == "none" else m.side,
                value=m.value or None,
                other=m.relative,
            )
            for m in reply.manifestations
            if " ".join(m.quote.casefold().split()) in held and tokens(m.finding)
        ]


class AugmentationByModel:
    """Asks a model what tells a disease from its neighbours; every edge is marked generated."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model

    async def augment(self, disease: Merge, neighbours: Sequence[str]) -> list[Distinction]:
        """See `Augmentation`."""
        beside = "\n".join(neighbours) or "(none)"
        reply, _ = await self._model.structured(
            "graph_distinctions", DistinctionsReply, disease=disease.into, neighbours=beside
        )
        source = f"generated:{self._model.name}"
        return [Distinction(text=d.text, relation=d.relation, source=source) for d in reply.distinctions]


def _numbered(names: Sequence[str]) -> str:
    return "\n".join(f"{n}. {' '.join(name.split())}" for n, name in enumerate(names, start=1))


def _partition(reply: GroupsReply, count: int) -> list[tuple[str, list[int]]]:
    """Groups of positions in which each stands once: its first group has it; what is in none stands alone, unnamed."""
    left = dict.fromkeys(range(count))
    out: list[tuple[str, list[int]]] = []
    for group in reply.groups:
        members = [n - 1 for n in dict.fromkeys(group.members) if n - 1 in left]
        for i in members:
            del left[i]
        if members:
            out.append((" ".join(group.name.split()), members))
    return out + [("", [i]) for i in left]
