"""Set-level precision, recall and F1, and the counting of the ICD-10 evaluation."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.datasets.icd10 import Judged, medicine_names, read_examples, read_judged
from evals.statistics import SetScore, micro_score, set_figures, set_score
from evals.tasks.icd10 import false_links, right_links, sets

SETS = st.frozensets(st.sampled_from("abcd"))


class Table:
    """A linker with a written answer for each phrase."""

    def __init__(self, codes: dict[str, set[str]]) -> None:
        self._codes = codes

    def codes(self, text: str) -> frozenset[str]:
        return frozenset(self._codes.get(text, ()))


def test_scores_by_hand() -> None:
    assert set_score({"a", "b"}, {"b", "c", "d"}) == SetScore(0.5, pytest.approx(1 / 3), pytest.approx(0.4))
    assert set_score(set(), set()) == (1, 1, 1)
    assert set_score(set(), {"a"}) == set_score({"a"}, set()) == (0, 0, 0)
    pairs = [({"a"}, {"a"}), ({"a", "b", "c"}, {"d"})]
    assert micro_score(pairs) == SetScore(0.25, 0.5, pytest.approx(1 / 3))
    values = {f.name: (f.value, f.n) for f in set_figures("x.y", pairs, seed=0)}
    assert values["x.y.mean_precision"] == (50, 2)
    assert values["x.y.micro_f1"][0] == pytest.approx(100 / 3)
    assert set_figures("x.y", [], seed=0) == []


@given(SETS, SETS)
def test_scores_are_shares_and_recall_is_precision_the_other_way(one: frozenset[str], other: frozenset[str]) -> None:
    score = set_score(one, other)
    assert all(0 <= value <= 1 for value in score)
    assert set_score(other, one) == (score.recall, score.precision, score.f1)
    assert min(score[:2]) <= score.f1 + 1e-12
    assert score.f1 <= max(score[:2]) + 1e-12
    assert set_score(one, one) == (1, 1, 1)
    assert micro_score([(one, other)]) == score


@settings(deadline=None, max_examples=20)
@given(st.lists(st.tuples(SETS, SETS), min_size=1, max_size=8))
def test_micro_figures_lie_in_their_intervals_or_touch_them(pairs: list[tuple[frozenset[str], frozenset[str]]]) -> None:
    for figure in set_figures("x.y", pairs, seed=1):
        assert figure.ci95 is not None
        assert 0 <= figure.ci95[0] <= figure.ci95[1] <= 100


def test_links_are_counted() -> None:
    linker = Table({"cough": {"R05"}, "flu": {"J11"}, "gout": {"M10", "J11"}, "cold": {"M10"}})
    false = {f.name: f.value for f in false_links("x.s", linker, ["cough", "flu", "pill", "walk"])}  # type: ignore[arg-type]
    assert false == {"x.s.linked": 50, "x.s.linked_disease": 25}
    judged = [
        Judged("gout", frozenset({"M10"})),
        Judged("cold", frozenset({"J00"})),
        Judged("mumps", frozenset({"B26"})),
        Judged("flu", frozenset()),
    ]
    right = {f.name: (round(f.value), f.n) for f in right_links("x.s", linker, judged)}  # type: ignore[arg-type]
    assert right == {"x.s.right": (33, 3), "x.s.wrong": (33, 3), "x.s.false": (100, 1)}
    values = {f.name: f.value for f in sets("x.s", linker, judged, seed=0)}  # type: ignore[arg-type]
    assert values["x.s.micro_precision"] == 25
    assert values["x.s.micro_recall"] == pytest.approx(100 / 3)


def test_the_resources_are_whole() -> None:
    assert len(read_judged()) == 50
    for language, least in (("en", 120), ("zh", 50)):
        assert len(read_examples(language)) >= least
    assert "amoxicillin" in medicine_names()
