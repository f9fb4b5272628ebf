"""The loader takes a sound graph and names everything that is wrong with another."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from prompts.errors import DataError
from tools.knowledge_graph.loader import content_hash, read_graph

Change = Callable[[dict[str, Any]], None]
Writer = Callable[[Change | None], Path]


def test_a_sound_graph_loads(write_graph: Writer) -> None:
    graph = read_graph(write_graph(None))
    assert [d.id for d in graph.diseases] == ["alpha", "beta", "gamma"]
    assert graph.broader("dry-cough") == ["cough"]
    assert graph.narrower["cough"] == ["dry-cough"]


def _two_parents(data: dict[str, Any]) -> None:
    data["taxonomy"]["l2"].append({**data["taxonomy"]["l2"][0], "l1": "other"})


def _list_of_parents(data: dict[str, Any]) -> None:
    data["diseases"][0]["l2"] = ["airway", "joint"]


def _same_phrase(data: dict[str, Any]) -> None:
    data["findings"][0]["say"][0] = "Fever"


def _circle(data: dict[str, Any]) -> None:
    data["findings"][0]["broader"] = "dry-cough"


def _few(data: dict[str, Any]) -> None:
    del data["diseases"][2]["manifestations"][:2]


def _few_a(data: dict[str, Any]) -> None:
    for edge in data["diseases"][1]["manifestations"]:
        edge["roles"] = ["d"]


def _few_d(data: dict[str, Any]) -> None:
    for edge in data["diseases"][1]["manifestations"][2:]:
        edge["roles"] = ["a"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_two_parents, "taxonomy.yaml: airway: L2 id stands 2 times"),
        (_list_of_parents, "all.yaml: alpha: l2: Input should be a valid string"),
        (lambda d: d["diseases"][0].update(l2="nowhere"), "all.yaml: alpha: unknown L2 'nowhere'"),
        (lambda d: d["taxonomy"]["l2"][0].update(l1="nowhere"), "taxonomy.yaml: airway: unknown L1 'nowhere'"),
        (
            lambda d: d["taxonomy"]["l2"].append({"id": "lonely", "l1": "other", "name": "L", "zh": "孤"}),
            "taxonomy.yaml: lonely: orphan, nothing uses this L2",
        ),
        (
            lambda d: d["taxonomy"]["l1"].append({"id": "void", "name": "V", "zh": "空"}),
            "taxonomy.yaml: void: orphan, nothing uses this L1",
        ),
        (
            lambda d: d["findings"].append(
                {**d["findings"][0], "id": "x", "name": "x", "zh": "x", "say": list("abc"), "say_zh": ["y"]}
            ),
            "all.yaml: x: orphan, no disease uses this finding",
        ),
        (lambda d: d["findings"].append(d["findings"][2]), "all.yaml: fever: finding id stands 2 times"),
        (lambda d: d["diseases"].append(d["diseases"][0]), "all.yaml: alpha: disease id stands 2 times"),
        (_same_phrase, "all.yaml: fever: phrase 'fever' stands under cough too"),
        (_circle, "all.yaml: cough: its broader findings run in a circle"),
        (lambda d: d["findings"][0].update(broader="nowhere"), "all.yaml: cough: unknown broader finding 'nowhere'"),
        (lambda d: d["findings"][0].update(colour="red"), "all.yaml: cough: colour: Extra inputs are not permitted"),
        (lambda d: d["findings"][0].update(site="elbow-pit"), "all.yaml: cough: site: Input should be"),
        (lambda d: d["findings"][0].update(say=["one"]), "all.yaml: cough: 1 wordings in say, 3 to 8 are wanted"),
        (lambda d: d["diseases"][0].update(icd10="nonsense"), "all.yaml: alpha: icd10: String should match"),
        (
            lambda d: d["diseases"][0]["ages"].update(min=30),
            "all.yaml: alpha: ages: Value error, ages must be min <= typical <= max",
        ),
        (lambda d: d["diseases"][0]["manifestations"][0].update(roles=[]), "all.yaml: alpha: manifestations.0.roles"),
        (
            lambda d: d["diseases"][0]["manifestations"][0].update(finding="nope"),
            "all.yaml: alpha: unknown finding 'nope'",
        ),
        (
            lambda d: d["diseases"][0]["manifestations"].append(d["diseases"][0]["manifestations"][0]),
            "all.yaml: alpha: finding 'cough' stands twice",
        ),
        (_few, "all.yaml: gamma: 6 manifestations, at least 8 are needed"),
        (_few_a, "all.yaml: beta: 0 manifestations with role a, at least 2 are needed"),
        (_few_d, "all.yaml: beta: 2 manifestations with role d that are no treatment, at least 5 are needed"),
        (
            lambda d: d["diseases"][0]["manifestations"][0].update(how_often="rare"),
            "all.yaml: alpha: 'dry-cough' is usual, but 'cough', which it implies, rare",
        ),
        (
            lambda d: d["diseases"][0]["manifestations"][0].update(how_often="absent"),
            "all.yaml: alpha: 'dry-cough' is usual, but 'cough', which it implies, absent",
        ),
        (lambda d: d["taxonomy"].update(l3=[]), "taxonomy.yaml: unknown field 'l3'"),
    ],
)
def test_each_fault_is_named_with_its_file_and_id(write_graph: Writer, change: Change, message: str) -> None:
    with pytest.raises(DataError) as caught:
        read_graph(write_graph(change))
    assert message in caught.value.what


def test_all_faults_are_told_at_once(write_graph: Writer) -> None:
    def change(data: dict[str, Any]) -> None:
        _same_phrase(data)
        _few_a(data)
        data["diseases"][0]["severity"] = "dreadful"

    with pytest.raises(DataError) as caught:
        read_graph(write_graph(change))
    lines = caught.value.what.splitlines()
    assert lines[0].endswith(f"has {len(lines) - 1} problems:")
    assert sum(part in caught.value.what for part in ("phrase 'fever'", "role a", "severity")) == 3


def test_broken_yaml_is_a_fault_and_not_a_crash(write_graph: Writer) -> None:
    folder = write_graph(None)
    (folder / "diseases" / "all.yaml").write_text("- {id: [", encoding="utf-8")
    with pytest.raises(DataError, match=r"all\.yaml: no valid YAML"):
        read_graph(folder)


def test_the_hash_follows_the_content(write_graph: Writer) -> None:
    folder = write_graph(None)
    before = content_hash(folder)
    assert content_hash(folder) == before
    path = folder / "findings" / "all.yaml"
    path.write_text(path.read_text(encoding="utf-8") + "\n# a remark\n", encoding="utf-8")
    assert content_hash(folder) != before


def test_a_missing_graph_is_a_data_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"taxonomy\.yaml"):
        content_hash(tmp_path)
