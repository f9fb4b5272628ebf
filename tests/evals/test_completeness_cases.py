"""Cases with information removed, AgentClinic's as texts, kept outcomes, and the counting of the two arms."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.datasets.clinical import ClinicCase
from evals.datasets.ddxplus import LEVELS, TextPatient, degraded
from evals.tasks.completeness import arm_figures
from evals.tasks.completeness.cases import ArmCase, ArmOutcome, ArmRow, KeptOutcomes, pool_of
from tools.contract import Differential

FIRST = "I am a 50-year-old man."
LOOSE = [f"I have finding number {n}." for n in range(8)]


def patient(id: str = "p", complaint: str = "My ear hurts.") -> TextPatient:
    text = " ".join([FIRST, complaint, *LOOSE])
    return TextPatient(id=id, text=text, initial_text=complaint, pathology="x", age=50, sex="M", names_gold=False)


def test_by_statement_and_by_the_seed() -> None:
    row = patient()
    assert degraded(row, 0, 1) == row.text
    half = degraded(row, 50, 1)
    assert half.startswith(f"{FIRST} My ear hurts.")
    kept = [s for s in LOOSE if s in half]
    assert len(kept) == 4
    assert half == " ".join([FIRST, "My ear hurts.", *kept])  # in the order of the text
    assert degraded(row, 50, 1) == half
    assert len({degraded(row, 50, seed) for seed in range(6)}) > 1
    assert len({degraded(patient(f"p{n}"), 50, 1) for n in range(6)}) > 1
    assert degraded(row, 100, 1) == f"{FIRST} My ear hurts."


@given(seed=st.integers(0, 999), complaint=st.sampled_from(["My ear hurts.", "My ear hurts. It is red.", ""]))
def test_a_higher_level_takes_all_that_a_lower_one_takes(seed: int, complaint: str) -> None:
    row = patient(complaint=complaint or "My ear hurts.")
    told = [{s for s in LOOSE if s in degraded(row, level, seed)} for level in (*LEVELS, 100)]
    assert [len(t) for t in told] == [8, 6, 4, 2, 0]
    assert all(less <= more for more, less in pairwise(told))
    assert all(row.initial_text in degraded(row, level, seed) for level in LEVELS)


def test_a_case_of_agentclinic_tells_all_and_not_the_diagnosis() -> None:
    case = ClinicCase(
        id="a",
        gold_diagnosis="Gout",
        patient={"Demographics": "50-year-old man", "Symptoms": {"Secondary_Symptoms": ["Fever", "Hot toe."]}},
        physical_exam={"Vital_Signs": {"Heart_Rate": "90 bpm"}},
        tests={"Blood_Tests": {"Urate": "high", "None_Done": None}},
    )
    assert case.text == "50-year-old man. Fever. Hot toe. Vital Signs, Heart Rate: 90 bpm. Blood Tests, Urate: high."


def test_outcomes_are_kept_by_text_and_setting(tmp_path: Path) -> None:
    path, made = tmp_path / "kept.sqlite", list[str]()

    def outcome(setting: str, text: str) -> float:
        def compute() -> Differential:
            made.append(text)
            return Differential(margin=float(len(made)))

        table = KeptOutcomes(path, setting)
        margin = table.get("direct", text, Differential, compute).margin
        table.close()
        return margin

    assert [outcome("s", "a"), outcome("s", "a"), outcome("s", "b"), outcome("other", "a")] == [1, 1, 2, 3]
    with KeptOutcomes(path, "s")._table as raw:
        raw.execute("UPDATE outcomes SET value = x'00'")
    assert outcome("s", "a") == 4


def row(id: str, level: int, direct: str, retrieve: str, *, names_gold: bool = False) -> ArmRow:
    case = ArmCase(id, level, "text", frozenset({"gerd"}), names_gold)
    outcomes = [
        ArmOutcome(ranking=((first, 0.6), ("acute-bronchitis", 0.4)) if first else (), differential=Differential())
        for first in (direct, retrieve)
    ]
    return ArmRow(case, outcomes[0], outcomes[1])


def test_arms_are_compared_row_by_row_and_a_patient_counts_once() -> None:
    rows = [
        row("p", 0, "gerd", "gerd"), row("p", 75, "", "gerd"),
        row("q", 0, "bronchitis", "gerd", names_gold=True), row("q", 75, "bronchitis", "bronchitis"),
    ]  # fmt: skip
    named = {f.name: f for f in arm_figures(rows, 0)}
    assert named["arms.ddxplus_0.direct"].value == 50
    assert named["arms.ddxplus_0.retrieve_over_direct"].value == 50
    assert named["arms.ddxplus_clean_0.direct"].value == 100
    assert named["arms.ddxplus_named_0.retrieve"].n == 1
    assert (named["arms.ddxplus_all.direct"].value, named["arms.ddxplus_all.direct"].n) == (25, 2)
    assert named["arms.ddxplus_all.retrieve_over_direct"].value == pytest.approx(50)
    assert not any("_25" in name for name in named)


def test_among_the_conditions_other_diseases_are_passed_over() -> None:
    told = row("p", 0, "no-condition-of-the-release", "gerd")
    case = ArmCase("p", 0, "text", frozenset({"acute-bronchitis"}), False)
    figures = {f.name: f.value for f in arm_figures([ArmRow(case, told.direct, told.retrieve)], 0)}
    assert figures["arms.ddxplus_0.direct"] == 0
    assert figures["arms.ddxplus_among_0.direct"] == 100


def test_held_out_by_disease_cases_of_every_source_go_together() -> None:
    released = row("p", 0, "sle", "sle")
    released = replace(released, case=replace(released.case, right=frozenset({"sle", "record-sle"})))
    written = row("w", 0, "sle", "sle")
    written = replace(written, case=replace(written.case, right=frozenset({"sle"})))
    none = replace(written, case=replace(written.case, id="alone", right=frozenset()))
    pool = pool_of({"ddxplus": [released], "written": [written, none]})
    assert list(pool.groups("disease")) == ["sle", "sle", "alone"]
