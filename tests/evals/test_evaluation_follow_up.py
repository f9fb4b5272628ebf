"""The evaluation of questions: the simulated patient, the mapping, the count of questions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evals.datasets.ddxplus import CodedPatient, TextPatient, statements
from evals.statistics import paired_ratio
from evals.tasks.differential.follow_up import (
    ARMS,
    MOST,
    UNSOLVED,
    Asker,
    SimulatedPatient,
    Solved,
    figures_of,
    read_mapping,
)
from prompts.errors import DataError
from tools.encoders import Encoder
from tools.knowledge_graph.loader import read_graph
from tools.knowledge_graph.lookup import KnowledgeGraph

GRAPH = read_graph()
MAPPING = {
    "cough": (("E_1", True),), "productive-cough": (("E_2", True),), "fever": (("E_3", True), ("E_4", False)),
    "chest-pain": (("E_5_@_V_1", True),),
}  # fmt: skip


@pytest.mark.parametrize(
    ("has", "finding", "answer"),
    [
        ({"E_1"}, "cough", True), ({"E_2"}, "cough", True), (set(), "cough", False),
        (set(), "dry-cough", False), ({"E_1"}, "dry-cough", None), ({"E_1"}, "productive-cough", False),
        ({"E_3"}, "fever", True), ({"E_4"}, "fever", False), (set(), "rash", None),
        ({"E_5_@_V_1"}, "chest-pain", True), ({"E_5_@_V_2"}, "chest-pain", False),
    ],
)  # fmt: skip
def test_a_patient_knows_what_the_evidences_tell(has: set[str], finding: str, answer: bool | None) -> None:
    assert SimulatedPatient(GRAPH, MAPPING, frozenset(has)).answer(finding) is answer


def test_the_mapping_is_of_the_starter_graph(tmp_path: Path) -> None:
    mapping = read_mapping(GRAPH)
    assert len(mapping) > 150
    assert ("E_91", True) in mapping["fever"]
    assert mapping["immunisation-not-up-to-date"] == (("E_209", False),)
    assert all(GRAPH.finding[f].kind != "treatment" for f in mapping)
    (tmp_path / "m.yaml").write_text("- {finding: no-such, told_by: [E_1]}", encoding="utf-8")
    with pytest.raises(DataError, match="no-such"):
        read_mapping(GRAPH, tmp_path / "m.yaml")


def test_statements_are_filled_with_each_value(tmp_path: Path) -> None:
    said = {
        "E_1": "I cough.", "E_2": "Pain in {value}.", "E_3": "It hurts {value} out of 10.",
        "_values": {"V_1": "my chest", "V_2": None, "V_3": "x"}, "_sentences": {"E_2_@_V_3": "No pain."},
    }  # fmt: skip
    meaning = {"E_1": {}, "E_2": {"V_1": {}, "V_2": {}, "V_3": {}}, "E_3": {}}
    folder = tmp_path / "ddxplus"
    folder.mkdir()
    (folder / "statements_plain.json").write_text(json.dumps(said))
    (folder / "release_evidences.json").write_text(json.dumps({k: {"value_meaning": v} for k, v in meaning.items()}))
    assert statements(tmp_path) == {"E_1": "I cough.", "E_2_@_V_1": "Pain in my chest.", "E_2_@_V_3": "No pain."}
    (folder / "statements_plain.json").write_text(json.dumps({"E_1": "I cough."}))
    with pytest.raises(DataError, match="same release"):
        statements(tmp_path)


def test_an_unsolved_case_counts_as_all_questions_and_arms_are_paired() -> None:
    ended = {
        "gain": [Solved(2, UNSOLVED), Solved(0, 4)],
        "sigma": [Solved(UNSOLVED, UNSOLVED), Solved(5, 5)],
        "random": [Solved(6, 7), Solved(2, 2)],
    }
    values = {f.name: f.value for f in figures_of(ended, 0)}
    assert values["follow_up.gain.questions"] == 1
    assert values["follow_up.sigma.questions"] == (MOST + 5) / 2
    assert (values["follow_up.sigma.solved"], values["follow_up_all.gain.solved"]) == (50, 50)
    assert values["follow_up.gain_of_random.percent"] == pytest.approx(25)
    assert values["follow_up.gain_less_sigma.questions"] == pytest.approx(1 - 10)
    assert values["follow_up_all.gain.questions"] == (MOST + 4) / 2


def test_a_paired_ratio_holds_its_own_value_and_nothing_over_nothing() -> None:
    (figure,) = paired_ratio("a.b.percent", [1, 2, 3, 2], [4, 4, 4, 4], 0)
    assert figure.value == 50
    assert figure.ci95 is not None
    assert figure.ci95[0] < 50 < figure.ci95[1]
    assert paired_ratio("a.b.percent", [1.0], [0.0], 0) == []


def test_a_conversation_finds_the_disease_with_each_way_of_asking(encoder: Encoder, built_home: Path) -> None:
    graph = KnowledgeGraph(encoder, built_home / "indexes")
    mapping = read_mapping(graph.graph)
    asker = Asker(graph, mapping, {"Influenza": "influenza", "Croup": "croup"})
    row = TextPatient(
        id="a", text="I am a 3-year-old boy. I cough.", initial_text="I have a cough.", pathology="Croup", age=3,
        sex="M", names_gold=False,
    )  # fmt: skip
    coded = CodedPatient(
        id="a", age=3, sex="M", pathology="Croup", evidences=("E_201", "E_202", "E_194", "E_212"),
        initial_evidence="E_201", differential=(), split="validate",
    )  # fmt: skip
    ended = {arm: asker.ask(row, coded, arm, 0) for arm in ARMS}
    assert ended["gain"] == asker.ask(row, coded, "gain", 0)
    assert 0 <= ended["gain"].conditions <= 3
    assert all(s.conditions <= s.every or s.every == UNSOLVED for s in ended.values())
