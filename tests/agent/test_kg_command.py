"""`anamnesis kg` as a user runs it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner, Result

from agent.cli import kg as kg_command
from agent.cli.app import app
from prompts.errors import DataError, InputError

CASE = "I am 60 and have crushing chest pain going into my left arm, and I sweat."
ROWS = [
    {"diagnosis": "Croup", "text": "My son has a barking cough. He has a fever.", "age": 2},
    {"diagnosis": "croup", "text": "She has a barking cough.", "age": 3},
    {"diagnosis": "GERD", "text": "I have heartburn after meals.", "age": 50},
]


@pytest.fixture
def home(built_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ANAMNESIS_HOME", str(built_home))
    return built_home


def kg(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["kg", *map(str, arguments)])


def once(function: Callable[..., Any]) -> Callable[..., Any]:
    """What a function gave when it was first called."""
    made: list[Any] = []

    def given(*values: Any) -> Any:
        made.extend([] if made else [function(*values)])
        return made[0]

    return given


def test_a_disease_is_shown_with_its_path_and_roles() -> None:
    shown = kg("show", "acid reflux").stdout
    assert shown.index("L1 Digestive disease") < shown.index("L2 Disease of the gullet") < shown.index("L3 Gastro")
    assert "L4d, typical presentation" in shown
    assert "L4a, what tells it apart" in shown
    assert json.loads(kg("show", "gerd", "--json").stdout)["icd10"] == "K21.9"
    unknown = kg("show", "no such thing")
    assert isinstance(unknown.exception, InputError)


def test_a_case_is_drawn(home: Path, tmp_path: Path) -> None:
    plot = tmp_path / "case.svg"
    shown = kg("show", "--case", CASE, "--plot", plot, "--json")
    first = json.loads(shown.stdout)["ranking"][0]
    root = ElementTree.parse(plot).getroot()  # noqa: S314
    texts = [t.text or "" for t in root.iter("{http://www.w3.org/2000/svg}text")]
    assert any(first["name"] in t and t.startswith("1. ") for t in texts)
    assert any("crushing" in t for t in texts)
    assert len(list(root.iter("{http://www.w3.org/2000/svg}line"))) >= len(first["findings_for"])


def test_the_mode_is_a_setting(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text("\n".join(map(json.dumps, ROWS)))
    monkeypatch.setenv("ANAMNESIS_KG_MODE", "paper")
    monkeypatch.setenv("ANAMNESIS_KG_RECORDS", str(rows))
    found = json.loads(kg("show", "--case", CASE, "--json").stdout)
    assert found["mode"] == "paper"
    assert len(found["similar"]) == 3
    monkeypatch.setenv("ANAMNESIS_KG_MODE", "theirs")
    assert isinstance(kg("show", "--case", CASE).exception, InputError)


def test_a_graph_goes_out_and_comes_in_again(tmp_path: Path) -> None:
    into = tmp_path / "in"  # every format is tried in tools/knowledge_graph/formats
    assert kg("export", tmp_path / "a.csv").exit_code == 0
    assert "650 diseases" in kg("import", tmp_path / "a.csv", "--out", into).stdout
    assert "sound, 650 diseases" in kg("check", into).stdout
    assert isinstance(kg("import", tmp_path / "a.csv", "--out", into).exception, InputError)
    counted = json.loads(kg("stats", "--graph", into, "--json").stdout)
    assert counted == json.loads(kg("stats", "--json").stdout)
    assert counted["L3 diseases"] == 650


def test_doubtful_distinctions_are_counted_and_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("confusions", "examine"):  # the graph is looked through once for all three
        monkeypatch.setattr(kg_command, name, once(getattr(kg_command, name)))
    counted = json.loads(kg("check", "--json").stdout)["distinctions"]
    pairs = json.loads(kg("check", "--list", "inseparable_by_asking", "--json").stdout)
    assert ["wolff-parkinson-white-syndrome", "psvt"] in pairs
    assert len(pairs) == counted["inseparable_by_asking"]
    assert isinstance(kg("check", "--list", "nothing").exception, InputError)


def test_a_damaged_graph_is_refused_with_every_fault(tmp_path: Path) -> None:
    kg("export", tmp_path / "graph")
    path = tmp_path / "graph" / "diseases" / "all.yaml"
    path.write_text(path.read_text().replace("l2: oesophageal-disease", "l2: nowhere"))
    refused = kg("check", tmp_path / "graph").exception
    assert isinstance(refused, DataError)
    assert "gerd: unknown L2 'nowhere'" in str(refused)
    assert "boerhaave-syndrome: unknown L2 'nowhere'" in str(refused)


def test_a_graph_is_built_and_looked_up(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows, out = tmp_path / "rows.jsonl", tmp_path / "mine"
    rows.write_text("\n".join(map(json.dumps, ROWS)))
    built = kg("build", "--records", rows, "--out", out, "--quiet")
    assert "3 records, 2 diseases" in built.stdout
    edges = json.loads(kg("show", "Croup", "--graph", out, "--json").stdout)["manifestations"]
    assert [(e["rate"], e["records"]) for e in edges if "barking" in e["finding"] and e["rate"]] == [(1.0, 2)]
    assert {"records", "starter"} <= {e["source"].partition(";")[0] for e in edges}
    monkeypatch.setenv("ANAMNESIS_KG_GRAPH", str(out))
    found = json.loads(kg("show", "--case", "He has a barking cough", "--json").stdout)
    assert (found["graph"], found["ranking"][0]["disease"]) == ("mine", "croup")
    model = kg("build", "--records", rows, "--out", out, "--judge", "model")
    assert isinstance(model.exception, InputError)


def test_mistakes_are_answered_with_what_is_near(home: Path, tmp_path: Path) -> None:
    assert "acute-appendicitis" in str(kg("show", "apendicitis").exception)
    assert isinstance(kg("show", "gerd", "--case", CASE).exception, InputError)
    (tmp_path / "file").write_text("")
    for made in (
        kg("export", tmp_path / "file" / "g.csv"),
        kg("show", "--case", CASE, "--plot", tmp_path / "file" / "p.svg"),
    ):
        assert isinstance(made.exception, InputError)
        assert "cannot be written" in str(made.exception)
    assert "boerhaave-syndr" in kg("show").stdout.split("GERD")[0]


def test_a_chinese_case_is_shown_and_drawn_in_chinese(home: Path, tmp_path: Path) -> None:
    plot = tmp_path / "case.svg"
    shown = kg("show", "--case", "58岁男性，突发压榨性胸痛，放射到左臂", "--plot", plot).stdout
    assert "心肌梗死" in shown
    assert "心肌梗死" in plot.read_text(encoding="utf-8")
