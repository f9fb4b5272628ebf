"""A diagnosis that a case tells as given leads where the case is about it, and is told."""

from __future__ import annotations

import pytest

from tools.knowledge_graph.lookup import KnowledgeGraph
from tools.text.clauses import clauses


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


@pytest.mark.parametrize(
    ("case", "grave"),
    [
        ("A 74-year-old woman with syncope has complete heart block.", True),
        ("Status epilepticus: twenty minutes of fitting despite lorazepam.", True),
        ("Tender irreducible lump in the groin, faeculent vomiting, absolute constipation, colicky pain.", True),
        ("Known abdominal aortic aneurysm of 4 cm, no pain.", False),
        ("Anaphylaxis to a wasp sting in 2014, recovered, wants a travel vaccine.", False),
        ("A runny nose and a mild cough for two days, eating well.", False),
    ],
)
def test_belief_in_emergencies_is_told_for_triage(starter_graph: KnowledgeGraph, case: str, grave: bool) -> None:
    assert (starter_graph.grave_share(case) > 0.5) is grave


@pytest.mark.parametrize(
    ("case", "mild"),
    [
        (
            (
                "I am a woman of 34. My nose is blocked. I have thick green discharge from my nose. My cheeks ache "
                "when I bend forward. I cannot smell. My neck is not stiff."
            ),
            True,
        ),
        ("I am a man of 60. I have crushing chest pain into my left arm. I sweat. I feel sick.", False),
        ("I am a man of 60. I feel unwell. I am tired.", False),
    ],
)
def test_belief_that_mild_diseases_surely_explain_a_case_is_told_below_zero(
    starter_graph: KnowledgeGraph, case: str, mild: bool
) -> None:
    assert (starter_graph.grave_share(case) < 0) is mild


@pytest.mark.parametrize(
    ("case", "disease"),
    [
        ("Sore spot where rib meets breastbone, worse when I twist or cough, 28F", "costochondritis"),
        ("46F, nocturnal tingling of thumb, index and middle finger, weak grip.", "carpal-tunnel-syndrome"),
        (
            "A man of 66. A lump in my groin. It comes when I cough. I lift heavy things. I pass wind.",
            "inguinal-hernia",
        ),
    ],
)
def test_a_disease_leads_its_neighbour_that_has_less_of_it(
    starter_graph: KnowledgeGraph, case: str, disease: str
) -> None:
    assert leader(starter_graph, case) == disease


def test_names_in_the_possessive_and_within_longer_wordings_are_given(starter_graph: KnowledgeGraph) -> None:
    assert "bell-palsy" in dict(starter_graph.look_up("Known Bell's palsy, right face still weak.").given)
    assert "atrial-fibrillation" in dict(starter_graph.look_up("76M known AF, palpitations as before.").given)


def test_what_a_known_disease_accounts_for_is_left_out(starter_graph: KnowledgeGraph) -> None:
    rest = starter_graph.without_known("Known Bell's palsy, face still drooping, weak right arm.")
    assert rest.strip(" ,") == "weak right arm."
    assert starter_graph.without_known("A weak right arm.") == "A weak right arm."


@pytest.mark.parametrize(
    ("now", "disease"),
    [
        (
            "R calf red, hot, swollen 3 days after insect bite, spreading erythema, T 38.2. WCC 14, CRP 88.",
            "cellulitis",
        ),
        ("Acute painful swollen red R big toe since last night, T 36.9, urate 520.", "gout"),
        ("Productive cough green sputum, fever 38.7, pleuritic R chest pain, R basal crackles.", "pneumonia"),
    ],
)
def test_what_was_before_and_the_family_do_not_lead(starter_graph: KnowledgeGraph, now: str, disease: str) -> None:
    before = "PMH: IHD with MI 2016, T2DM, HTN, AF on apixaban, COPD, depression. FH: father MI 50, mother stroke."
    found = starter_graph.look_up(f"67M. {now} {before}")
    assert found.ranking[0].disease == disease
    assert "high-blood-pressure-reading" not in {f.id for f in found.findings if f.present}


def test_a_heart_rate_of_the_unborn_is_no_family_history() -> None:
    assert not any(c.other or c.background for c in clauses("31/40, tightenings. FH 144, SFH 30 cm."))
