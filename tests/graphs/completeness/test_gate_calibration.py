"""Fitting and calibrating the gate on made-up cases; bounds of risk; what is shipped."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.training.gate_calibration import (
    Example,
    Form,
    calibrate,
    calibrated_head,
    fit,
    folds_of,
    risk_table,
    upper_bound,
)
from graphs.completeness.calibrated import (
    KEPT,
    PARTS,
    SHIPPED,
    WHOLE_INPUT,
    CalibratedModel,
    CaseFeatures,
    LeaderWeights,
    WholeInputGate,
    inputs,
    load_head,
    load_model,
    sigmoid,
)
from prompts.errors import DataError
from support.word_encoder import WordEncoder

ONE = Form(names=("lead",))


def cases(n: int, seed: int = 0) -> list[Example]:
    """A lead that tells; one leader that is right by its lead, one that is so only with a finding, one never."""
    rng, out = random.Random(seed), []  # noqa: S311
    for i in range(n):
        lead, leader = rng.gauss(0, 1), ("sure", "confirmed", "never")[i % 3]
        stated = frozenset({"key"} if rng.random() < 0.5 else {"other"})
        odds = {"sure": 2 + 2 * lead, "confirmed": 4 if "key" in stated else -4, "never": -6}[leader]
        right = rng.random() < sigmoid(odds)
        out.append(Example(CaseFeatures({"lead": lead}, leader, stated), right, f"patient {i // 2}"))
    return out


def case(lead: float, leader: str, *stated: str) -> CaseFeatures:
    return CaseFeatures({"lead": lead}, leader, frozenset(stated))


def test_leaders_and_their_confirming_findings_are_learnt() -> None:
    model = fit(cases(300), ONE)
    assert model.probability(case(1, "sure")) > 0.9
    assert model.probability(case(1, "sure")) > model.probability(case(-1, "sure"))
    assert model.probability(case(0, "confirmed", "key")) > 0.8 > 0.2 > model.probability(case(0, "confirmed", "other"))
    assert model.probability(case(2, "never")) < 0.2
    assert (model.leaders["never"].led, model.leaders["never"].right) == (100, sum(e.right for e in cases(300)[2::3]))


def test_an_unknown_leader_is_drawn_to_the_middle_and_none_is_never_right() -> None:
    model = fit(cases(300), ONE)
    general = model.model_copy(update={"spread": 0.0})
    for lead in (-3.0, 3.0):
        drawn, plain = model.probability(case(lead, "new")), general.probability(case(lead, "new"))
        assert abs(drawn - 0.5) < abs(plain - 0.5)
    assert model.probability(case(3, "")) == 0


def test_probabilities_of_held_out_cases_are_calibrated_and_the_bound_holds() -> None:
    model = calibrate(cases(900), (ONE, Form(names=("lead",), leaders=False)))
    assert model.leaders  # chosen, since held-out patients have the same leaders
    new = cases(2000, seed=1)
    told = np.array([model.probability(e.features) for e in new])
    right = np.array([e.right for e in new])
    for low in (0.0, 0.25, 0.5, 0.75):
        inside = (told >= low) & (told < low + 0.25)
        assert abs(told[inside].mean() - right[inside].mean()) < 0.08
    theta1 = model.threshold(0.1)
    assert theta1 < 1
    assert (~right[told > theta1]).mean() < 0.1


def test_where_leaders_do_not_carry_over_they_have_no_weights_of_their_own() -> None:
    """Held out by disease, a leader was only ever wrong in the fit: it led where another disease was the right one."""
    rng, made = random.Random(3), []  # noqa: S311
    for disease in range(20):
        for _ in range(12):
            right = rng.random() < 0.6
            leader = disease if right else rng.randrange(20)
            lead = rng.gauss(1.5 if leader == disease else -1.5, 1)
            made.append(Example(case(lead, f"d{leader}"), leader == disease, f"d{disease}"))
    forms = (ONE, Form(names=("lead",), leaders=False))
    assert calibrate(made, forms).leaders == {}
    assert calibrate(made, forms, groups=[str(n) for n in range(len(made))]).threshold(0.2) < 1


@given(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=40), st.integers(2, 6), st.integers(0, 5))
def test_a_group_is_in_one_fold(groups: list[str], folds: int, seed: int) -> None:
    fold = folds_of(groups, folds, seed)
    assert all(len({f for f, g in zip(fold, groups, strict=True) if g == name}) == 1 for name in groups)
    assert set(fold) <= set(range(folds))


@given(st.lists(st.booleans(), min_size=1, max_size=200))
def test_the_bound_is_above_the_share_and_lower_with_more_cases(wrong: list[bool]) -> None:
    own = upper_bound(wrong, range(len(wrong)))
    assert sum(wrong) / len(wrong) <= own <= 1
    assert upper_bound(wrong * 3, range(3 * len(wrong))) <= own + 1e-9
    together = [n // 3 for n in range(3 * len(wrong))]
    assert upper_bound([w for w in wrong for _ in range(3)], together) >= upper_bound(wrong, range(len(wrong))) - 1e-6


def test_the_table_of_risks_falls_and_stops_at_the_first_that_fails() -> None:
    scores = [n / 1000 for n in range(1000)]
    right = [n < 100 or n >= 300 for n in range(1000)]  # wrong ones in the middle: what lies below is no better
    table = risk_table(scores, right, range(1000))
    bounds = [bound for _, bound in table]
    assert bounds == sorted(bounds, reverse=True)
    assert 0.25 <= next(p for p, bound in table if bound <= 0.05) <= 0.32
    assert all(bound >= 0.2 for p, bound in table if p < 0.1)


def test_what_is_shipped_is_whole_small_and_says_on_what_it_was_fitted() -> None:
    for path, size in ((SHIPPED, 100_000), (WHOLE_INPUT, 20_000)):
        assert path.stat().st_size < size
        card = json.loads(path.read_text(encoding="utf-8"))["card"]
        assert len(card["data_sha256"]) == 64
        assert sum(card["fitted_on"].values()) > 3000
    model = load_model()
    assert model.names == tuple(n for part in KEPT for n in PARTS[part])
    assert all(len(w.features) == len(model.names) for w in model.leaders.values())
    assert 0.5 < model.threshold(0.05) < 1


def test_log_odds_are_the_sums_of_the_weights() -> None:
    own = LeaderWeights(constant=0.5, features=(1.0,), findings={"key": 2.0, "-key": -3.0})
    model = CalibratedModel(
        names=("lead",), means=(1.0,), scales=(2.0,), weights=(0.25,), constant=-1.0, leaders={"a": own}, spread=1.0
    )
    assert model.raw(case(3, "a", "key")) == pytest.approx(-1 + 0.25 + 0.5 + 1 + 2)
    assert model.raw(case(99, "a", "-key")) == pytest.approx(-1 + 0.25 * 4 + 0.5 + 4 - 3)  # no further than 4
    assert model.raw(case(3, "b", "key")) == pytest.approx(-0.75 / math.sqrt(1 + math.pi / 8))


def test_the_head_over_the_whole_input_learns_from_words_and_is_of_its_encoder() -> None:
    encoder = WordEncoder()
    rng = random.Random(0)  # noqa: S311
    texts = [f"{rng.choice(['burning', 'tearing'])} pain for {n} days" for n in range(200)]
    values = np.array([inputs(t, v.tolist()) for t, v in zip(texts, encoder.encode_queries(texts), strict=True)])
    right = ["burning" in t for t in texts]
    head = calibrated_head(values, right, texts, encoder.name)
    gate = WholeInputGate(encoder, head)
    assert gate("burning pain for 3 days") > 0.8 > 0.2 > gate("tearing pain for 3 days")
    if load_head().encoder != encoder.name:
        with pytest.raises(DataError, match="fitted on"):
            WholeInputGate(encoder)


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("names", ["shoe_size"], "shoe_size"), ("weights", [], "one for each"), ("scales", [0.0], "greater than 0"),
        ("leaders", {"gerd": {"features": [1.0, 2.0]}}, "leader"),
    ],
)  # fmt: skip
def test_a_calibration_that_does_not_fit_together_is_refused(
    tmp_path: Path, field: str, value: object, said: str
) -> None:
    sound = {"names": ["lead"], "means": [0.0], "scales": [1.0], "weights": [1.0], "constant": 0.0}
    path = tmp_path / "calibrated.json"
    path.write_text(json.dumps({**sound, field: value}), encoding="utf-8")
    with pytest.raises(DataError, match="no calibration") as caught:
        load_model(path)
    assert said in str(caught.value.__cause__)
    (tmp_path / "sound.json").write_text(json.dumps(sound), encoding="utf-8")
    assert load_model(tmp_path / "sound.json").probability(case(0, "gerd")) == 0.5
