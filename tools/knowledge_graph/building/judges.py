"""The judgements of a build put together: all local, or a language model's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from prompts.language_model import LanguageModel
from tools.encoders import Encoder
from tools.icd10 import ICD10
from tools.knowledge_graph.building.codes import Coded, Codes, without_code
from tools.knowledge_graph.building.contract import Distinction, Judges, Merge
from tools.knowledge_graph.building.merging import clusters, may_meet
from tools.knowledge_graph.building.statements import DecompositionLocal
from tools.knowledge_graph.building.topics import TopicsLocal
from tools.knowledge_graph.lexicon import characters, words
from tools.knowledge_graph.schema import Graph
from tools.library.document import Document
from tools.text.abbreviations import expand
from tools.text.sentences import split_sentences

# Raw diagnoses to diseases (L3), by rule: spelling, abbreviations, ICD-10 code, meaning.
SAME = 0.9  # ours: cosine from which two names with the same telling words are one disease
ASK = 0.75  # ours: cosine from which that is proposed to a person
SURE_CODES = ("written", "known")  # ways of finding a code that identify a disease


class ClusteringLocal:
    """Clusters by what is written; nothing is guessed: an unsure pair is proposed, not merged."""

    def __init__(self, codes: Codes, encoder: Encoder) -> None:
        self._codes, self._encoder = codes, encoder

    async def cluster(self, names: Sequence[str]) -> list[Merge]:
        """See `Clustering`. The most frequent spelling, the first of equals, names the disease."""
        count = Counter(names)
        unique = list(dict.fromkeys(names))
        coded = dict(zip(unique, self._codes.find([expand(n) for n in unique]), strict=True))
        groups = _by_key(unique, coded)
        firsts = [g[0] for g in groups]
        vectors = self._encoder.encode_documents([expand(n) for n in firsts])

        def may_be_one(one: str, other: str) -> bool:
            return may_meet(one, other) and _agree(coded[one], coded[other])

        same = clusters(firsts, vectors, SAME, may_be_one)
        merges = [self._merge([n for i in c for n in groups[i]], count, coded, len(c) > 1) for c in same]
        return merges + self._proposals(merges, coded)

    def _proposals(self, merges: Sequence[Merge], coded: dict[str, Coded]) -> list[Merge]:
        """What a person is asked: names that are near in meaning once their spelling is put right."""
        names = [m.into for m in merges]
        spelt = {n: self._codes.respelt(expand(n)) for n in names}
        vectors = self._encoder.encode_documents([spelt[n] for n in names])

        def may_be_one(one: str, other: str) -> bool:
            return may_meet(spelt[one], spelt[other]) and _agree(coded[one], coded[other])

        found = clusters(names, vectors, ASK, may_be_one)
        return [_proposal([merges[i] for i in c]) for c in found if len(c) > 1]

    def _merge(self, names: list[str], count: Counter[str], coded: dict[str, Coded], by_meaning: bool) -> Merge:
        ordered = sorted(names, key=lambda n: -count[n])
        best = next((coded[n] for n in ordered if coded[n].how in SURE_CODES), coded[ordered[0]])
        why = "alone" if len(names) == 1 else "meaning" if by_meaning else "same words or code"
        return Merge(into=ordered[0], names=tuple(ordered), why=why, code=best.code, known=best.known)


def _by_key(unique: Sequence[str], coded: dict[str, Coded]) -> list[list[str]]:
    """Names with the same words (abbreviations written out), the same known disease, or the same written code."""
    of: dict[str, int] = {}
    groups: dict[int, list[str]] = {}
    for name in unique:
        found = coded[name]
        said = {*words(without_code(name)), *characters(name)}
        keys = [f"words {' '.join(sorted(said)) or name}"]
        keys += [f"known {found.known}"] if found.known else []
        keys += [f"code {found.code}"] if found.how == "written" else []
        known = sorted({of[k] for k in keys if k in of})
        at = known[0] if known else len(of)
        groups.setdefault(at, [])
        for other in known[1:]:
            groups[at] += groups.pop(other)
            of |= {k: at for k, g in of.items() if g == other}
        groups[at].append(name)
        of |= dict.fromkeys(keys, at)
    return list(groups.values())


def _agree(one: Coded, other: Coded) -> bool:
    """Whether codes found surely do not name two diseases."""
    sure = one.how in SURE_CODES and other.how in SURE_CODES
    return not sure or (one.code, one.known) == (other.code, other.known)


def _proposal(merges: Sequence[Merge]) -> Merge:
    first = merges[0]
    names = tuple(m.into for m in merges)
    return Merge(into=first.into, names=names, why="near in meaning", merge=False, code=first.code, known=first.known)


# What tells a known disease apart, from texts that people wrote: the starter graph and the library's monographs.
SECTION = "Confused with"  # docs/knowledge-format.md: what a monograph tells of a disease's neighbours


class AugmentationLocal:
    """For a disease that the starter graph knows: its edges of role a, and the sentences of its monograph.

    Args:
        graph: the starter graph.
        monographs: the library's monographs by the graph's id of their disease.
    """

    def __init__(self, graph: Graph, monographs: Mapping[str, Document]) -> None:
        self._graph, self._monographs = graph, monographs

    async def augment(self, disease: Merge, neighbours: Sequence[str]) -> list[Distinction]:
        """See `Augmentation`; nothing for a disease that the starter graph does not know."""
        del neighbours
        known = self._graph.disease.get(disease.known)
        if known is None:
            return []
        out = [
            Distinction(
                text=self._graph.finding[e.finding].name,
                relation=self._graph.finding[e.finding].relation,
                source=self._graph.about.name,
                finding=e.finding,
                against=e.how_often == "absent",
            )
            for e in known.manifestations
            if "a" in e.roles
        ]
        text = self._monographs.get(known.id)
        return out + (_sentences(text) if text is not None else [])


def _sentences(monograph: Document) -> list[Distinction]:
    """The sentences of the section on what the disease is confused with, each with its span."""
    return [
        Distinction(
            text=monograph.text[section.start + span.start : section.start + span.end],
            source=monograph.span_id(section.start + span.start, section.start + span.end),
        )
        for section in monograph.sections
        if section.title == SECTION
        for span in split_sentences(monograph.text[section.start : section.end])
    ]


def local_judges(
    encoder: Encoder, table: ICD10, known: Graph | None, monographs: Mapping[str, Document] | None = None
) -> Judges:
    """Judgements that need no service.

    Args:
        known: a graph that gives names and codes of diseases; with ``monographs`` it gives distinctions too.
        monographs: the library's, by the graph's disease ids; None for no augmentation.
    """
    augmentation = None if known is None or monographs is None else AugmentationLocal(known, monographs)
    return Judges(
        name="local" if augmentation is not None else "local without augmentation",
        clustering=ClusteringLocal(Codes(table, encoder, known), encoder),
        topics=TopicsLocal(table),
        decomposition=DecompositionLocal(),
        augmentation=augmentation,
    )


def model_judges(model: LanguageModel, *, augment: bool = True) -> Judges:
    """Judgements of a language model; what it adds is marked ``generated:<model>``."""
    from tools.knowledge_graph.building.by_model import (
        AugmentationByModel,
        ClusteringByModel,
        DecompositionByModel,
        TopicsByModel,
    )

    return Judges(
        name=f"model {model.name}{'' if augment else ' without augmentation'}",
        clustering=ClusteringByModel(model),
        topics=TopicsByModel(model),
        decomposition=DecompositionByModel(model),
        augmentation=AugmentationByModel(model) if augment else None,
    )
