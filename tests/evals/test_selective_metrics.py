"""Selective prediction: areas and calibration against their definitions, weights as repetitions, gates side by side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.tasks.completeness.cases import ArmCase, ArmOutcome, ArmRow, Pool
from evals.tasks.completeness.gates import (
    ByNumber,
    Constant,
    Fitted,
    Gate,
    Ours,
    Positions,
    Setting,
    aurc,
    auroc,
    calibration_error,
    compared_gates,
    crossed,
    forms_without,
    share_of,
)
from evals.training.gate_calibration import Example, Form
from graphs.completeness.calibrated import PARTS, CaseFeatures
from tools.contract import Differential

ROWS = st.lists(st.tuples(st.integers(0, 5), st.booleans(), st.integers(1, 3)), min_size=2, max_size=30)


@given(ROWS)
def test_areas_follow_their_definitions_and_weights_repeat_rows(rows: list[tuple[int, bool, int]]) -> None:
    scores = np.array([s for s, _, _ in rows], dtype=float)
    right, weights = np.array([r for _, r, _ in rows]), np.array([[float(w) for _, _, w in rows]])
    said = [(s, r) for s, r, w in rows for _ in range(w)]
    pairs = [(a > b) + 0.5 * (a == b) for a, ra in said for b, rb in said if ra and not rb]
    found = auroc(scores, right, weights)[0]
    assert np.isnan(found) if not pairs else found == pytest.approx(float(np.mean(pairs)))
    risks = [np.mean([not q for t, q in said if t >= s]) for s, _ in said]
    assert aurc(scores, right, weights)[0] == pytest.approx(float(np.mean(risks)))


def test_calibration_error_by_hand() -> None:
    told, right = np.array([0.95, 1.0, 0.15, 0.15]), np.array([True, False, False, False])
    ones = np.ones((1, 4))
    assert calibration_error(told, right, ones)[0] == pytest.approx((abs(1.95 - 1) + 0.3) / 4)
    assert np.isnan(share_of(right, np.zeros(4, dtype=bool), ones)[0])


def pool(patients: int = 160) -> Pool:
    """Four levels a patient; the direct arm is right by the lead, and by a leader that is never right; retrieval is."""
    rng, rows, examples = np.random.default_rng(0), [], []
    names = Form().names
    for p in range(patients):
        for level in (0, 25, 50, 75):
            lead, bad = float(rng.normal()), p % 4 == 0
            right = bool(rng.random() < 1 / (1 + np.exp(-8 * lead))) and not bad
            case = ArmCase(f"p{p}", level, "text", frozenset({f"d{p % 8}"}), False)
            outcomes = [
                ArmOutcome(ranking=((f"d{p % 8}" if ok else "x", 0.9),), differential=Differential())
                for ok in (right, p % 10 != 1)
            ]
            rows.append(ArmRow(case, outcomes[0], outcomes[1]))
            values = dict.fromkeys([n for part in PARTS.values() for n in part], 0.0) | {names[0]: lead}
            features = CaseFeatures(values, "bad" if bad else "good", frozenset())
            examples.append(Example(features, right, case.id))
    return Pool(tuple(rows), ("ddxplus",) * len(rows), tuple(examples))


def test_our_gate_beats_one_number_and_keeps_its_risk() -> None:
    made = pool()
    lead = np.array([e.features.values[Form().names[0]] for e in made.examples])
    gates: dict[str, Gate] = {"ours": Ours(), "number": ByNumber(lead), "always": Constant(0.0), "never": Constant(1.0)}
    scored = {name: crossed(gate, made, "patient", 0) for name, gate in gates.items()}
    figures = {f.name: f for f in compared_gates(Setting("s", made, made.of("ddxplus"), 0), scored)}
    assert figures["ours_over_number.s.auroc"].ci95 is not None
    assert figures["ours_over_number.s.auroc"].ci95[0] > 0
    assert figures["ours_over_number.s.aurc"].value > 0
    assert figures["always.s.retrieval_rate"].value == 100
    assert figures["always.s.accuracy"].value == pytest.approx(100 * made.retrieve_right.mean())
    assert figures["never.s.accuracy"].value == pytest.approx(100 * made.right.mean())
    assert figures["never.s.wrong_enough"].value == pytest.approx(100 * (~made.right).mean())
    assert figures["ours.s.wrong_enough"].value < 8
    assert figures["ours.s.ece"].value < 0.1
    assert figures["ours_over_never.s.accuracy"].value > 0
    assert "always.s.wrong_enough" not in figures


def test_a_row_is_scored_without_its_own_group() -> None:
    """A gate that remembers the rows that it was fitted on would know these; held out, it cannot."""

    class Remembers:
        def fitted(self, pool: Pool, rows: Positions, groups: Sequence[str]) -> Fitted:
            del groups
            known = {pool.rows[i].case.id for i in rows}

            def score(row: int) -> float:
                return float(pool.rows[row].case.id in known)

            return Fitted(score, score, 0.5)

    assert not crossed(Remembers(), pool(20), "patient", 0).direct.any()


def test_forms_without_a_part_lack_it() -> None:
    assert all("margin" not in form.names for form in forms_without("look"))
    assert [form.leaders for form in forms_without("leaders")] == [False]
    assert not forms_without("findings")[0].findings


def test_a_setting_without_a_row_has_no_figure() -> None:
    made = pool(6)
    scored = {"ours": crossed(Constant(0.0), made, "patient", 0)}
    empty = Setting("lay", made, made.of("ddxplus_lay"), 0)
    assert empty.figures("ours", scored["ours"]) == empty.reliability("ours", scored["ours"]) == []
    assert compared_gates(empty, scored) == []
