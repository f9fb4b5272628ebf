"""Votes, splits, ties, contrasts and sigma on a graph small enough to count by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tools.knowledge_graph.loader import read_graph
from tools.knowledge_graph.schema import Graph
from tools.knowledge_graph.votes import contrasts, count_votes, most_discriminating, sigma, typical_nodes


@pytest.fixture
def graph(write_graph: Callable[[None], Path]) -> Graph:
    return read_graph(write_graph(None))


def test_treatments_and_counter_evidence_are_no_typical_nodes(graph: Graph) -> None:
    nodes = typical_nodes(graph)
    assert "treat-rest" not in nodes
    assert nodes["rash"] == {"joint", "skin"}  # alpha only says that a rash speaks against it
    assert nodes["chest-pain"] == {"skin"}


def test_a_node_of_several_l2_splits_its_vote(graph: Graph) -> None:
    votes = count_votes(typical_nodes(graph), ["wheeze", "fever", "rash"])
    assert dict(votes.categories) == pytest.approx({"airway": 1 + 1 / 3, "joint": 1 / 3 + 1 / 2, "skin": 1 / 3 + 1 / 2})
    assert votes.winners == ("airway",)
    assert sum(n for _, n in votes.categories) == pytest.approx(3)


def test_a_tie_keeps_all_that_tie_whatever_the_order(graph: Graph) -> None:
    nodes = typical_nodes(graph)
    assert count_votes(nodes, ["fever"]).winners == ("airway", "joint", "skin")
    thirds = count_votes(nodes, ["headache", "nausea", "fever"])
    assert thirds.winners == ("airway", "joint", "skin")
    assert count_votes(nodes, ["knee-pain", "wheeze"]) == count_votes(nodes, ["wheeze", "knee-pain"])


def test_a_finding_votes_once_and_unknown_ones_do_not(graph: Graph) -> None:
    nodes = typical_nodes(graph)
    assert count_votes(nodes, ["wheeze", "wheeze", "treat-rest", "nonsense"]).categories == (("airway", 1.0),)
    assert count_votes(nodes, []).winners == ()


def test_contrasts_are_the_edges_of_role_a_under_the_winners(graph: Graph) -> None:
    assert contrasts(graph, ["airway"]) == (
        "Alpha | symptomatology | dry cough",
        "Alpha | symptomatology | wheeze",
        "Alpha | therapy | bed rest",
        "Alpha | symptomatology | no skin rash",
    )
    assert contrasts(graph, []) == ()
    assert len(contrasts(graph, ["airway", "joint"], "zh")) == 7


def test_sigma_is_n_less_one_over_degree(graph: Graph) -> None:
    worth, n = sigma(graph), len(typical_nodes(graph))
    assert n == 11
    assert worth["fever"] == pytest.approx((n - 1) / 3)
    assert worth["wheeze"] == pytest.approx(n - 1)
    assert worth["rash"] == pytest.approx((n - 1) / 3)


def test_the_most_discriminating_nodes_of_the_winners_come_first(graph: Graph) -> None:
    assert most_discriminating(graph, ["airway"], ["wheeze"], 2) == ["dry-cough", "cough"]
