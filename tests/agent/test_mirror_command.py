"""`anamnesis mirror` from the command line, and the setting by which the agent searches it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import urllib.request
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agent.cli.app import app
from agent.cli.doctor import endpoints
from agent.mirror import described, searched, words_of
from agent.settings import Settings
from prompts.errors import DataError, InputError
from support import processes
from support.mirror_xml import EXAMPLE, FIRST, SECOND
from tools.literature.settings import LiteratureSettings

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ANAMNESIS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("ANAMNESIS_LITERATURE__MIRROR", str(tmp_path / "m"))
    (tmp_path / "pubmed26n0001.xml").write_bytes(EXAMPLE)
    return tmp_path


def command(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["mirror", *arguments], catch_exceptions=False)
    assert result.exit_code in (0, 1)
    return result.output


def test_import_status_and_export(folder: Path) -> None:
    file = folder / "pubmed26n0001.xml"
    assert "2 records" in command("import", str(file), "--quiet")
    (again,) = json.loads(command("import", str(file), "--json", "-q"))
    assert again["outcome"] == "already applied"
    status = json.loads(command("status", "--json"))
    assert (status["records"], status["newest_published"], status["newest_entered"]) == (2, "2021", "2020-03-06")
    assert [(f["name"], f["records"], f["done"]) for f in status["files"]] == [(file.name, 2, True)]
    assert len(status["files"][0]["sha256"]) == 64
    assert file.name in command("status")
    command("export", str(folder / "out.jsonl"), "-q")
    lines = (folder / "out.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["pmid"] for line in lines] == [FIRST, SECOND]


def test_records_that_could_not_be_read_are_named_and_the_exit_code_tells(folder: Path) -> None:
    (folder / "a.jsonl").write_text('{"pmid": "1", "title": "t"}\n{"title": "none"}\n', encoding="utf-8")
    result = CliRunner().invoke(app, ["mirror", "import", str(folder / "a.jsonl"), "-q"])
    assert result.exit_code == 1
    assert "line 2" in result.output


def test_what_was_applied_before_a_failure_is_told(folder: Path) -> None:
    (folder / "pubmed26n0002.xml").write_bytes(EXAMPLE[: len(EXAMPLE) // 2])
    files = [str(folder / f"pubmed26n000{n}.xml") for n in (1, 2)]
    result = CliRunner().invoke(app, ["mirror", "import", *files, "-q", "--json"])
    assert isinstance(result.exception, DataError) or result.exit_code
    (told,) = json.loads(result.stdout)
    assert (told["name"], told["records"]) == ("pubmed26n0001.xml", 2)


def test_serve_answers_on_loopback_until_it_is_terminated(folder: Path) -> None:
    command("import", str(folder / "pubmed26n0001.xml"), "-q")
    server = processes.running("mirror", "serve", "--port", "0", environment=dict(os.environ), cwd=ROOT)
    try:
        server.wait_for("\n")
        said = server.written().splitlines()[0]
        address = next(word for word in said.split() if word.startswith("http://127.0.0.1:"))
        asked = f"{address}/efetch.fcgi?db=pubmed&id={FIRST}&rettype=uilist"
        with urllib.request.urlopen(asked, timeout=30) as answer:  # noqa: S310
            assert answer.read().decode().split() == [FIRST]
    finally:
        server.signal(signal.SIGTERM)
    assert server.ended().returncode == 0


def test_the_setting_puts_the_mirror_in_pubmeds_place_whatever_live_says(folder: Path) -> None:
    command("import", str(folder / "pubmed26n0001.xml"), "-q")
    found = searched(LiteratureSettings(live="off", mirror=folder / "m"))
    assert found.pubmed is not None
    assert found.source is not None
    assert found.reachability is not None
    assert (found.source.kind, found.source.name, found.source.date) == ("mirror", "m", "2020-03-06")
    assert asyncio.run(found.reachability.check())
    assert found.settings.live == "auto"
    assert asyncio.run(found.pubmed.search("budesonide[majr]", 5)).ids == (FIRST,)
    assert asyncio.run(found.pubmed.fetch([FIRST]))[0].volume == "12"
    assert searched(LiteratureSettings()).pubmed is None
    with pytest.raises(DataError, match="no mirror"):
        searched(LiteratureSettings(mirror=folder / "none"))


def test_a_port_that_is_taken_is_said(folder: Path) -> None:
    from tools.mirror.engine import Mirror
    from tools.mirror.eutils.server import MirrorServer

    command("import", str(folder / "pubmed26n0001.xml"), "-q")
    mirror = Mirror.open(folder / "m")
    with MirrorServer(mirror, port=0) as server, pytest.raises(InputError, match="cannot listen"):
        MirrorServer(mirror, port=server.server_address[1])


def test_the_planner_knows_the_words_of_a_mirror_and_none_of_live_pubmed(folder: Path) -> None:
    command("import", str(folder / "pubmed26n0001.xml"), "--quiet")
    found = searched(LiteratureSettings(mirror=folder / "m"))
    words = words_of(found.pubmed)
    assert found.pubmed is not None
    assert words is not None
    (article,) = asyncio.run(found.pubmed.fetch([FIRST]))
    assert words.documents == 2
    assert all(words.frequency(word) >= 1 for word in article.title.lower().strip(".").split()[-1:])
    assert words.frequency("zzyzx") == 0
    assert words_of(searched(LiteratureSettings()).pubmed) is None


def test_doctor_names_the_mirror_and_calls_no_address_for_it(folder: Path) -> None:
    command("import", str(folder / "pubmed26n0001.xml"), "--quiet")
    assert described(folder / "m") == "2 records, newest of 2020-03-06"
    settings = Settings(home=folder / "home", literature=LiteratureSettings(mirror=folder / "m"))
    assert endpoints(settings) == []
    with pytest.raises(DataError):
        described(folder / "none")
