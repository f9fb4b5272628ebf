"""`anamnesis dev passages`: how a file is cut, as a table, as JSON and as a picture."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from agent.cli.app import app
from prompts.errors import DataError, InputError

TOPICS = (
    "Asthma narrows the airways. Wheeze is typical. Inhaled steroids prevent attacks. Relievers open the airways. "
    "A hip fracture needs surgery. Osteoporosis weakens bone. Calcium alone is not enough. Falls break weak bones."
)
TEXT = f"# Two topics <&>\n\n{TOPICS}\n\n## Outlook\n\nMost people do well. It takes months.\n"


@pytest.fixture
def file(tmp_path: Path, built_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ANAMNESIS_HOME", str(built_home))
    monkeypatch.setenv("COLUMNS", "120")
    path = tmp_path / "two.md"
    path.write_text(TEXT, encoding="utf-8")
    return path


def command(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["dev", "passages", *arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def kept_vectors(home: Path) -> int:
    total = 0
    for cache in (home / "cache" / "embeddings").glob("*.sqlite"):
        with sqlite3.connect(cache) as db:
            total += db.execute("select count(*) from vectors").fetchone()[0]
    return total


def test_a_table_shows_passages_breakpoints_and_tokens(file: Path, built_home: Path) -> None:
    before = kept_vectors(built_home)
    shown = command(str(file), "--budget", "30")
    assert "Two topics <&>" in shown
    assert "A hip fracture needs" in shown
    assert "Outlook" in shown
    assert "breakpoints: 1 (seos, budget 30 of the 256 tokens" in shown
    assert kept_vectors(built_home) == before  # the file may be a patient's


def test_json_has_exact_offsets_curve_and_breaks(file: Path) -> None:
    (document,) = json.loads(command(str(file), "--budget", "30", "--json", "--method", "seos_paper"))
    first = document["sections"][0]
    assert len(first["curve"]) == 7
    (found,) = first["breaks"]
    assert min(first["curve"], key=lambda gap: gap[1]) == [found["at"], found["continuity"]]
    assert first["passages"][1]["core_start"] == found["at"]
    assert sum(p["tokens"] for p in first["passages"]) >= first["tokens"]


def test_a_picture_has_the_curve_and_a_line_a_breakpoint(file: Path) -> None:
    picture = file.with_name("curve.svg")
    command(str(file), "--budget", "30", "--plot", str(picture))
    root = ElementTree.parse(picture).getroot()  # noqa: S314 (our own file)
    tags = [element.tag.rpartition("}")[2] for element in root.iter()]
    assert tags.count("polyline") == 1
    assert sum(element.get("class") == "break" for element in root.iter()) == 1
    assert "Two topics <&>" in [element.text for element in root.iter()]


def test_mistakes_are_told(file: Path) -> None:
    def run(*arguments: str) -> None:
        CliRunner().invoke(app, ["dev", "passages", *arguments], catch_exceptions=False)

    with pytest.raises(InputError, match="999 tokens"):
        run(str(file), "--budget", "999")
    with pytest.raises(InputError, match="is no"):
        run(str(file), "--plot", "curve.png")
    with pytest.raises(DataError, match="not there"):
        run(str(file.with_name("none.md")))
    many = file.with_name("many.jsonl")
    many.write_text("".join(json.dumps({"title": f"T{n}", "text": TOPICS}) + "\n" for n in range(2)), encoding="utf-8")
    with pytest.raises(InputError, match="holds 2 documents"):
        run(str(many), "--plot", "curve.svg")


def test_what_cannot_be_read_beside_what_can_is_told_and_the_exit_code_says_so(file: Path) -> None:
    mixed = file.with_name("mixed.jsonl")
    mixed.write_text(json.dumps({"title": "T", "text": TOPICS}) + "\n{broken\n", encoding="utf-8")
    result = CliRunner().invoke(app, ["dev", "passages", str(mixed)])
    assert result.exit_code == 1
    assert "mixed.jsonl: line 2" in result.stderr
    assert "Asthma narrows" in result.stdout
