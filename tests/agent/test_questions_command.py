"""`anamnesis questions` from the command line, on a small folder of files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agent.cli.app import app
from prompts.errors import AnamnesisError, DataError, InputError
from support.small_pages import PAGES


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ANAMNESIS_HOME", str(tmp_path / "home"))
    folder = tmp_path / "pages"
    folder.mkdir()
    for name, (title, text) in PAGES.items():
        (folder / f"{name}.md").write_text(f"# {title}\n{text}\n")
    (folder / "bad.pdf").write_bytes(b"%PDF-1.4 nothing")
    return folder


def run(*args: str) -> Any:
    done = CliRunner().invoke(app, ["questions", *args])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return json.loads(done.stdout) if "--json" in args else done.stdout


def test_build_status_search_and_testset(folder: Path, tmp_path: Path) -> None:
    report = run("build", str(folder), "--json", "--quiet", "--per-document", "12")
    assert (report["documents"], report["empty"]) == (3, 0)
    assert [p["where"].split()[0] for p in report["problems"]] == ["bad.pdf"]
    assert run("build", str(folder), "--json", "--quiet", "--per-document", "12")["reused"] == 3
    assert run("status", str(folder), "--json")["count"] == report["questions"]
    assert "in the index" in run("status", str(folder))
    hits = run("search", "Do antibiotics work in croup?", "--collection", str(folder), "--json")
    assert hits[0]["document"].startswith("own:croup")
    out = tmp_path / "test.jsonl"
    told = run("testset", str(folder), "--out", str(out), "--count", "4", "--json")
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(rows) == told["rephrase"]["kept"] + told["ood"]["kept"]
    assert {row["kind"] for row in rows} <= {"rephrase", "ood"}


@pytest.mark.parametrize("gone", [True, False])
def test_a_test_set_of_a_collection_that_has_changed_is_refused(folder: Path, tmp_path: Path, gone: bool) -> None:
    run("build", str(folder), "--json", "--quiet", "--per-document", "4")
    if gone:
        (folder / "gout.md").unlink()
    else:
        (folder / "gout.md").write_text("# Gout\nAnother text.\n")
    with pytest.raises(DataError, match="has changed since") as told:
        run("testset", str(folder), "--out", str(tmp_path / "test.jsonl"), "--count", "4", "--json")
    assert "anamnesis questions build" in str(told.value)


def test_mistakes_are_told(folder: Path, tmp_path: Path) -> None:
    def mistake(kind: type[AnamnesisError], words: str, *args: str) -> None:
        with pytest.raises(kind, match=words):
            run(*args)

    mistake(InputError, "no collection", "build", "nowhere")
    mistake(InputError, "no documents of your own", "build", "own")
    mistake(InputError, "No language model", "build", str(folder), "--writer", "model")
    mistake(DataError, "nothing built", "status", str(folder))
    mistake(DataError, "nothing built", "search", "gout?", "--collection", str(folder))
    mistake(InputError, "empty", "search", " ", "--collection", str(folder))


def test_learning_is_off_unless_it_is_switched_on(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "Learning is off" in run("learn")
    monkeypatch.setenv("ANAMNESIS_QUESTIONS__LEARN", "true")
    assert run("learn", "--json")["on"] is True
