"""The ranking and the questions: what must hold whatever the constants are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tools.knowledge_graph.loader import read_graph
from tools.knowledge_graph.lookup import KnowledgeGraph
from tools.knowledge_graph.ranking import Frequencies, Observation, Ranker, frequencies
from tools.knowledge_graph.schema import Graph
from tools.text.demographics import Person


class Small:
    """The small graph, and a way to name its findings."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.table: Frequencies = frequencies(graph)
        self.ranker = Ranker(graph, self.table)
        self.position = {f.id: i for i, f in enumerate(graph.findings)}

    def shares(self, *told: tuple[str, bool | None], person: Person = Person()) -> dict[str, float]:  # noqa: B008
        seen = [Observation(self.position[f], 1.0, present, n) for n, (f, present) in enumerate(told)]
        values = self.ranker.scores(seen, person)
        return {d.id: float(v) for d, v in zip(self.graph.diseases, values, strict=True)}


@pytest.fixture
def small(write_graph: Callable[[None], Path]) -> Small:
    return Small(read_graph(write_graph(None)))


def test_shares_sum_to_one_and_a_telling_finding_leads(small: Small) -> None:
    shares = small.shares(("wheeze", True), ("cough", True))
    assert sum(shares.values()) == pytest.approx(1)
    assert max(shares, key=lambda d: shares[d]) == "alpha"


def test_denying_a_finding_lowers_its_diseases(small: Small) -> None:
    assert small.shares(("fever", True), ("rash", False))["beta"] < small.shares(("fever", True))["beta"]


def test_a_finding_that_speaks_against_a_disease_lowers_it(small: Small) -> None:
    assert small.shares(("cough", True), ("rash", True))["alpha"] < small.shares(("cough", True))["alpha"]


def test_uncertain_counts_for_less_than_stated(small: Small) -> None:
    plain, possible, stated = (
        small.shares(("fever", True), *x)["alpha"] for x in ([], [("wheeze", None)], [("wheeze", True)])
    )
    assert plain < possible < stated


def test_what_relatives_have_had_says_little_and_nothing_against_other_diseases(
    starter_graph: KnowledgeGraph,
) -> None:
    table = frequencies(starter_graph.graph)
    for at, finding in enumerate(starter_graph.graph.findings):
        if finding.of_family:
            assert np.log(table.present[:, at] / table.background[at]).max() < 3
            assert (table.present[:, at] >= table.background[at])[~table.absent[:, at]].all()


def test_a_finding_told_twice_counts_once(small: Small) -> None:
    once, twice = small.shares(("wheeze", True)), small.shares(("wheeze", True), ("wheeze", True), ("wheeze", True))
    assert twice["alpha"] < once["alpha"] ** 0.25


def test_age_and_sex_outside_the_limits_rule_out(small: Small, write_graph: Callable[..., Path]) -> None:
    def change(data: dict[str, list[dict[str, object]]]) -> None:
        data["diseases"][0].update(sex="female", ages={"min": 0, "max": 20, "typical": [1, 10]})

    limited = Small(read_graph(write_graph(change)))
    told = ("wheeze", True)
    girl = limited.shares(told, person=Person(5, "female"))["alpha"]
    assert girl > limited.shares(told, person=Person(18, "female"))["alpha"]
    assert girl > 3 * limited.shares(told, person=Person(60, "female"))["alpha"]
    assert girl > 3 * limited.shares(told, person=Person(5, "male"))["alpha"]


def test_broader_findings_are_at_least_as_frequent_as_narrower_ones(small: Small) -> None:
    table, cough, dry = small.table, small.position["cough"], small.position["dry-cough"]
    listed = table.listed[:, dry] & table.listed[:, cough]
    assert listed.any()
    assert (table.present[listed, cough] >= table.present[listed, dry]).all()
