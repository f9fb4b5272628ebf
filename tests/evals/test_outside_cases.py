"""The cases of `outside`: which side, which half, and that nothing that is judged was fitted on."""

from __future__ import annotations

import pytest

from evals.datasets.phenopackets import Named, Patient
from evals.tasks.outside import above, half_of, short_cases, written_cases
from tools.knowledge_graph.loader import read_graph
from tools.knowledge_graph.names import DiagnosisNames


def test_a_key_is_in_one_half_always() -> None:
    halves = {key: half_of(key) for key in map(str, range(200))}
    assert halves == {key: half_of(key) for key in halves}
    assert 60 < sum(half == "fit" for half in halves.values()) < 140


def test_sides_are_found_in_the_graph() -> None:
    cases = {c.id: c for c in short_cases(DiagnosisNames(read_graph()))}
    assert cases["s004"].disease == ""
    assert not cases["s004"].inside
    assert cases["s101"].disease == "gerd"
    assert all(c.inside for c in written_cases())


def test_a_patient_is_told_as_prose() -> None:
    terms = [Named(id=f"HP:{n}", label=label) for n, label in enumerate(("Seizure", "IgA deficiency", "Ataxia"))]
    gold = Named(id="OMIM:1", label="x")
    patient = Patient(
        id="p", observed=tuple(terms[:2]), excluded=(terms[2],), gold_diagnosis=gold, pmid="1", sex="MALE", age="P28Y"
    )
    assert patient.prose() == "A 28-year-old male has seizure and IgA deficiency. There is no ataxia."


@pytest.mark.parametrize(("percent", "told"), [(0, [False, True]), (50, [True, True])])
def test_the_curve_is_by_the_inside_scores(percent: int, told: list[bool]) -> None:
    assert above([0.5, 0.9], [0.1, 0.2, 0.6, 0.7], percent) == told
