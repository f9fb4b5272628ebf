"""Where the graph's knowledge ends: what is left unexplained, and cases of diseases that it lacks."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from prompts.errors import DataError
from support.counting_encoder import CountingEncoder
from tools.contract import Finding
from tools.encoders import Encoder
from tools.knowledge_graph.edge import SHIPPED, EdgeWeights, Names, load_edge, other_names
from tools.knowledge_graph.lookup import KnowledgeGraph

PNEUMOTHORAX = (
    "A tall thin man of 21 has had a sudden sharp pain on the left of his chest since this morning, worse on breathing "
    "in, and is short of breath. No cough, no fever."
)
FABRY = (  # Fabry disease, which the graph lacks
    "A boy of 6 has small dark spots in his groin, burning pain in his hands and feet in hot weather, and never "
    "sweats. His uncle lost his kidneys at 40."
)
PNEUMONIA_ZH = "男，68岁，受凉后发热4天，寒战，咳铁锈色痰，右胸刺痛。"


def test_a_disease_of_the_graph_explains_its_case(starter_graph: KnowledgeGraph) -> None:
    found = starter_graph.look_up(PNEUMOTHORAX)
    assert not found.outside
    assert found.explained is not None
    assert found.explained > 0.5


def test_a_case_of_an_unknown_disease_is_outside(starter_graph: KnowledgeGraph) -> None:
    found = starter_graph.look_up(FABRY)
    assert found.outside
    assert found.ranking  # the closest of those that it knows


def test_chinese_is_judged_by_the_graph_alone(starter_graph: KnowledgeGraph) -> None:
    weights = load_edge().languages["zh"]
    assert not any(name.startswith("near") for name in weights.names)
    assert starter_graph.look_up(PNEUMONIA_ZH).explained is not None


def test_a_case_whose_disease_is_taken_out_is_explained_less(starter_graph: KnowledgeGraph) -> None:
    known, unknown = starter_graph.edge_features(PNEUMOTHORAX, ("", "spontaneous-pneumothorax"))
    weights = load_edge().languages["en"]
    assert weights.probability(unknown) < weights.probability(known)


def test_nothing_told_is_not_beyond_the_graph(starter_graph: KnowledgeGraph) -> None:
    found = starter_graph.look_up("Hello, I do not feel well.")
    assert not found.ranking
    assert not found.outside


def test_what_no_leading_disease_accounts_for_is_named_as_it_was_said(starter_graph: KnowledgeGraph) -> None:
    case = PNEUMOTHORAX + " There is blood in his urine."
    found = starter_graph.look_up(case)
    assert any("blood" in said for said in found.unexplained)
    assert not any("breath" in said for said in found.unexplained)
    assert all(said in case for said in found.unexplained)


def test_a_habit_wants_no_explanation(starter_graph: KnowledgeGraph) -> None:
    assert not any("smok" in said for said in starter_graph.look_up(PNEUMOTHORAX + " I smoke.").unexplained)


def test_an_answer_to_a_question_is_unexplained_by_its_name(starter_graph: KnowledgeGraph) -> None:
    toe = starter_graph.graph.finding["big-toe-pain"]
    known = Finding(id=toe.id, name=toe.name, clause="yes", present=True)
    assert toe.name in starter_graph.look_up(PNEUMOTHORAX, known=[known]).unexplained


def test_another_encoder_or_graph_is_not_judged(encoder: Encoder, write_graph, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    found = KnowledgeGraph(encoder, tmp_path, write_graph(None)).look_up("I have a cough and a fever and a rash.")
    assert found.explained is None
    assert not found.outside


def test_vectors_of_names_are_made_again_when_damaged(starter_graph: KnowledgeGraph, tmp_path: Path) -> None:
    graph, encoder = starter_graph.graph, CountingEncoder()
    file = tmp_path / "edge.npz"
    file.write_bytes(b"no archive")
    made = Names(graph, encoder, file, "x").build()
    read = Names(graph, encoder, file, "x").build()
    for one, other in zip(made, read, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-3)
    assert len(made[2]) == len(other_names(graph)) > 500
    held = {d.icd10[:3] for d in graph.diseases}
    assert "Gout" not in other_names(graph)
    assert "M10" in held


def test_a_damaged_model_is_told(tmp_path: Path) -> None:
    path = tmp_path / "edge.json"
    path.write_text(json.dumps({"graph": "starter"}), encoding="utf-8")
    with pytest.raises(DataError, match="calibrate-outside"):
        load_edge(path)
    stored = json.loads(SHIPPED.read_text(encoding="utf-8"))
    assert stored["card"]["origin"] == "ours"


def test_probabilities_are_bounded_for_any_feature() -> None:
    weights = EdgeWeights(names=("lead",), means=(0.0,), scales=(1.0,), weights=(9.0,), constant=0.0, least=0.5)
    assert 0.0 <= weights.probability({"lead": -1e9}) < weights.probability({"lead": 1e9}) <= 1.0
    with pytest.raises(ValueError, match="not known"):
        EdgeWeights(names=("colour",), means=(0.0,), scales=(1.0,), weights=(1.0,), constant=0.0, least=0.5)


@pytest.mark.parametrize(
    ("case", "unread"),
    [
        ("32F, butterfly rash, hyperekplexia, joint pain.", ("hyperekplexia",)),
        ("A man of 50 with a cough. He lives alone and works as a baker.", ()),
        ("A woman of 60 has a fever. No lagophthalmos. On apixaban. The pain spreads to her shoulder blade.", ()),
        ("Lagophthalmos: none. Cough for two days.", ()),
        # a value beside what is read, in one clause or sentence with it, is not lost
        ("She has diarrhoea with a procalcitonin of 12 and a haemoglobin of 98.", ("procalcitonin of 12",)),
        ("FXQ 900, Hb 98, loose stools", ("FXQ 900",)),
        ("Aspirin 75 mg, BP 120/80, 3 children, ward 12, cough for 5 days, weight 70 kg.", ()),
        ("腹泻六周，粪钙卫蛋白900，血红蛋白98，身高170cm。", ("粪钙卫蛋白900",)),
        # an abbreviation that nobody knows, as a slip makes one
        ("Severe headache, cqf shows lymphocytes 200.", ("cqf shows",)),
    ],
)
def test_what_is_not_understood_is_told(starter_graph: KnowledgeGraph, case: str, unread: tuple[str, ...]) -> None:
    assert starter_graph.look_up(case).unread == unread


def test_a_denied_complaint_states_no_kind_of_it(starter_graph: KnowledgeGraph) -> None:
    found = starter_graph.look_up("A man of 58 with crushing chest pain. No fever, no cough.")
    assert "no cough" not in found.unexplained
    assert [f.id for f in found.findings if f.present and "cough" in f.id] == []
