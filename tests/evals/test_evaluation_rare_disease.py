"""Rare diseases: which patients are taken, how ranks are counted, that the lay wordings are whole."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from evals.datasets.phenopackets import LAY, LayCase, Named, Patient, read_lay, read_patients
from evals.datasets.rows import read_yaml_rows
from evals.tasks.differential.rare_disease import ResnikBestMatch, rank_of, tops
from prompts.errors import DataError
from support.small_hpo import write_small_hpo
from tools.knowledge_graph.hpo.compiled import build
from tools.knowledge_graph.hpo.ontology import Papers


def row(id: str, pmid: str, terms: int = 3, disease: str = "OMIM:1") -> dict[str, object]:
    observed = [{"id": f"HP:{n}", "label": f"Term {n}"} for n in range(terms)]
    gold = {"id": disease, "label": "x"}
    return {"id": id, "pmid": pmid, "observed": observed, "excluded": [], "gold_diagnosis": gold, "sex": "MALE"}


def test_the_first_fitting_patient_of_each_paper_is_taken(tmp_path: Path) -> None:
    rows = [row("few", "1", terms=2), row("a", "1"), row("b", "1"), row("c", "2", disease="OMIM:9"), row("d", "3")]
    (tmp_path / "cases").mkdir()
    file = tmp_path / "cases" / "phenopackets_dev.jsonl"
    file.write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    assert [p.id for p in read_patients(tmp_path, {"OMIM:1"})] == ["a", "d"]
    with pytest.raises(DataError, match="annotated"):
        read_patients(tmp_path, {"OMIM:77"})


def test_a_tie_is_given_the_middle_of_its_places() -> None:
    scores = np.array([3.0, 2.0, 2.0, 2.0, 1.0])
    assert [rank_of(scores, d) for d in range(5)] == [1, 3, 3, 3, 5]
    assert [f.value for f in tops("hpo.ids", [1, 3, 11, 2])] == [25, 75, 75]


def test_labels_become_a_text() -> None:
    term, other = Named(id="HP:1", label="Cataract"), Named(id="HP:2", label="Ataxia")
    patient = Patient(
        id="a", observed=(term,), excluded=(other,), gold_diagnosis=Named(id="OMIM:1", label="x"), pmid="1"
    )
    assert patient.labels() == "Cataract. No Ataxia."


def test_the_lay_wordings_are_a_hundred_different_texts() -> None:
    cases = read_yaml_rows(LAY, LayCase)
    assert len({c.id for c in cases}) == len({c.text for c in cases}) == len(cases) == 100
    assert not [c.id for c in cases if "HP:" in c.text or "OMIM" in c.text]
    patient = Patient(id=cases[3].id, observed=(), excluded=(), gold_diagnosis=Named(id="OMIM:1", label="x"), pmid="1")
    assert read_lay([patient]) == [(patient, cases[3].text)]


def test_plain_resnik_takes_the_best_common_ancestor(tmp_path: Path) -> None:
    ontology = build(write_small_hpo(tmp_path))
    baseline = ResnikBestMatch(ontology)
    nuclear = ontology.position["HP:0000012"]
    scores = baseline.scores([nuclear])
    assert scores[0] == pytest.approx(float(ontology.content[nuclear]))
    shared = float(ontology.content[ontology.position["HP:0000011"]])
    assert scores[ontology.disease_position["OMIM:2"]] == pytest.approx(shared)
    gone = Papers(ontology, whole=True).gone("12")
    assert baseline.scores([nuclear], gone)[0] == 0
