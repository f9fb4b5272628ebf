"""A small hand-made graph as YAML, and the starter graph, loaded once."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tools.encoders import Encoder
from tools.knowledge_graph.lookup import KnowledgeGraph

NAMES = {
    "cough": "cough", "dry-cough": "dry cough", "fever": "fever", "chest-pain": "chest pain", "knee-pain": "knee pain",
    "rash": "skin rash", "headache": "headache", "nausea": "nausea", "smoking": "smoking", "wheeze": "wheeze",
    "treat-rest": "bed rest", "tremor": "tremor",
}  # fmt: skip


def _finding(id: str, name: str) -> dict[str, Any]:
    return {
        "id": id,
        "name": name,
        "zh": f"词{id}",
        "relation": "therapy" if id.startswith("treat") else "symptomatology",
        "kind": "treatment" if id.startswith("treat") else "symptom",
        "say": [f"{name} one", f"{name} two", f"{name} three"],
        "say_zh": [f"话{id}"],
    }


def _edge(finding: str, *roles: str, how_often: str = "usual") -> dict[str, Any]:
    return {"finding": finding, "how_often": how_often, "roles": list(roles)}


def _disease(id: str, l2: str, edges: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": id, "name": id.capitalize(), "zh": f"病{id}", "icd10": "J20.9", "l2": l2, "how_common": "common",
        "severity": "routine", "sex": "any", "ages": {"min": 0, "max": 100, "typical": [10, 60]},
        "manifestations": edges,
    }  # fmt: skip


def _base() -> dict[str, Any]:
    findings = [_finding(key, name) for key, name in NAMES.items()]
    findings[1]["broader"] = "cough"
    common = ["cough", "fever", "headache", "nausea"]
    return {
        "taxonomy": {
            "l1": [{"id": "chest-disease", "name": "Chest", "zh": "胸"}, {"id": "other", "name": "Other", "zh": "他"}],
            "l2": [
                {"id": "airway", "l1": "chest-disease", "name": "Airway", "zh": "气道"},
                {"id": "joint", "l1": "other", "name": "Joint", "zh": "关节"},
                {"id": "skin", "l1": "other", "name": "Skin", "zh": "皮"},
            ],
        },
        "findings": findings,
        "diseases": [
            _disease("alpha", "airway", [
                *[_edge(f, "d") for f in common], _edge("dry-cough", "d", "a"), _edge("wheeze", "d", "a"),
                _edge("smoking", "d"), _edge("treat-rest", "a"), _edge("rash", "a", how_often="absent"),
            ]),
            _disease("beta", "joint", [
                *[_edge(f, "d") for f in common], _edge("knee-pain", "d", "a"), _edge("rash", "d", "a"),
                _edge("tremor", "d"), _edge("treat-rest", "a"),
            ]),
            _disease("gamma", "skin", [
                *[_edge(f, "d") for f in common if f != "cough"], _edge("rash", "d", "a"),
                _edge("chest-pain", "d", "a"),
                _edge("tremor", "d"), _edge("smoking", "d"), _edge("treat-rest", "a"),
            ]),
        ],
    }  # fmt: skip


GraphWriter = Callable[[Callable[[dict[str, Any]], None] | None], Path]


@pytest.fixture
def write_graph(tmp_path: Path) -> GraphWriter:
    """Writes the small graph after a change to it, and gives back its folder."""

    def write(change: Callable[[dict[str, Any]], None] | None = None) -> Path:
        data = copy.deepcopy(_base())
        if change is not None:
            change(data)
        folder = tmp_path / "graph"
        for name, part in data.items():
            path = folder / "taxonomy.yaml" if name == "taxonomy" else folder / name / "all.yaml"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(yaml.safe_dump(part, allow_unicode=True), encoding="utf-8")
        return folder

    return write


@pytest.fixture(scope="session")
def starter_graph(encoder: Encoder, built_home: Path) -> KnowledgeGraph:
    """The starter graph with the embedded encoder, as set-up compiled it."""
    return KnowledgeGraph(encoder, built_home / "indexes")
