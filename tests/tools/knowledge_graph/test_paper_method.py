"""The published look-up on a small graph: only L4d is matched, T is strict, K and the similar records are whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tools.contract import Finding
from tools.encoders import Encoder, Vectors
from tools.knowledge_graph.building.contract import Record
from tools.knowledge_graph.compiled import CompiledGraph, phrases_of
from tools.knowledge_graph.loader import read_graph
from tools.knowledge_graph.lookup import KnowledgeGraph
from tools.knowledge_graph.paper import THRESHOLD, TOP_M, PaperMethod
from tools.knowledge_graph.record_ranking import TOP_K, RecordCollection

Writer = Callable[[Callable[[dict[str, Any]], None] | None], Path]


class Planted:
    """Phrases are the axes; a text has the cosines that are planted for it."""

    name, limit = "planted", 256

    def __init__(self, phrases: Sequence[str], cosines: dict[str, dict[str, float]]) -> None:
        self._axis = {p: i for i, p in enumerate(phrases)}
        self.dimension = len(phrases)
        self._cosines = cosines

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        return np.eye(self.dimension, dtype=np.float32)[[self._axis[t] for t in texts]]

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        out = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in zip(out, texts, strict=True):
            for phrase, cosine in self._cosines.get(text, {}).items():
                row[self._axis[phrase]] = cosine
        return out

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [1 for _ in texts]


def method(folder: Path, cosines: dict[str, dict[str, float]]) -> PaperMethod:
    graph = read_graph(folder)
    phrases, owner = phrases_of(graph)
    encoder = Planted(phrases, cosines)
    compiled = CompiledGraph(graph, phrases, owner, encoder.encode_documents(phrases), "planted")
    return PaperMethod(compiled, encoder)


def test_nodes_of_role_a_take_no_place_among_the_top_m(write_graph: Writer) -> None:
    def only_a(data: dict[str, Any]) -> None:
        for i in range(TOP_M):
            data["findings"].append(
                {
                    **data["findings"][0],
                    "id": f"apart-{i}",
                    "name": f"apart {i}",
                    "zh": f"分{i}",
                    "say": [f"apart {i} {x}" for x in "abc"],
                    "say_zh": [f"别{i}"],
                }
            )
            data["diseases"][0]["manifestations"].append(
                {"finding": f"apart-{i}", "how_often": "usual", "roles": ["a"]}
            )  # fmt: skip

    near = {f"apart {i}": 0.9 for i in range(TOP_M)} | {"fever": 0.6, "bed rest": 0.99}
    found = method(write_graph(only_a), {"burning up": near}).nearest(["burning up"])
    assert found == [{"fever": pytest.approx(0.6)}]


def test_t_is_strict_and_a_feature_gives_at_most_m_nodes(write_graph: Writer) -> None:
    names = ["cough", "fever", "headache", "nausea", "knee pain", "skin rash"]
    told = {"at": {"fever": THRESHOLD}, "many": {n: 0.9 - i / 100 for i, n in enumerate(names)}}
    at, many = method(write_graph(None), told).nearest(["at", "many"])
    assert at == {}
    assert list(many) == ["cough", "fever", "headache", "nausea", "knee-pain"]


def test_votes_rank_diseases_and_k_holds_every_edge_of_role_a(write_graph: Writer) -> None:
    told = {"I wheeze": {"wheeze": 0.9}, "I am hot": {"fever": 0.8}, "rash": {"skin rash": 0.95}}
    found = method(write_graph(None), told).look_up("I wheeze. I am hot. I have no rash.")
    assert found.mode == "paper"
    assert dict(found.categories) == pytest.approx({"airway": 4 / 3, "joint": 1 / 3, "skin": 1 / 3})
    assert [r.disease for r in found.ranking] == ["alpha", "beta", "gamma"]
    assert sum(r.score for r in found.ranking) == pytest.approx(1)
    assert found.contrasts == (
        "Alpha | symptomatology | dry cough",
        "Alpha | symptomatology | wheeze",
        "Alpha | therapy | bed rest",
        "Alpha | symptomatology | no skin rash",
    )
    assert {f.id for f in found.findings} == {"wheeze", "fever"}
    assert found.questions[0].finding == "dry-cough"


def test_an_answer_joins_t_and_a_denial_leaves_it(write_graph: Writer) -> None:
    paper = method(write_graph(None), {"I am hot": {"fever": 0.8}})
    knee = Finding(id="knee-pain", name="knee pain", clause="yes")
    assert paper.look_up("I am hot.", known=[knee]).winners == ("joint",)
    denied = Finding(id="fever", name="fever", clause="no", present=False)
    assert paper.look_up("I am hot.", known=[denied]).ranking == ()


RECORDS = [
    Record(id=str(i), diagnosis=d, text=t)
    for i, (d, t) in enumerate(
        [
            ("Gout", "My big toe is red, hot and terribly painful since last night."),
            ("Asthma", "I wheeze and cough at night."),
            ("Gout", "The joint of my great toe swelled up overnight and hurts badly."),
            ("Migraine", "One side of my head throbs and light hurts my eyes."),
        ]
    )
]


@pytest.mark.parametrize("mode", ["ours", "paper"])
def test_the_nearest_records_go_with_a_look_up_whole(
    mode: Any, encoder: Encoder, tmp_path: Path, write_graph: Writer
) -> None:
    collection = RecordCollection(RECORDS, encoder)
    graph = KnowledgeGraph(encoder, tmp_path, write_graph(None), mode=mode, records=collection)
    found = graph.look_up("My toe is swollen, red and painful")
    assert found.mode == mode
    assert len(found.similar) == TOP_K
    assert {s.diagnosis for s in found.similar[:2]} == {"Gout"}
    assert found.similar[0].text in {r.text for r in RECORDS}
    assert [s.similarity for s in found.similar] == sorted((s.similarity for s in found.similar), reverse=True)


def test_a_record_beyond_the_encoders_limit_is_read_to_its_end(encoder: Encoder) -> None:
    story = "I went to the shop and bought bread and then I walked home along the river. " * 30
    long = Record(id="long", diagnosis="Gout", text=f"{story}My big toe is red, hot and terribly painful.")
    collection = RecordCollection([RECORDS[1], RECORDS[3], long], encoder)
    assert encoder.count_tokens([long.text])[0] > encoder.limit
    assert collection.similar("My big toe is red, hot and terribly painful.")[0].id == "record:long"
    assert RecordCollection(RECORDS, encoder).similar(f"{story}{RECORDS[0].text}")  # so is a case
    assert RecordCollection([], encoder).similar("My toe hurts.") == ()
