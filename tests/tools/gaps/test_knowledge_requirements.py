"""Knowledge requirements from a question."""

from __future__ import annotations

import pytest

from tools.gaps.requirements import (
    CASE_ASPECTS,
    intents,
    intervention_of,
    key_terms,
    population_of,
    query_of,
    requirements,
    topic_of,
)


def test_a_case_asks_five_things_of_each_of_three_leading_diseases() -> None:
    found = requirements("cough", "case", "en", {}, ["Asthma", "Asthma", "COPD", "Croup", "Gout"])
    assert len(found) == 15
    assert found[:2] == ["Asthma: presentation and symptoms", "Asthma: diagnosis and tests"]
    assert [r.partition(":")[0] for r in found[::5]] == ["Asthma", "COPD", "Croup"]


def test_a_case_in_chinese() -> None:
    found = requirements("咳嗽", "follow_up", "zh", {}, ["哮喘"])
    assert found == [f"哮喘：{aspect}" for aspect in CASE_ASPECTS["zh"]]


def test_a_case_without_a_disease_asks_for_causes() -> None:
    found = requirements("night sweats and weight loss", "case", "en", {}, [])
    assert found[0] == "night sweats and weight loss: possible causes"
    assert len(found) == 3


def test_each_option_is_a_requirement() -> None:
    options = {"A": "Macrolide", "B": "Tetracycline"}
    found = requirements(
        "Which antibiotic class is first choice in whooping cough?", "multiple_choice", "en", options, []
    )
    assert found == [f"{o}: antibiotic class is first choice in whooping cough" for o in options.values()]


def test_an_evidence_question_asks_for_effect_harms_and_whom() -> None:
    found = requirements("Do statins reduce deaths in adults without known heart disease?", "evidence", "en", {}, [])
    assert found == [
        "statins reduce deaths in adults without known heart disease",
        "statins: harms, side effects and uncertainty",
        "statins: who it applies to: adults without known heart disease",
    ]


@pytest.mark.parametrize(
    ("requirement", "query"),
    [
        ("statins: harms, side effects and uncertainty", "statins: adverse effects"),
        ("statins: who it applies to: adults with gout", "statins: adults with gout"),
        ("statins: who it applies to", ""),
        ("高流量吸氧：适用人群", ""),
        ("高流量吸氧：适用人群：成人", "高流量吸氧：成人"),
        ("Asthma: when to seek help, red flags", "Asthma: warning signs"),
        ("Asthma: treatment", "Asthma: treatment"),
        ("Asthma: tests and assessment of children", "Asthma: tests and assessment of children"),
        ("statins reduce deaths", "statins reduce deaths"),
    ],
)
def test_a_gap_is_searched_for_in_the_words_of_publications_or_not_at_all(requirement: str, query: str) -> None:
    assert query_of(requirement) == query


def test_an_evidence_question_in_chinese() -> None:
    found = requirements("高流量吸氧能否有效终止丛集性头痛的急性发作?", "evidence", "zh", {}, [])
    assert found == [
        "高流量吸氧能否有效终止丛集性头痛的急性发作",
        "高流量吸氧：危害、副作用与不确定性",
        "高流量吸氧：适用人群",
    ]


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("When is a negative D-dimer enough to rule out pulmonary embolism?", ["diagnosis"]),
        ("What is the outlook after a stroke?", ["prognosis"]),
        ("What causes gout?", ["cause"]),
        ("What is the first-line drug for gout?", ["treatment"]),
        ("Does low-dose CT screening reduce lung cancer deaths?", ["effect"]),
        ("肺栓塞如何诊断？", ["diagnosis"]),
        ("Tell me about gout", ["effect"]),
    ],
)
def test_intents(question: str, wanted: list[str]) -> None:
    assert intents(question) == wanted


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("How effective is dexamethasone in croup?", "dexamethasone in croup"),
        ("In a COPD exacerbation, is prednisolone useful?", "prednisolone useful in a COPD exacerbation"),
        ("Does PSA screening lower mortality, and what are the harms?", "PSA screening lower mortality"),
        ("普通感冒需要使用抗生素吗?证据如何?", "普通感冒需要使用抗生素"),
        ("Why?", "Why"),
    ],
)
def test_topics(question: str, topic: str) -> None:
    assert topic_of(question) == topic


def test_a_long_question_becomes_its_key_terms() -> None:
    topic = topic_of(
        "What should I do when " + "my elderly neighbour keeps falling over in the garden and " * 6 + "help?"
    )
    assert topic.split() == key_terms(topic)
    assert {"elderly", "falling", "garden"} <= set(topic.split())


def test_populations_and_interventions() -> None:
    ear = "Should most children with acute otitis media get antibiotics straight away?"
    assert population_of(ear) == "children with acute otitis media"
    assert intervention_of(ear) == topic_of(ear)
    assert population_of("Does CT screening reduce deaths in heavy smokers?") == "heavy smokers"
    assert population_of("Is colchicine safe?") == ""
    assert intervention_of("Is colchicine safe?") == "colchicine"
    assert population_of("流感疫苗对老年人有效吗？").endswith("老年人")
