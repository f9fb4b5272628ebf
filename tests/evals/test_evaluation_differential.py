"""The counting of `differential` beside ranks, its baseline, and the rows in lay language."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from evals.datasets.ddxplus import read_conditions, read_lay, statement_of
from evals.datasets.ddxplus_graphs import DISEASES, Placed, medrag_graph
from evals.datasets.rows import read_yaml_rows
from evals.tasks.differential import NaiveBayes, Ranked, agreement, figures_of
from prompts.errors import DataError


def test_agreement_with_the_gold_differential() -> None:
    ranking = tuple((d, "L") for d in "abcdef")
    row = Ranked("a", "L", ranking, False, (0.5, 0.2, 0.1, 0.1, 0.1, 0.0), (("b", 0.6), ("f", 0.2), ("z", 0.2)))
    recall, precision, overlap = agreement(row)
    assert recall == pytest.approx(1 / 3)  # of b, f and z only b is among the first five
    assert precision == pytest.approx(1 / 5)
    assert overlap == pytest.approx(0.2)  # min(.6, .2) of b, min(.2, 0) of f, z is not ranked
    same = Ranked("a", "L", (("a", "L"), ("b", "L")), False, (0.75, 0.25), (("a", 0.3), ("b", 0.1)))
    assert agreement(same) == pytest.approx((1, 2 / 2, 1))
    assert agreement(Ranked("a", "L", (), False, (), (("a", 1.0),))) == (0, 0, 0)


def test_figures_bear_the_graphs_name_and_leave_all_out_where_there_is_no_more() -> None:
    row = Ranked("a", "A", (("x", "X"), ("a", "A")), False, (0.6, 0.4), (("a", 1.0),))
    named = {f.name: f for f in figures_of([row], frozenset("a"), 0, graph="records", given="codes", more=False)}
    assert named["records.codes.l3_top1"].value == 100
    assert named["records.codes.ddx_overlap"].value == 1
    assert not any("_all" in name or "clean" in name for name in named)


def test_naive_bayes_is_the_textbooks() -> None:
    model = NaiveBayes([("a", ["x", "y"]), ("a", ["x"]), ("b", ["y"]), ("b", [])])
    # rates (k + 1) / (n + 2): a: x 3/4, y 1/2; b: x 1/4, y 1/2
    assert model.rank(["x", "unheard"]) == [("a", pytest.approx(0.75)), ("b", pytest.approx(0.25))]
    assert dict(model.rank([]))["b"] == pytest.approx(0.75)


def test_an_evidence_has_one_sentence() -> None:
    templates = {
        "E_1": "I cough.",
        "E_2": "It hurts {value} out of 10.",
        "_values": {"V_9": None},
        "_sentences": {"E_2_@_0": "It does not hurt."},
    }
    said = [statement_of(templates, e) for e in ("E_1", "E_2_@_7", "E_2_@_0", "E_2_@_V_9")]
    assert said == ["I cough.", "It hurts 7 out of 10.", "It does not hurt.", ""]


def test_the_lay_rows_are_a_hundred_different_ones() -> None:
    rows = read_lay()
    assert len({r.id for r in rows}) == len({r.text for r in rows}) == 100


def test_every_condition_is_a_disease_of_the_released_graph() -> None:
    placed = read_yaml_rows(DISEASES, Placed)
    assert {p.condition for p in placed} == set(read_conditions())
    assert sorted(p.condition for p in placed if not p.same_as) == sorted(read_conditions())


def test_the_released_graph_is_mended_and_another_one_refused(tmp_path: Path) -> None:
    (tmp_path / "ddxplus").mkdir()
    path = tmp_path / "ddxplus" / "medrag_ddxplus_kg.csv"
    placed = read_yaml_rows(DISEASES, Placed)
    classes = {p.place for p in placed if p.place}
    rows = [(p.disease.replace("-", "_"), "has_symptomatology", f"sign of {p.disease}") for p in placed]
    rows += [(p.disease.replace("-", "_"), "is_a", "infectious_diseases") for p in placed if not p.place]
    rows += [("urti", "is_a", c.replace("-", "_")) for c in classes] + [(c, "is_a", "medicine") for c in classes]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("subject", "relation", "object"), *rows])
    with pytest.raises(DataError, match="other diseases than expected"):
        _without(path, "boerhaave,", tmp_path)
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("subject", "relation", "object"), *rows])
    graph, of = medrag_graph(tmp_path)
    assert len(graph.diseases) == len(of) == 49
    assert graph.disease["epiglottitis"].l2 == "respiratory-system"
    joined = {graph.finding[e.finding].name for e in graph.disease["boerhaave"].manifestations}
    assert joined == {"sign of boerhaave", "sign of boerhaave-syndrome"}
    assert json.dumps(graph.model_dump(mode="json"))


def _without(path: Path, start: str, data: Path) -> None:
    path.write_text("\n".join(line for line in path.read_text().splitlines() if not line.startswith(start)))
    medrag_graph(data)
