"""Figures of labels and ablations: baselines, paired macro-F1 by patient, the reader, what each arm changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agent.configurations.loading import find
from agent.sessions import Home
from agent.settings import Settings
from evals.contract import TaskContext
from evals.runner import local_settings
from evals.tasks.completeness import (
    Labelled,
    keyword_shares,
    label_figures,
    macro_difference,
    macro_figure,
    majority,
    predictions,
    reordered,
    sentence_shares,
    too_few,
    twins,
    unseen,
)
from evals.tasks.completeness.ablations import ARMS, AblationCase, Read, arm_figures, compared_figures, named
from evals.tasks.completeness.cases import ArmCase, ArmOutcome, ArmRow
from evals.training.gate_labellers import macro_f1, rows_of
from support.annotating import many, quick_heads
from support.ranked import ranked
from support.word_encoder import WordEncoder
from tools.contract import Differential
from tools.encoders import Encoder
from tools.knowledge_graph.lookup import KnowledgeGraph
from tools.text.sentences import sentences


@pytest.fixture(scope="module", autouse=True)
def quick() -> Iterator[None]:
    with quick_heads():
        yield


@pytest.fixture(scope="module")
def held() -> Labelled:
    cases = many(15)
    rows = rows_of(cases, lambda _: Differential(), WordEncoder())
    return Labelled(
        rows=rows,
        diseases=tuple(f"d{n % 5}" for n, case in enumerate(cases) for _ in case.units),
        sentences=tuple(unit.text for case in cases for unit in case.units),
        rules=np.zeros(len(rows.classes), dtype=np.int64),
    )


def test_each_method_learns_what_it_can_and_no_more(held: Labelled) -> None:
    said = predictions(held, held.rows.groups, "words", 0)
    true = held.rows.classes
    reached = {name: macro_f1(classes, true) for name, classes in said.items()}
    assert reached["head"] > 0.9
    assert reached["keywords"] > 0.9
    assert reached["majority"] == reached["rules"] == pytest.approx(1 / 6)
    assert reached["per_finding"] < 0.4  # no sentence stands in two cases, so that a table knows none


def test_the_heads_lead_is_paired_and_named_for_each_comparator(held: Labelled) -> None:
    figures = {f.name: f for f in unseen("unseen_patients", held, held.rows.groups, "words", 0)}
    head, table = figures["labels.unseen_patients.macro_f1"], figures["labels_per_finding.unseen_patients.macro_f1"]
    lead = figures["labels.unseen_patients.over_per_finding"]
    assert lead.value == pytest.approx(head.value - table.value)
    assert lead.n == 45
    assert lead.ci95 is not None
    assert 0 < lead.ci95[0] <= lead.value <= lead.ci95[1]
    assert len(figures) == 13


def test_intervals_resample_patients_whole() -> None:
    true, said = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 0, 1, 1, 2, 0])
    alone = macro_figure("a.b.c", said, true, [str(n) for n in range(6)], 0)[0]
    assert alone.value == pytest.approx(100 * macro_f1(said, true))
    assert alone.ci95 is not None
    assert alone.ci95[0] < alone.value < alone.ci95[1]
    one_patient = macro_figure("a.b.c", said, true, ["p"] * 6, 0)[0]
    assert one_patient.ci95 == pytest.approx((alone.value, alone.value))
    same = macro_difference("a.b.c", said, said, true, list("aabbcc"), 0)[0]
    assert (same.value, same.ci95) == (0, (0, 0))
    assert macro_figure("a.b.c", said[:0], true[:0], [], 0) == []


def test_baselines_tell_shares_of_what_they_saw() -> None:
    known, classes = ["chest burns", "chest burns", "red bicycle"], np.array([0, 2, 2])
    assert majority(classes) == 2
    assert majority(np.array([0, 2])) == 2  # of equals the least important
    table = sentence_shares(known, classes, ["chest burns", "new words"])
    assert table[0].tolist() == [0.5, 0, 0.5]
    assert table[1].tolist() == pytest.approx([1 / 3, 0, 2 / 3])
    words = keyword_shares(known, classes, ["burns", "bicycle"])
    assert words[0, 0] > words[1, 0]
    assert words.sum(axis=1).tolist() == pytest.approx([1, 1])


def test_another_order_of_sentences_says_the_same() -> None:
    text = "I am 50. It burns. It rises. I own a cat. I walk."
    other, order = reordered(text, 3)
    said = [s.of(text) for s in sentences(text)]
    assert [s.of(other) for s in sentences(other)] == [said[i] for i in order]
    assert order[0] == 0
    assert sorted(order) == list(range(5))
    assert reordered(text, 3) == (other, order)


def test_a_twin_is_never_of_the_same_patient(held: Labelled) -> None:
    figure = twins(held, "words", 0)[0]
    assert figure.n == 45
    assert figure.value > 90  # the same sentences, of other patients


def test_only_diseases_near_the_first_are_named() -> None:
    assert named([ranked("a", 0.5, icd10="A00.1"), ranked("b", 0.3, icd10="B00"), ranked("c", 0.1, icd10="C00")]) == {
        "A00",
        "B00",
    }
    assert named([]) == frozenset()


def test_columns_of_an_arm_are_the_published_ones_over_all_cases() -> None:
    cases = [
        AblationCase("t", frozenset({"A00"}), frozenset({"a"})),
        AblationCase("u", frozenset({"B00"}), frozenset()),
    ]
    read = [Read(frozenset({"A00", "C00"}), True, frozenset("a")), Read(frozenset(), False, frozenset())]
    values = {f.name: f.value for f in arm_figures("ablation_full.agentclinic", cases, read, 0)}
    assert values == {
        "ablation_full.agentclinic.precision": 50.0,
        "ablation_full.agentclinic.recall": 50.0,
        "ablation_full.agentclinic.f1": 50.0,
        "ablation_full.agentclinic.retrieval_rate": 50.0,
        "ablation_full.agentclinic.document": 100.0,
    }


def test_arms_are_compared_by_case_and_equal_ones_are_told_as_equal() -> None:
    cases = [AblationCase("t", frozenset({"A00"}), frozenset()), AblationCase("u", frozenset({"B00"}), frozenset())]
    full = [Read(frozenset({"A00"}), True, frozenset()), Read(frozenset({"B00"}), True, frozenset())]
    less = [full[0], Read(frozenset({"C00"}), True, frozenset())]
    equal = compared_figures("x.y", cases, full, full, 0)
    assert {(f.value, f.ci95) for f in equal if not f.name.endswith("named_otherwise")} == {(0.0, (0.0, 0.0))}
    found = {f.name: f for f in compared_figures("x.y", cases, full, less, 0)}
    assert (found["x.y.f1"].value, found["x.y.named_otherwise"].value) == (50.0, 50.0)
    assert found["x.y.f1"].ci95 == (0.0, 100.0)


def test_arms_differ_in_their_own_part_alone(tmp_path: Path) -> None:
    held = {arm: local_settings(name, home=tmp_path) for arm, name in ARMS.items()}
    gates = {arm: settings.gate.method for arm, settings in held.items()}
    assert gates == {arm: "retrieve" if arm == "always" else "published" for arm in ARMS}
    assert {s.gate.labels for arm, s in held.items() if arm != "always"} == {"head"}
    assert not held["no_filter"].document_filter
    assert held["full"].document_filter
    assert held["reranked"].passage_search == "chunk_reranked"
    assert held["whole_documents"].passage_search == "whole_documents"
    assert held["whole_documents"].pipeline.steps == held["full"].pipeline.steps
    assert all(settings.language_model is None for settings in held.values())
    assert find("ica-rag:trained-classifier").missing == ""


def test_too_few_patients_or_diseases_are_told_and_lose_nothing_else(built_home: Path, encoder: Encoder) -> None:
    graph = KnowledgeGraph(encoder, Home(built_home).indexes)
    text = "I am 50. I have heartburn after meals. I own a red bicycle."
    outcome = ArmOutcome(ranking=(), differential=graph.look_up(text, "en"))
    cases = [ArmCase(f"p{n}", 0, text, frozenset({"gerd"}), False) for n in range(3)]
    context = TaskContext(data=built_home, limit=3, seed=0, settings=Settings(home=built_home))
    assert label_figures(context, [ArmRow(case, outcome, outcome) for case in cases], graph, encoder) == []
    assert "patients left out" in context.not_run["labels"]


def test_few_diseases_are_too_few_even_of_many_patients(held: Labelled) -> None:
    assert "diseases left out" in too_few(held, 0)
    assert too_few(replace(held, diseases=held.rows.groups), 0) == ""
