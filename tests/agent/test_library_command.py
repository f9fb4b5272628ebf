"""`anamnesis library` as a user runs it, and a question that a user's document answers."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from agent.agent import Agent
from agent.cli.app import app
from agent.settings import Settings
from prompts.errors import InputError
from support.homes import linked
from tools.evidence import verify_citation

NOTE = """# Zelnorine in hereditary kelvar fever

## Treatment

Zelnorine 40 mg once daily prevents attacks of hereditary kelvar fever. It should be taken with food.

## Warnings

Zelnorine must not be taken in pregnancy, because it harms the unborn child.
"""
QUESTION = "Does zelnorine prevent attacks of hereditary kelvar fever?"


@pytest.fixture
def home(built_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = linked(built_home, tmp_path / "home")
    monkeypatch.setenv("ANAMNESIS_HOME", str(home))
    monkeypatch.setenv("ANAMNESIS_LITERATURE__LIVE", "off")
    return home


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "zelnorine.md").write_text(NOTE)
    (folder / "broken.pdf").write_bytes(b"\x00 no pdf")
    return folder


def library(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["library", *map(str, arguments)])


def test_a_document_is_added_listed_checked_and_removed(home: Path, papers: Path) -> None:
    assert "no documents of your own yet" in library("list").stdout
    (papers / "library.enl").write_bytes(b"x")
    added = library("add", papers)
    assert added.exit_code == 1
    assert "1 skipped (library.enl): Files of the kind .enl cannot be read." in added.stdout
    assert str(papers / "broken.pdf") in added.stdout
    assert "1 added, 1 failed, 1 skipped" in added.stdout
    assert "files: 3 of 3, 1 documents" in added.stderr  # no terminal: lines tell how far it is
    again = library("add", "--json", "--quiet", papers / "zelnorine.md")
    assert (again.exit_code, json.loads(again.stdout)["counts"]) == (0, {"unchanged": 1})
    assert library("add", "-q", papers / "broken.pdf").exit_code == 2
    listed = json.loads(library("list", "--json").stdout)
    assert [d["title"] for d in listed] == ["Zelnorine in hereditary kelvar fever"]
    assert listed[0]["files"] == [str(papers / "zelnorine.md")]
    assert listed[0]["id"] in library("list").stdout
    assert library("check").exit_code == library("check", "--rebuild").exit_code == 0
    assert isinstance(library("remove", listed[0]["id"] + "x").exception, InputError)
    assert json.loads(library("remove", "--json", listed[0]["id"]).stdout) == {"removed": [listed[0]["id"]]}
    assert json.loads(library("list", "--json").stdout) == []
    assert (home / "library").stat().st_mode & 0o777 == 0o700


def test_a_user_s_document_is_cited_until_it_is_removed(home: Path, papers: Path) -> None:
    with Agent(Settings(home=home)) as agent:
        before = agent.ask(QUESTION)
        assert not [c for s in before.statements for c in s.citations if c.evidence_id.startswith("own:")]
        library("add", "-q", papers)
        answer = agent.ask(QUESTION)  # a running agent finds it at its next turn
        known = {e.id: e for e in answer.evidence}
        first = answer.statements[0].citations[0]
        assert first.quote == "Zelnorine 40 mg once daily prevents attacks of hereditary kelvar fever."
        assert verify_citation(first, known[first.evidence_id])
        assert known[first.evidence_id].title == "Zelnorine in hereditary kelvar fever"
        assert first.evidence_id.startswith("own:zelnorine-")
        assert answer.verdict is not None
        assert answer.verdict.value == "yes"
        assert "not assessed" in answer.verdict.reason
        library("remove", papers)
        after = agent.ask(QUESTION)
    assert "Zelnorine 40 mg" not in after.text
    assert not [c for s in after.statements for c in s.citations if c.evidence_id.startswith("own:")]


@pytest.mark.slow
def test_setup_afresh_keeps_the_user_s_documents(
    home: Path, built_home: Path, papers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "indexes").unlink()  # they are built again: its own
    shutil.copytree(built_home / "indexes", home / "indexes")
    library("add", "-q", papers)
    monkeypatch.setattr("agent.assembly.build_rest", lambda *_: None)  # a minute of encoding
    assert CliRunner().invoke(app, ["setup", "--rebuild"]).exit_code == 0
    assert [d["title"] for d in json.loads(library("list", "--json").stdout)] == [
        "Zelnorine in hereditary kelvar fever"
    ]
    assert library("check").exit_code == 0
    found = json.loads(CliRunner().invoke(app, ["doctor", "--json"]).stdout)
    assert next(c for c in found["checks"] if c["name"] == "user library")["found"].startswith("1 documents")


def test_the_texts_that_come_with_the_program_can_be_seen() -> None:
    listed = json.loads(library("list", "--starter", "--json").stdout)
    gout = next(row for row in listed if row["id"] == "gout")
    assert (gout["title"], gout["icd10"], gout["clinically_reviewed"]) == ("Gout", ["M10.9"], False)
    assert f"{len(listed)} texts" in library("list", "--starter").stdout
