"""What is found doubtful in a graph's distinctions, on a small graph, and what the starter graph is held to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent.assembly import STARTER_LIBRARY
from agent.knowledge_graph import STARTER_GRAPH
from tools.knowledge_graph.loader import read_graph
from tools.knowledge_graph.overview import confusions, examine

Writer = Callable[[Callable[[dict[str, Any]], None] | None], Path]


def test_contrasts_that_stand_one_way_or_rest_on_nothing_are_named(write_graph: Writer) -> None:
    graph = read_graph(write_graph(None))
    told = {"alpha": "Beta has knee pain. Gamma has a rash, unlike Beta.", "beta": "Alpha has chest pain and headache."}
    found = examine(graph, told)
    assert found.contrasts == (("alpha", "beta"), ("alpha", "gamma"), ("beta", "alpha"))
    assert found.one_sided == (("alpha", "gamma"),)
    assert found.unlisted == (("beta", "alpha"),)
    assert found.alike == (("beta", "alpha"),)
    assert found.unpaired == ()
    assert examine(graph, {}).unpaired == (("alpha", "rash"),)


def test_what_nobody_of_that_sex_or_age_can_have_is_named(write_graph: Writer) -> None:
    def change(data: dict[str, Any]) -> None:
        data["findings"][0] |= {"name": "pain in the prostate"}
        data["findings"][2] |= {"name": "fever in the newborn"}
        data["diseases"][0] |= {"sex": "female", "ages": {"min": 20, "max": 90, "typical": [30, 60]}}

    found = examine(read_graph(write_graph(change)), {})
    assert found.impossible == (("alpha", "cough"), ("alpha", "fever"))


def test_diseases_that_no_question_tells_apart_are_named(write_graph: Writer) -> None:
    def change(data: dict[str, Any]) -> None:
        data["diseases"][1] |= {"manifestations": data["diseases"][0]["manifestations"], "how_common": "very_common"}
        data["diseases"][2]["manifestations"].append({"finding": "knee-pain", "how_often": "rare", "roles": ["d"]})

    found = examine(read_graph(write_graph(change)), {})
    assert found.inseparable == found.inseparable_by_asking == (("alpha", "beta"),)
    assert ("alpha", "beta") in found.uncontrasted
    assert ("alpha", "beta") not in examine(read_graph(write_graph(change)), {"beta": "Alpha coughs."}).uncontrasted


@pytest.fixture(scope="module")
def counts() -> dict[str, int]:
    graph = read_graph(STARTER_GRAPH)
    return examine(graph, confusions(graph, STARTER_LIBRARY)).counts


@pytest.mark.parametrize(
    ("kind", "most"),
    [
        ("impossible", 0),
        ("one_sided", 451),
        ("unlisted", 72),
        ("alike", 93),
        ("unpaired", 315),
        ("uncontrasted", 0),
        ("inseparable", 1),
        ("inseparable_by_asking", 3),
    ],
)
def test_the_starter_graph_has_no_more_doubtful_distinctions_than_it_had(
    counts: dict[str, int], kind: str, most: int
) -> None:
    assert counts[kind] <= most
