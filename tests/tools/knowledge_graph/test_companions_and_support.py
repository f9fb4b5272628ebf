"""Complaints after ``with``, parts that a pain spreads to, and sentences that are cited as support."""

from __future__ import annotations

import pytest

from tools.knowledge_graph.lookup import KnowledgeGraph

INFARCTION = "A 58 year old man has crushing chest pain radiating to left arm for 2 hours"


def shown(graph: KnowledgeGraph, case: str) -> set[str]:
    return {f.id for f in graph.look_up(case).findings if f.present}


@pytest.mark.parametrize("end", [" with sweating", " and is sweating", ", with sweating and nausea"])
def test_an_infarction_leads_however_it_is_joined(starter_graph: KnowledgeGraph, end: str) -> None:
    found = starter_graph.look_up(INFARCTION + end)
    assert found.ranking[0].disease == "myocardial-infarction"
    ids = {f.id for f in found.findings}
    assert {"sweating", "prolonged-chest-pain", "crushing-chest-pain", "pain-radiating-to-arm"} <= ids
    assert "limb-pain" not in ids


def test_vomiting_with_a_headache_is_heard(starter_graph: KnowledgeGraph) -> None:
    assert {"headache", "vomiting"} <= shown(starter_graph, "severe headache with vomiting")


def test_a_limb_hurts_when_it_is_said_to(starter_graph: KnowledgeGraph) -> None:
    assert "limb-pain" in shown(starter_graph, "pain in my left arm for 2 hours")
    assert "limb-pain" not in shown(starter_graph, "I have chest pain. It radiates to my left arm.")


def test_a_chinese_pain_radiates_to_the_arm(starter_graph: KnowledgeGraph) -> None:
    ids = shown(starter_graph, "58岁男性，压榨性胸痛放射至左臂2小时，伴大汗。")
    assert {"pain-radiating-to-arm", "sweating"} <= ids
    assert "limb-pain" not in ids


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_sentence_against_a_disease_is_given_only_for_its_own_finding(
    starter_graph: KnowledgeGraph, language: str
) -> None:
    graph = starter_graph.graph
    for disease in graph.diseases[::7]:
        against = {
            starter_graph.findings_sentence(disease.id, m.finding, language): m.finding
            for m in disease.manifestations
            if m.how_often == "absent"
        }
        listed = {m.finding for m in disease.manifestations}
        for finding in graph.findings:
            span = starter_graph.findings_sentence(disease.id, finding.id, language)
            assert span is None or against.get(span, finding.id) == finding.id
            assert span is None or listed & {finding.id, *graph.broader(finding.id)}


@pytest.mark.parametrize(
    ("case", "language"),
    [
        ("Pain on the right side of my chest, fever and a rash, with vomiting.", "en"),
        ("右侧胸痛，发热，皮疹，呕吐。", "zh"),
        ("Crushing chest pain with sweating, cough, fever, headache and itching.", "zh"),
    ],
)
def test_what_supports_a_disease_has_a_sentence_in_favour(
    starter_graph: KnowledgeGraph, case: str, language: str
) -> None:
    against = ("made less likely", "不支持")
    named = 0
    for ranked in starter_graph.look_up(case, language, limit=60).ranking:
        text = starter_graph.evidence_for(ranked.disease, language).text
        flags = {*ranked.red_flags}
        for name in ranked.findings_for:
            span = starter_graph.findings_sentence(ranked.disease, name, language)
            if name in flags:
                continue
            assert span is not None
            assert name in text[slice(*span)]
            assert not any(words in text[slice(*span)] for words in against)
            named += 1
    assert named > 20


def test_a_broader_finding_is_no_support_by_a_narrower_one(starter_graph: KnowledgeGraph) -> None:
    graph = starter_graph.graph
    pairs = [
        (d, above)
        for d in graph.diseases
        for above in ("chest-pain", "headache", "cough")
        if above not in {m.finding for m in d.manifestations}
        and {m.finding for m in d.manifestations} & set(graph.narrower[above])
    ]
    assert pairs
    found = {
        name: starter_graph.look_up(f"I have {graph.finding[name].name}.", limit=len(graph.diseases)).ranking
        for name in {above for _, above in pairs}
    }
    for disease, above in pairs:
        supporting = next(r.findings_for for r in found[above] if r.disease == disease.id)
        assert starter_graph.findings_sentence(disease.id, above) is None
        assert graph.finding[above].name not in supporting
