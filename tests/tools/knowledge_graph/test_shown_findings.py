"""Which findings are shown: what a clause says plainly, and nothing that only sounds like it."""

from __future__ import annotations

import pytest

from tools.contract import RankedDisease
from tools.knowledge_graph.lookup import KnowledgeGraph


def shown(graph: KnowledgeGraph, case: str) -> dict[str, bool | None]:
    return {f.id: f.present for f in graph.look_up(case).findings}


def line(graph: KnowledgeGraph, case: str, disease: str) -> RankedDisease:
    ranking = graph.look_up(case, limit=len(graph.graph.diseases)).ranking
    return next(r for r in ranking if r.disease == disease)


@pytest.mark.parametrize(
    ("text", "told", "never"),
    [
        ("I have a crushing pain in my chest.", "crushing-chest-pain", "sharp-chest-pain"),
        ("I have a sharp, stabbing pain in my chest.", "sharp-chest-pain", "crushing-chest-pain"),
        ("There is a dull ache in my chest.", "chest-pain", "sharp-chest-pain"),
        ("I have had a dry cough for days.", "dry-cough", "productive-cough"),
        ("I have hay fever.", "atopy-history", "fever"),
        ("She has an itchy rash, dad has hay fever.", "itching", "atopy-history"),
        ("Dad has a dry cough.", "dry-cough", "productive-cough"),
        ("My big toe joint is red, hot and swollen since last night.", "big-toe-pain", "fever"),
        ("My big toe joint is red, hot and swollen since last night.", "single-hot-joint", "oedema"),
        ("I am coughing up green phlegm.", "purulent-sputum", "dry-cough"),
        ("He feels nauseated.", "nausea", "vomiting"),
        ("She takes tablets for high blood pressure.", "hypertension-history", "high-blood-pressure-reading"),
        ("He smokes.", "smoking", "illicit-drug-use"),
        ("My eyes are itchy.", "itchy-eyes", "itching"),
        ("He lost 6 kg, hoarse voice.", "hoarseness", "loss-of-voice"),
        ("My eyes have gone yellow.", "jaundice", "eye-redness"),
        ("I felt faint.", "light-headedness", "fainting"),
        ("I have mouth ulcers that don't hurt.", "mouth-ulcers", "facial-pain"),
        ("I have a slight cough.", "cough", "chest-pain-on-coughing"),
        ("今天头痛，想吐。", "nausea", "vomiting"),
        ("She also has facial pain.", "facial-pain", "face-pain-set-off-by-touch"),
        ("My leg is swollen.", "one-leg-swelling", "leg-oedema"),
        ("Both my legs are swollen.", "leg-oedema", "one-leg-swelling"),
        ("The swelling is in my right ankle and in my left ankle.", "leg-oedema", "ankle-sprain"),
        ("Type 1 diabetes, stopped insulin as 'not eating'.", "missed-insulin", "insulin-or-sulfonylurea"),
        ("Chest pain, worse lying flat.", "chest-pain-worse-lying", "orthopnoea"),
        ("An itchy round patch on my forearm, reddish scaly edge.", "ring-shaped-scaly-rash", "crusty-lid-margins"),
        ("Confused. CT head no metastases.", "confusion", "brain-scan-lesion"),
        ("She is seeing cats that aren't there.", "visual-hallucinations", "contact-with-animals"),
        ("Known cirrhosis. Ascitic PMN 680/mm3.", "ascitic-neutrophils", "neutropenia"),
        ("Central chest pain. It spreads to his left arm and jaw.", "pain-radiating-to-jaw", "jaw-clicking"),
        ("MCV 108.", "macrocytosis", "microcytosis"),
        ("A 40-year-old woman with vomiting.", "vomiting", "nausea"),
        ("The patient has a headache, which is not severe.", "headache", "thunderclap-headache"),
    ],
)
def test_what_is_told_is_shown_and_its_neighbour_is_not(
    starter_graph: KnowledgeGraph, text: str, told: str, never: str
) -> None:
    found = shown(starter_graph, text)
    assert found.get(told) is True
    assert never not in found


@pytest.mark.parametrize(
    ("text", "denied", "open_"),
    [
        ("No night sweats.", "night-sweats", "sweating"),
        ("There is no crushing chest pain.", "crushing-chest-pain", "chest-pain"),
        ("I have no green phlegm.", "purulent-sputum", "dry-cough"),
        ("I didn't pass out.", "fainting", "light-headedness"),
        ("Non-smoker.", "smoking", "passive-smoking"),
        ("Abdo soft.", "abdominal-guarding", "abdominal-tenderness"),
    ],
)
def test_a_denial_is_shown_of_what_it_denies_only(
    starter_graph: KnowledgeGraph, text: str, denied: str, open_: str
) -> None:
    found = shown(starter_graph, text)
    assert found.get(denied) is False
    assert open_ not in found


@pytest.mark.parametrize(
    "text", ["O/E chest clear.", "CXR done.", "I am 40F.", "My jaw.", "WCC to be done.", "She is drinking OK."]
)
def test_nothing_is_shown_of_what_says_nothing_of_the_kind(starter_graph: KnowledgeGraph, text: str) -> None:
    assert shown(starter_graph, text) == {}


def test_non_denies_its_own_word_and_no_list_after_it(starter_graph: KnowledgeGraph) -> None:
    found = shown(starter_graph, "O/E: non-tender, pink swelling of lip.")
    assert found.get("lip-or-tongue-swelling") is not False


def test_a_stated_finding_is_not_shown_as_denied_in_general(starter_graph: KnowledgeGraph) -> None:
    found = shown(starter_graph, "I have a low-grade temperature. T 37.2.")
    assert found["low-grade-fever"] is True
    assert found.get("fever") is not False


def test_denied_findings_speak_against_diseases_in_which_they_are_usual(starter_graph: KnowledgeGraph) -> None:
    case = "I have a sharp pain in my chest when I breathe in. No fever, no cough."
    against = line(starter_graph, case, "pneumonia").findings_against
    assert {"no fever", "no cough"} <= set(against)
    assert "no fever" not in line(starter_graph, case, "spontaneous-pneumothorax").findings_against


def test_a_disease_is_supported_by_what_it_lists(starter_graph: KnowledgeGraph) -> None:
    graph = starter_graph.graph
    case = "Crushing chest pain with sweating and swollen lips. I smoke and take tablets for high blood pressure."
    for ranked in starter_graph.look_up(case, limit=20).ranking:
        edges = {m.finding for m in graph.disease[ranked.disease].manifestations if m.how_often != "absent"}
        general = {above for f in edges for above in graph.broader(f)}
        assert set(ranked.findings_for) <= {graph.finding[f].name for f in edges | general}


def test_only_what_is_shown_is_named_for_a_disease(starter_graph: KnowledgeGraph) -> None:
    case = "He has crushing chest pain for 40 minutes and is nauseated. He takes tablets for high blood pressure."
    graph = starter_graph.graph
    ids = [f for f, present in shown(starter_graph, case).items() if present]
    names = {graph.finding[f].name for id_ in ids for f in (id_, *graph.broader(id_))}
    for ranked in starter_graph.look_up(case).ranking:
        assert set(ranked.findings_for) <= names


def test_what_the_case_may_mention_is_not_called_missing(starter_graph: KnowledgeGraph) -> None:
    missing = line(starter_graph, "Chest pain that came on at rest.", "unstable-angina").missing
    assert "chest pain at rest" not in missing
    assert "chest pain" not in missing


def test_a_stated_time_rules_out_a_finding_of_a_longer_one(starter_graph: KnowledgeGraph) -> None:
    ids = {
        days: {f.id for f in starter_graph.look_up(f"I have had a fever for {days}.").findings}
        for days in ("3 days", "3 weeks")
    }
    assert "fever" in ids["3 days"]
    assert "prolonged-fever" not in ids["3 days"]
    assert "prolonged-fever" in ids["3 weeks"]


def test_what_was_and_what_others_have_is_told_apart(starter_graph: KnowledgeGraph) -> None:
    found = starter_graph.look_up("Headache for two days. He had a nosebleed as a child. His wife has a cough.")
    assert {f.id for f in found.findings} == {"headache"}
    assert {(f.id, f.told_of) for f in found.asides} == {("nosebleed", "past"), ("cough", "other")}
