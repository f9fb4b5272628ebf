"""A disease's entry of the graph as readable text, one sentence an edge, so that each can be quoted exactly."""

from __future__ import annotations

from dataclasses import dataclass

from tools.evidence import Evidence, Origin
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
