"""A diagnosis that a case tells as given leads where the case is about it, and is told."""

from __future__ import annotations

import pytest

from tools.knowledge_graph.lookup import KnowledgeGraph


def leader(graph: KnowledgeGraph, case: str) -> str:
    return graph.look_up(case).ranking[0].disease


@pytest.mark.parametrize(
    ("case", "disease"),
    [
        ("58F with pneumonia on day 2 of doxycycline, still hot and short of breath.", "pneumonia"),
        ("Diagnosed with shingles yesterday, the rash burns.", "shingles"),
        ("He was diagnosed with pyelonephritis yesterday and is shivering, fever of 39.", "pyelonephritis"),
        ("Known to have ulcerative colitis, now bloody diarrhoea eight times a day.", "ulcerative-colitis"),
        ("确诊肺结核两周，仍咳嗽、盗汗。", "tuberculosis"),
    ],
)
def test_a_given_diagnosis_leads_where_the_case_is_about_it(
    starter_graph: KnowledgeGraph, case: str, disease: str
) -> None:
    found = starter_graph.look_up(case)
    assert found.ranking[0].disease == disease
    assert disease in dict(found.given)


@pytest.mark.parametrize(
    ("case", "disease"),
    [
        ("My father has pneumonia and I have a cough.", "pneumonia"),
        ("Do I have pneumonia? Cough for 3 days.", "pneumonia"),
        ("I think I have pneumonia, a cough for 3 days.", "pneumonia"),
        ("Had pneumonia last year. Cough for 3 days.", "pneumonia"),
        ("35F with constipation for three weeks.", "constipation"),
    ],
)
def test_what_is_guessed_past_or_anothers_is_not_given(starter_graph: KnowledgeGraph, case: str, disease: str) -> None:
    assert disease not in dict(starter_graph.look_up(case).given)


def test_a_known_disease_does_not_lead_another_complaint_nor_a_graver_disease(starter_graph: KnowledgeGraph) -> None:
    assert leader(starter_graph, "Known gout. Cough and fever for three days.") != "gout"
    assert leader(starter_graph, "Known migraine. Sudden worst headache of my life and a stiff neck.") != "migraine"
