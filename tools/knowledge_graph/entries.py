"""What is told of a disease: its entry in the words of the graph, and why it stands where it does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tools.contract import Finding, RankedDisease
from tools.evidence import Evidence, Origin
from tools.knowledge_graph.ranking import HOW_OFTEN, Observation, Ranker
from tools.knowledge_graph.schema import Disease, FindingNode, Graph, Manifestation

LEVELS = {
    "written": "knowledge graph, not clinically reviewed",
    "built": "knowledge graph built from records, not clinically reviewed",
    "imported": "imported knowledge graph, not clinically reviewed",
}
ADVERBS = {
    "always": "almost always",
    "usual": "usually",
    "common": "often",
    "occasional": "sometimes",
    "rare": "rarely",
}
ADVERBS_ZH = {"always": "几乎总是", "usual": "通常", "common": "常常", "occasional": "有时", "rare": "很少"}
VERBS = {
    "symptom": "presents with",
    "sign": "presents with",
    "test": "shows",
    "history": "goes along with",
    "exposure": "goes along with",
    "habit": "goes along with",
}
VERBS_ZH = {
    "symptom": "表现为",
    "sign": "表现为",
    "test": "可见",
    "history": "伴有",
    "exposure": "伴有",
    "habit": "伴有",
}
HOW_COMMON = {
    "very_common": "very common",
    "common": "common",
    "uncommon": "uncommon",
    "rare": "rare",
    "very_rare": "very rare",
}
HOW_COMMON_ZH = {
    "very_common": "非常常见",
    "common": "常见",
    "uncommon": "不常见",
    "rare": "少见",
    "very_rare": "非常少见",
}
SIDES = {"left": "on the left", "right": "on the right", "one": "on one side", "both": "on both sides"}
SIDES_ZH = {"left": "左侧", "right": "右侧", "one": "单侧", "both": "双侧"}
ONSETS = {
    "sudden": "of sudden onset",
    "hours": "coming on over hours",
    "days": "coming on over days",
    "weeks": "coming on over weeks",
    "months": "coming on over months",
}
ONSETS_ZH = {
    "sudden": "突然起病",
    "hours": "数小时内起病",
    "days": "数天内起病",
    "weeks": "数周内起病",
    "months": "数月内起病",
}


@dataclass(frozen=True)
class Entry:
    """The text on one disease, and for each of its findings the characters of its sentence."""

    text: str
    sentences: dict[str, tuple[int, int]]


def render(graph: Graph, disease: Disease, language: str = "en") -> Entry:
    """The entry of a disease in English or Chinese (``zh``)."""
    chinese = language == "zh"
    text = _lead_zh(graph, disease) if chinese else _lead(graph, disease)
    where: dict[str, tuple[int, int]] = {}
    for edge in disease.manifestations:
        finding = graph.finding[edge.finding]
        sentence = _sentence_zh(disease, finding, edge) if chinese else _sentence(disease, finding, edge)
        start = len(text) + (0 if chinese else 1)
        text += ("" if chinese else " ") + sentence
        where[edge.finding] = (start, start + len(sentence))
    flags = disease.red_flags_zh if chinese else disease.red_flags
    if flags:
        text += f"{disease.zh}的警示征象：{'、'.join(flags)}。" if chinese else f" Red flags: {'; '.join(flags)}."
    return Entry(text, where)


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


def _lead(graph: Graph, disease: Disease) -> str:
    low, high = disease.ages.typical
    group = graph.l2[disease.l2].name
    return (
        f"{disease.name} ({_code(disease)}) belongs to the group: {group}. "
        f"{disease.name} is {HOW_COMMON[disease.how_common]} among people who seek care for a new complaint, "
        f"mostly at {low:g} to {high:g} years of age."
    )


def _code(disease: Disease) -> str:
    return f"ICD-10 {disease.icd10}" if disease.icd10 else "no ICD-10 code"


def _lead_zh(graph: Graph, disease: Disease) -> str:
    low, high = disease.ages.typical
    group = graph.l2[disease.l2].zh
    common = HOW_COMMON_ZH[disease.how_common]
    return f"{disease.zh}（{_code(disease)}）属于{group}。{disease.zh}在就诊者中{common}，多见于{low:g}至{high:g}岁。"


def _sentence(disease: Disease, finding: FindingNode, edge: Manifestation) -> str:
    parts = [SIDES.get(edge.side or "", ""), ONSETS.get(edge.onset or "", ""), edge.note or ""]
    detail = "; ".join(p for p in parts if p)
    name = f"{finding.name} ({detail})" if detail else finding.name
    if edge.how_often == "absent":
        return f"{disease.name} is made less likely by {name}."
    adverb = ADVERBS[edge.how_often]
    if finding.kind == "distinction":
        return finding.name
    if finding.is_therapy:
        return f"{disease.name} is {adverb} treated with {name}."
    return f"{disease.name} {adverb} {VERBS[finding.kind]} {name}."


def _sentence_zh(disease: Disease, finding: FindingNode, edge: Manifestation) -> str:
    parts = [SIDES_ZH.get(edge.side or "", ""), ONSETS_ZH.get(edge.onset or "", "")]
    detail = "，".join(p for p in parts if p)
    name = f"{finding.zh}（{detail}）" if detail else finding.zh
    if edge.how_often == "absent":
        return f"出现{name}时不支持{disease.zh}。"
    if finding.kind == "distinction":
        return finding.zh
    adverb = ADVERBS_ZH[edge.how_often]
    verb = "用以下方法治疗：" if finding.is_therapy else VERBS_ZH[finding.kind]
    return f"{disease.zh}{adverb}{verb}{name}。"


FOR, AGAINST, MISSING = 8, 6, 5  # ours: at most this many of each are named
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
