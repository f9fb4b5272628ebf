"""What is told of a disease: its entry in the words of the graph, and why it stands where it does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.contract import Finding, RankedDisease
from tools.evidence import Evidence, Origin
from tools.knowledge_graph.ranking import HOW_OFTEN, Observation, Ranker
from tools.knowledge_graph.schema import Disease, FindingNode, Graph, Manifestation
from tools.yaml_files import read_yaml

LEVELS = {
    "written": "knowledge graph, not clinically reviewed",
    "built": "knowledge graph built from records, not clinically reviewed",
    "imported": "imported knowledge graph, not clinically reviewed",
}
WORDS: dict[str, Any] = read_yaml(Path(__file__).with_name("entries.yaml"))


@dataclass(frozen=True)
class Entry:
    """The text on one disease, and for each of its findings the characters of its sentence."""

    text: str
    sentences: dict[str, tuple[int, int]]


def render(graph: Graph, disease: Disease, language: str = "en") -> Entry:
    """The entry of a disease in English or Chinese (``zh``)."""
    chinese = language == "zh"
    words = WORDS["zh" if chinese else "en"]
    name, group = disease.zh if chinese else disease.name, graph.l2[disease.l2]
    low, high = disease.ages.typical
    text = words["lead"].format(
        name=name,
        code=words["code"].format(disease.icd10) if disease.icd10 else words["no_code"],
        group=group.zh if chinese else group.name,
        common=words["how_common"][disease.how_common],
        low=low,
        high=high,
    )
    where: dict[str, tuple[int, int]] = {}
    for edge in disease.manifestations:
        start = len(text) + len(words["space"])
        text += words["space"] + _sentence(name, graph.finding[edge.finding], edge, language, words)
        where[edge.finding] = (start, len(text))
    flags = disease.red_flags_zh if chinese else disease.red_flags
    if flags:
        text += words["red_flags"].format(name=name, flags=words["list"].join(flags))
    return Entry(text, where)


def _sentence(disease: str, finding: FindingNode, edge: Manifestation, language: str, words: Mapping[str, Any]) -> str:
    name = _word(finding, language)
    note = "" if language == "zh" else edge.note  # notes are English
    parts = (words["sides"].get(edge.side), words["onsets"].get(edge.onset), note)
    detail = words["part"].join(p for p in parts if p)
    told = words["detail"].format(name, detail) if detail else name
    form = "absent" if edge.how_often == "absent" else "therapy" if finding.is_therapy else "sentence"
    if form != "absent" and finding.kind == "distinction":
        return name
    verb, adverb = words["verbs"].get(finding.kind, ""), words["adverbs"].get(edge.how_often, "")
    return str(words[form].format(disease=disease, finding=told, adverb=adverb, verb=verb))


def evidence_of(graph: Graph, disease: Disease, language: str = "en") -> Evidence:
    """The entry as evidence that an answer may cite."""
    return Evidence(
        id=graph.entry_id(disease.id),
        text=render(graph, disease, language).text,
        title=disease.zh if language == "zh" else disease.name,
        kind="graph_entry",
        origin=Origin.KNOWLEDGE_GRAPH,
        level=LEVELS[graph.about.origin],
        language="zh" if language == "zh" else "en",
    )


FOR, AGAINST, MISSING = 8, 6, 5  # ours: at most this many of each are named
# Why a disease stands where it does, in the words of the graph.
SUPPORT = 0.05  # ours: least gain in log-score for which a finding is named as support
DENIAL = -0.3  # ours: a denied finding that costs less is not named; about what a common one (30 to 60 %) costs
USUAL = HOW_OFTEN["usual"]  # a finding this frequent is missed when the case does not mention it


@dataclass(frozen=True)
class Explanation:
    """Names of findings: what speaks for a disease, what against, and usual findings that were not mentioned."""

    supporting: tuple[str, ...]
    against: tuple[str, ...]
    missing: tuple[str, ...]


class Explainer:
    """Explains rankings of one graph."""

    def __init__(self, graph: Graph, ranker: Ranker) -> None:
        self._graph, self._ranker = graph, ranker
        self._position = {f.id: i for i, f in enumerate(graph.findings)}
        self._edges = [
            frozenset(self._position[e.finding] for e in d.manifestations if e.how_often != "absent")
            for d in graph.diseases
        ]

    def explain(
        self, disease: int, seen: Sequence[Observation], shown: Sequence[Finding], heard: Iterable[int], language: str
    ) -> Explanation:
        """The explanation for the disease at a position of ``graph.diseases``.

        Args:
            seen: what the ranking counted.
            shown: the findings that are shown: only they are named, each as what it is shown as.
            heard: positions of findings that the case may mention: they are not called missing.
        """
        plain = {(self._position[f.id], f.present is not False) for f in shown if f.id in self._position}
        best: dict[int, tuple[float, Observation]] = {}
        for o in seen:
            value = float(self._ranker.contributions(o)[disease])
            if (o.finding, o.present is not False) in plain and abs(value) > abs(best.get(o.finding, (0.0, o))[0]):
                best[o.finding] = (value, o)
        ordered = sorted(best.items(), key=lambda item: (-item[1][0], item[0]))
        against = [
            self._name(f, language, denied=o.present is False)
            for f, (value, o) in reversed(ordered)
            if self._speaks_against(disease, f, value, o)
        ]
        return Explanation(
            tuple(_word(self._graph.findings[f], language) for f in self._supporting(disease, ordered))[:FOR],
            tuple(against[:AGAINST]),
            self._missing(disease, seen, heard, language),
        )

    def _supporting(self, disease: int, ordered: Sequence[tuple[int, tuple[float, Observation]]]) -> list[int]:
        """Positions of what supports a disease, most first, each under the name that the disease lists."""
        told = [f for f, (value, o) in ordered if o.present is not False and value > SUPPORT]
        listed = [at for at in dict.fromkeys(self._as_listed(disease, f) for f in told) if at is not None]
        ids = {self._graph.findings[at].id for at in listed}
        # what a narrower finding that is named implies is not named again
        return [at for at in listed if not ids.intersection(self._graph.narrower[self._graph.findings[at].id])]

    def _as_listed(self, disease: int, finding: int) -> int | None:
        """The finding, if the disease lists it; else the nearest broader one that it lists.

        A narrower one that the disease lists says more than was told, and is no support.
        """
        above = (self._position[a] for a in self._graph.broader(self._graph.findings[finding].id))
        return next((at for at in (finding, *above) if at in self._edges[disease]), None)

    def _bears_on(self, disease: int, finding: int) -> bool:
        """Whether the disease lists the finding or a narrower one, which its denial denies too."""
        below = (self._position[b] for b in self._graph.narrower[self._graph.findings[finding].id])
        return any(at in self._edges[disease] for at in (finding, *below))

    def _speaks_against(self, disease: int, finding: int, value: float, o: Observation) -> bool:
        if o.present is False:
            return value < DENIAL and self._bears_on(disease, finding)
        return bool(o.present and self._ranker.table.absent[disease, finding])

    def _missing(
        self, disease: int, seen: Sequence[Observation], heard: Iterable[int], language: str
    ) -> tuple[str, ...]:
        told = {self._graph.findings[f].id for f in heard} | {self._graph.findings[o.finding].id for o in seen}
        told |= {above for f in tuple(told) for above in self._graph.broader(f)}
        denied = {self._graph.findings[o.finding].id for o in seen if o.present is False}
        told |= {below for f in denied for below in self._graph.narrower[f]}
        edges = [
            (HOW_OFTEN[e.how_often], self._graph.finding[e.finding])
            for e in self._graph.diseases[disease].manifestations
            if e.finding not in told
            and HOW_OFTEN[e.how_often] >= USUAL
            and not self._graph.finding[e.finding].only_shown
        ]
        edges.sort(key=lambda pair: (pair[1].kind in ("sign", "test"), -pair[0]))
        return tuple(_word(finding, language) for _, finding in edges[:MISSING])

    def _name(self, finding: int, language: str, denied: bool = False) -> str:
        name = _word(self._graph.findings[finding], language)
        if not denied:
            return name
        return f"无{name}" if language == "zh" else f"no {name}"


def line_of(graph: Graph, at: int, share: float, why: Explanation, language: str) -> RankedDisease:
    """The line of a differential on the disease at a position of ``graph.diseases``."""
    disease = graph.diseases[at]
    return RankedDisease(
        disease=disease.id,
        name=disease.name,
        name_zh=disease.zh,
        icd10=disease.icd10,
        l2=disease.l2,
        l1=graph.l2[disease.l2].l1,
        score=share,
        severity=disease.severity,
        findings_for=why.supporting,
        findings_against=why.against,
        missing=why.missing,
        red_flags=disease.red_flags_zh if language == "zh" else disease.red_flags,
        evidence_id=graph.entry_id(disease.id),
    )


def _word(finding: FindingNode, language: str) -> str:
    return finding.zh if language == "zh" else finding.name
