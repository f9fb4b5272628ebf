"""Chinese wordings in a text: part and complaint apart, accidents of characters, sides, ages, what is no denial."""

from __future__ import annotations

import pytest

from tools.contract import Finding
from tools.knowledge_graph.lookup import KnowledgeGraph
from tools.text.clauses import clauses
from tools.text.demographics import read_person


def told(graph: KnowledgeGraph, text: str) -> dict[str, Finding]:
    """The findings that a case is shown to tell, by id."""
    return {f.id: f for f in graph.look_up(text, "zh").findings}


@pytest.mark.parametrize(
    ("text", "finding", "not_told"),
    [
        ("右小腿开始肿胀。", "one-leg-swelling", "leg-oedema"),
        ("右上腹持续性疼痛。", "right-upper-quadrant-pain", "epigastric-pain"),
        ("没有吐血。", "haematemesis", "vomiting"),
        ("提睾反射消失。", "absent-cremasteric-reflex", "reduced-reflexes"),
        ("起了很多水泡。", "vesicular-rash", "anxiety"),
    ],
)
def test_the_finding_that_is_meant_is_told_and_no_other_that_shares_characters(
    starter_graph: KnowledgeGraph, text: str, finding: str, not_told: str
) -> None:
    found = told(starter_graph, text)
    assert finding in found
    assert not_told not in found


@pytest.mark.parametrize(
    ("text", "not_told"),
    [
        ("走路时小腿肚子胀痛。", "abdominal-distension"),
        ("腹部胀痛。", "abdominal-distension"),
        ("右上腹压痛、肌紧张。", "anxiety"),
        ("右上腹压痛、肌紧张。", "abdominal-pain"),
        ("抬头时膝盖疼。", "headache"),
        ("右下肢水肿。", "leg-oedema"),
        ("双下肢水肿。", "one-leg-swelling"),
        ("头不痛。", "neck-pain"),
    ],
)
def test_what_only_looks_like_a_finding_is_not_told(starter_graph: KnowledgeGraph, text: str, not_told: str) -> None:
    assert not_told not in told(starter_graph, text)


def test_both_legs_and_a_distended_abdomen_are_told(starter_graph: KnowledgeGraph) -> None:
    assert "leg-oedema" in told(starter_graph, "双下肢水肿。")
    assert "abdominal-distension" in told(starter_graph, "腹胀明显。")
    assert told(starter_graph, "头部一阵阵地疼。")["headache"].present is True
    assert told(starter_graph, "头不痛。")["headache"].present is False


@pytest.mark.parametrize(
    ("text", "age", "sex"),
    [
        ("我今年五十二岁，女，右腿肿。", 52, "female"),
        ("儿子六岁，发烧。", 6, "male"),
        ("爷爷十二岁时受过伤，七十岁了。", 12, "male"),
        ("今年四十岁男的，咳嗽。", 40, "male"),
        ("患儿，男，5个月，咳嗽3天。", 5 / 12, "male"),
        ("宝宝20个月，女孩。", 20 / 12, "female"),
        ("24岁女生，头晕。", 24, "female"),
        ("咳嗽5个月，痰多。", None, None),
        ("二十七八岁的样子。", None, None),
    ],
)
def test_ages_in_words_and_of_infants(text: str, age: float | None, sex: str | None) -> None:
    person = read_person(text)
    assert person.age == (pytest.approx(age) if age is not None else None)
    assert person.sex == sex


def test_no_relief_and_a_contrast_are_no_denial() -> None:
    text = "抬高阴囊疼痛不减轻，脑脊液蛋白升高而细胞数正常，血糖正常。"
    assert {c.text for c in clauses(text) if c.present is False} == {"血糖正常"}


def test_latin_letters_of_a_wording_must_stand_in_the_text(starter_graph: KnowledgeGraph) -> None:
    assert "paraprotein" not in {f.id for f in starter_graph.look_up("脑脊液蛋白1.2g/L。").findings}
    assert "paraprotein" in {f.id for f in starter_graph.look_up("血清M蛋白升高。").findings}
