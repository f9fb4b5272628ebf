"""`anamnesis knowledge`: a source added from files, searched and cited with its licence, updated, removed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from agent.agent import Agent
from agent.cli.app import app
from agent.cli.doctor import endpoints
from agent.settings import load_settings
from prompts.errors import InputError
from support import knowledge_files as made

ASKED = "Can zelnorine be given to a patient with dorvan syndrome?"


def command(*arguments: str, group: str = "knowledge") -> Result:
    return CliRunner().invoke(app, [group, *arguments])


def of_labels(agent: Agent) -> list[str]:
    return [e.id for e in agent.ask(ASKED).evidence if e.id.startswith("openfda:")]


@pytest.fixture
def home(tmp_path: Path, built_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(built_home, tmp_path / "home")
    monkeypatch.setenv("ANAMNESIS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("ANAMNESIS_LITERATURE__LIVE", "off")
    return tmp_path / "home"


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    folder = tmp_path / "labels"
    folder.mkdir()
    bulk = made.answer(made.label(), made.label(number=2, effective_time="20200101"), {"set_id": "empty"})
    made.zipped(folder / "drug-label-0001-of-0001.json.zip", {"drug-label-0001-of-0001.json": bulk})
    (folder / "notes.txt").write_text("None of the source's files.")
    return folder


def test_a_source_is_added_searched_cited_and_removed(
    home: Path, labels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "Downloads are off" in str(command("add", "openfda").exception)
    assert "--from PATH" in str(command("add", "ngc").exception)
    assert "no" in command("show", "openfda").stdout.partition("imported: ")[2]
    began_before = Agent()
    assert not of_labels(began_before)
    report = json.loads(command("add", "openfda", "--from", str(labels), "--json", "-q").stdout)
    assert (report["files"], report["records"], report["joined"], report["wrong"], report["skipped"]) == (1, 1, 1, 1, 1)
    (listed,) = [row for row in json.loads(command("list", "--json").stdout) if row["imported"]]
    assert (listed["name"], listed["imported"]["date"]) == ("openfda", "2024-01-31")
    answer = began_before.ask(ASKED)
    cited = {e.section: e for e in answer.evidence if e.id.startswith("openfda:")}["Contraindications"]
    assert cited.id in {c.evidence_id for s in answer.statements for c in s.citations}
    assert (cited.date, cited.licence) == ("2024-01-31", "CC0 1.0 (public domain)")
    assert cited.source == ("openFDA drug labels, set id 00000000-0000-0000-0000-000000000001, version 3, Made Up Inc.")
    assert "dorvan syndrome" in answer.text
    shown = CliRunner().invoke(app, ["ask", ASKED]).stdout.replace("\n", " ")
    assert "CC0 1.0 (public domain)" in shown
    assert "openFDA drug labels" in shown
    told = CliRunner().invoke(app, ["doctor"]).stdout.replace("\n", " ")
    assert "openfda: 1 documents, up to 2024-01-31, CC0 1.0 (public domain)" in told
    monkeypatch.setenv("ANAMNESIS_KNOWLEDGE__SEARCH", "medlineplus")
    with Agent() as agent:
        assert not of_labels(agent)
    assert "not searched" in CliRunner().invoke(app, ["doctor"]).stdout.replace("\n", " ")
    assert "openfda is removed" in command("remove", "openfda").stdout
    assert isinstance(command("remove", "openfda").exception, InputError)
    assert not of_labels(began_before)
    began_before.close()


def test_what_cannot_be_read_is_a_row_and_changes_nothing_that_stands(home: Path, labels: Path) -> None:
    bulk = made.answer(made.label(), made.label("Dorvanol", number=2))
    (labels / "half.json").write_text(bulk[: len(bulk) * 3 // 4])
    whole = (labels / "drug-label-0001-of-0001.json.zip").read_bytes()
    (labels / "cut.zip").write_bytes(whole[: len(whole) // 2])
    first = json.loads(command("add", "openfda", "--from", str(labels), "--json", "-q").stdout)
    assert (first["files"], first["failed"], first["records"]) == (1, 2, 1)
    assert {row["where"] for row in first["rows"]} == {"", "empty"}
    (labels / "drug-label-0001-of-0001.json.zip").write_bytes(b"")
    again = command("update", "openfda", "-q")
    assert again.exit_code == 2
    assert "stands unchanged" in again.stdout.replace("\n", " ")
    (hit,) = json.loads(command("search", "knowledge-openfda", "dorvan syndrome", "--json", group="index").stdout)
    assert hit["licence"] == "CC0 1.0 (public domain)"
    assert command("add", "ngc", "--from", str(labels / "half.json"), "-q").exit_code == 2
    assert command("show", "ngc").stdout.rstrip().endswith("imported: no")
    assert isinstance(command("update", "ngc").exception, InputError)
    assert isinstance(command("add", "unknown").exception, InputError)


def test_a_question_embeds_no_passage_and_an_update_only_what_changed(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tools.encoders import MiniLMEncoder

    texts: list[str] = []
    real = MiniLMEncoder.encode_documents
    monkeypatch.setattr(MiniLMEncoder, "encode_documents", lambda self, t: texts.extend(t) or real(self, t))
    path = tmp_path / "labels.json"
    path.write_text(made.answer(made.label(), made.label("Dorvanol", number=2)))
    assert not [e for e in endpoints(load_settings()) if "fda.gov" in e["url"]]
    monkeypatch.setenv("ANAMNESIS_KNOWLEDGE__LIVE", "on")
    monkeypatch.setattr("agent.knowledge.download", lambda *_: [path])  # tests/tools/knowledge plays the server
    assert [e for e in endpoints(load_settings()) if e["url"] == "https://api.fda.gov/download.json"]
    assert command("add", "openfda", "-q").exit_code == 0
    assert "from: downloaded" in command("show", "openfda").stdout
    titled = [text for text in texts if text.startswith("Zelnorine (zelnorine hydrochloride), oral")]
    assert len(titled) == 8
    texts.clear()
    with Agent() as agent:
        assert any(e.id.startswith("openfda:") for e in agent.ask(ASKED).evidence)
    assert not set(titled) & set(texts)
    texts.clear()
    changed = made.label(
        number=3, effective_time="20250101", contraindications=["Zelnorine is never given to infants."]
    )
    path.write_text(made.answer(made.label("Dorvanol", number=2), changed))
    assert command("update", "openfda", "-q").exit_code == 0
    assert [t.partition("Contraindications\n")[2] for t in texts] == ["Zelnorine is never given to infants."]


@pytest.mark.slow
def test_a_kill_in_the_middle_loses_nothing(home: Path, tmp_path: Path) -> None:
    rows = [made.label(f"Zelnorine{chr(97 + n)}", number=n) for n in range(26)]
    path = tmp_path / "labels.json"
    path.write_text(made.answer(*rows[:1]))
    assert command("add", "openfda", "--from", str(path), "-q").exit_code == 0
    path.write_text(made.answer(*rows))
    code = (
        "import agent.knowledge as k; k.BLOCK = 2\n"
        "from agent.settings import load_settings; from pathlib import Path\n"
        f"k.add(load_settings(), 'openfda', [Path({str(path)!r})])"
    )
    child = subprocess.Popen([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    parts = home / "corpora" / "knowledge-openfda" / "parts"
    until = time.monotonic() + 120
    while len(list(parts.glob("??/*/part.json"))) < 4 and child.poll() is None and time.monotonic() < until:
        time.sleep(0.02)
    child.send_signal(signal.SIGKILL)
    child.wait()
    (hit,) = json.loads(command("search", "knowledge-openfda", "dorvan syndrome", "--json", group="index").stdout)
    assert hit["title"].startswith("Zelnorinea")  # what stood before stands
    assert command("update", "openfda", "-q").exit_code == 0
    held = json.loads(command("status", "knowledge-openfda", "--json", group="index").stdout)[0]
    assert held["counts"]["publications"] == 26
