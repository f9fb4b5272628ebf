"""`anamnesis index` from the command line, and the setting by which the agent searches what it built."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from agent.agent import Agent
from agent.cli.app import app
from agent.settings import load_settings
from prompts.errors import DataError, InputError
from support.corpus_files import write_xml
from support.homes import linked
from tools.mirror.article_xml import record_xml
from tools.mirror.records import MirrorRecord

ABSTRACTS = {
    "101": "Zelnorine 40 mg once a day prevented attacks of kelvar fever in adults.",
    "102": "Children with kelvar fever took zelnorine 10 mg and had fewer attacks.",
    "103": "",
}


def command(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["index", *arguments])


@pytest.fixture
def source(tmp_path: Path, built_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ANAMNESIS_HOME", str(linked(built_home, tmp_path / "home")))
    monkeypatch.setenv("ANAMNESIS_LITERATURE__LIVE", "off")
    records = [
        MirrorRecord(pmid=pmid, title=f"Zelnorine and kelvar fever {pmid}", abstract=text, date="2021-05")
        for pmid, text in ABSTRACTS.items()
    ]
    return write_xml(tmp_path / "pubmed99n0001.xml.gz", map(record_xml, records))


def test_build_status_search_ask_delete(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = json.loads(command("build", str(source), "--name", "papers", "--json", "-q").stdout)
    assert (report["parts"], report["made"], report["counts"]["without_text"]) == (1, 1, 1)
    assert "1 parts, 0 of them made now" in command("build", str(source), "--name", "papers", "-q").stdout
    (status,) = json.loads(command("status", "--json").stdout)
    assert (status["state"], status["counts"]["publications"]) == ("finished", 2)
    assert "2 publications" in command("status", "papers").stdout
    first, _ = json.loads(command("search", "papers", "zelnorine for children with kelvar fever", "--json").stdout)
    assert first["id"] == f"pubmed:102@0-{len(ABSTRACTS['102'])}"
    assert json.loads(command("search", "papers", "kelvar fever", "--since", "2022", "--json").stdout) == []

    monkeypatch.setenv("ANAMNESIS_CORPUS", "papers")
    with Agent() as agent:
        answer = agent.ask("Does zelnorine prevent attacks of kelvar fever?")
    cited = {c.evidence_id.partition("@")[0] for s in answer.statements for c in s.citations}
    assert cited & {"pubmed:101", "pubmed:102"}
    monkeypatch.delenv("ANAMNESIS_CORPUS")

    assert "deleted" in command("delete", "papers").stdout
    assert isinstance(command("delete", "papers").exception, InputError)
    assert json.loads(command("status", "--json").stdout) == []
    with pytest.raises(DataError, match="no finished collection papers"):
        Agent(corpus="papers").ask("Does zelnorine prevent attacks of kelvar fever?")


def test_names_are_checked(source: Path) -> None:
    refused = command("build", str(source), "--name", "../x", "-q").exception
    assert isinstance(refused, InputError)
    assert isinstance(command("status", "other").exception, InputError)
    command("build", str(source), "--name", "papers", "-q")
    assert "is no date" in str(command("search", "papers", "fever", "--since", "01/02/2020").exception)
    with pytest.raises(InputError, match="corpus"):
        load_settings(corpus="Papers/2")
