"""`anamnesis search` over a local mirror: saved, reported, done again; refused when it has no source."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agent.assembly import _forget_indexes
from agent.cli.app import app
from agent.cli.search import _show
from agent.sessions import Home
from prompts.errors import InputError
from tools.evidence import SameWork, Status
from tools.literature.adapt_e.contract import SearchPlan
from tools.literature.ladder import Climb, Step
from tools.literature.live import FETCHED, LiveResult
from tools.literature.report import account
from tools.literature.strategy import FoundDocument, Hit, Source, make_strategy
from tools.mirror.load import load_records
from tools.mirror.records import MirrorRecord

QUESTION = "Does colchicine prevent recurrence of pericarditis?"


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    """A mirror of three records."""
    texts = {
        "1": ("Colchicine for recurrent pericarditis.", "Colchicine prevents recurrence of pericarditis."),
        "2": ("Tulips.", "Tulips were planted in rows."),
        "3": ("Pericarditis.", "Pericarditis is an inflammation."),
    }
    records = [MirrorRecord(pmid=p, title=t, abstract=a) for p, (t, a) in texts.items()]
    load_records(tmp_path / "mirror", records, source="test")
    return tmp_path / "mirror"


def test_a_search_is_shown_saved_reported_and_done_again(
    mirror: Path, built_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANAMNESIS_HOME", str(built_home))
    monkeypatch.setenv("ANAMNESIS_LITERATURE__LIVE", "off")
    saved, report, cited = tmp_path / "s.json", tmp_path / "account.md", tmp_path / "found.nbib"
    run = CliRunner().invoke
    files = ["--strategy", str(saved), "--report", str(report), "--references", str(cited)]
    shown = run(app, ["search", QUESTION, "--mirror", str(mirror), *files])
    assert shown.exit_code == 0, shown.output
    assert cited.read_text().split("\n\n")[0] == (
        "PMID- 1\nTI  - Colchicine for recurrent pericarditis\nAB  - Colchicine prevents recurrence of pericarditis."
    )
    assert "2 references." in shown.stderr
    for told in ("PMID 1, no type given, no year, ok, abstract", "found by rung 1 (1)", "Plan (local)", "2 documents"):
        assert told in shown.output
    strategy = json.loads(saved.read_text())
    assert [d["id"] for d in strategy["documents"]] == ["pubmed:1", "pubmed:3"]
    assert strategy["source"]["kind"] == "mirror"
    assert "Does colchicine" not in saved.read_text() + report.read_text()
    assert strategy["rungs"][0]["query"] in report.read_text()
    again = run(app, ["search", "--rerun", str(saved), "--mirror", str(mirror), "--json"])
    assert again.exit_code == 0, again.output
    assert (json.loads(again.output)["new"], json.loads(again.output)["gone"]) == ([], [])


def test_a_typed_query_is_run_as_it_stands_and_a_broken_one_refused(
    mirror: Path, built_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANAMNESIS_HOME", str(built_home))
    monkeypatch.setenv("ANAMNESIS_LITERATURE__LIVE", "off")
    run, over = CliRunner().invoke, ["--mirror", str(mirror)]
    shown = run(app, ["search", "pericarditis[tiab] NOT colchicine", *over])
    assert shown.exit_code == 0, shown.output
    assert "Query as it was typed" in shown.output
    assert "1. typed  1 record" in shown.output
    assert "PMID 3" in shown.output
    assert "PMID 1," not in shown.output
    by_id = run(app, ["search", "PMID: 2", *over])
    assert ("PMID 2," in by_id.output, "1 documents" in by_id.output) == (True, True)
    limited = run(app, ["search", "pericarditis, English only", "--report", "-", *over])
    assert "- language: `AND english[la]`, because the question says “English only”" in limited.output
    assert "- species, publication type: none" in limited.output
    told = run(app, ["search", "pericarditis[tiab] AND english[la]", "--report", "-", *over])
    assert "- other limits: those that the query itself holds" in told.output
    broken = run(app, ["search", "pericarditis[tiab] AND (colchicine", *over])
    assert isinstance(broken.exception, InputError)
    assert "parenthesis" in str(broken.exception)


def test_a_rerun_is_reported_kept_and_exported(
    mirror: Path, built_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANAMNESIS_HOME", str(built_home))
    monkeypatch.setenv("ANAMNESIS_LITERATURE__LIVE", "off")
    monkeypatch.setenv("ANAMNESIS_LITERATURE__MIRROR", str(mirror))
    saved, kept, report, cited = (tmp_path / n for n in ("s.json", "t.json", "again.md", "new.ris"))
    run = CliRunner().invoke
    assert run(app, ["search", QUESTION, "--strategy", str(saved)]).exit_code == 0
    text = "Colchicine prevents recurrence of pericarditis."
    late = MirrorRecord(pmid="7", title="Later pericarditis.", abstract=text, journal="J Invented", date="2026")
    bad = MirrorRecord(pmid="8", title="Pericarditis.", abstract=text, status=Status.RETRACTED)
    old = MirrorRecord(pmid="3", title="Pericarditis.", abstract=text, status=Status.RETRACTED)
    load_records(mirror, [late, bad, old], source="second")
    files = ["--strategy", str(kept), "--report", str(report), "--references", str(cited)]
    shown = run(app, ["search", "--rerun", str(saved), *files])
    assert shown.exit_code == 0, shown.output
    assert "new: 2" in shown.output
    assert "PMID 7 Later pericarditis. (J Invented, 2026)" in shown.output
    assert "PMID 8 Pericarditis. RETRACTED" in shown.output
    assert "retracted, of concern or corrected since: 1" in shown.output
    assert "now mirror mirror of 2026" in shown.output
    assert "| pubmed:7 | Later pericarditis." in report.read_text()
    assert (cited.read_text().count("TY  -"), "AN  - 7" in cited.read_text()) == (1, True)
    assert json.loads(kept.read_text())["first"] == json.loads(saved.read_text())["at"]
    again = run(app, ["search", "--rerun", str(kept), "--report", "-"])
    assert "## New records: 0" in again.output


def test_all_that_a_query_finds_is_listed_and_only_the_first_are_put_in_order(
    built_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANAMNESIS_HOME", str(built_home))
    monkeypatch.setenv("ANAMNESIS_LITERATURE__LIVE", "off")
    text = "Colchicine prevents recurrence of pericarditis."
    records = [MirrorRecord(pmid=str(n), title=f"{text} {n}", abstract=text) for n in range(1, FETCHED + 20)]
    records.append(MirrorRecord(pmid="500", title=text))  # a letter, say, without an abstract
    load_records(tmp_path / "mirror", records, source="test")
    monkeypatch.setenv("ANAMNESIS_LITERATURE__MIRROR", str(tmp_path / "mirror"))
    saved, report, cited = (tmp_path / n for n in ("s.json", "r.md", "all.nbib"))
    run = CliRunner().invoke
    first = run(app, ["search", QUESTION])
    assert "1 query finds more than the first 60 that are listed; --all lists them." in first.output
    files = ["--strategy", str(saved), "--report", str(report), "--references", str(cited)]
    shown = run(app, ["search", QUESTION, "--all", "--enough", "1", *files])
    assert shown.exit_code == 0, shown.output
    strategy = json.loads(saved.read_text())
    assert len(strategy["rungs"]) == 1
    assert len(strategy["documents"]) == cited.read_text().count("PMID-") == FETCHED + 20
    assert "pubmed:500" in [d["id"] for d in strategy["documents"][strategy["ranked"] :]]
    assert [d["rank"] for d in strategy["documents"]] == list(range(1, FETCHED + 21))
    assert f"Only the first {strategy['ranked']} documents were put in order" in report.read_text()
    assert "the rest as the queries listed them" in shown.output


def test_what_even_all_does_not_list_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    step = Step(
        rung="typed", query="sepsis", count=5, ids=("1", "2"), translation="", warnings=(), seconds=0.0, next=""
    )
    source, hits = Source(kind="pubmed", name="x"), (Hit(stream="pubmed", rank=1),)
    found = [FoundDocument(id="pubmed:1", rank=1, hits=hits), FoundDocument(id="pubmed:2", rank=2, hits=hits)]
    made = make_strategy("sepsis", SearchPlan(), Climb(steps=(step,)), source, 60, documents=found)
    strategy = made.model_copy(update={"most": 2, "ranked": 1})
    _show(strategy, LiveResult(documents=(), strategy=strategy, notices=[], failed=False), 5)
    shown = " ".join(capsys.readouterr().out.split())
    assert "1 query finds more than the first 2 that are listed; no more can be listed" in shown


def test_where_all_that_was_found_is_left_out_nothing_is_shown_and_nothing_is_a_reference(
    built_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANAMNESIS_HOME", str(built_home))
    record = MirrorRecord(pmid="90000007", title="Gout.", abstract="Gout.", status=Status.RETRACTED)
    load_records(tmp_path / "mirror", [record], source="test")
    saved, cited = tmp_path / "s.json", tmp_path / "found.ris"
    files = ["--strategy", str(saved), "--references", str(cited)]
    shown = CliRunner().invoke(app, ["search", "gout[tiab]", "--mirror", str(tmp_path / "mirror"), *files])
    assert shown.exit_code == 0, shown.output
    assert "All that was found was left out." in shown.output
    assert "90000007, no type given" not in shown.output
    strategy = json.loads(saved.read_text())
    assert strategy["documents"] == []
    assert [e["reason"] for e in strategy["excluded"]] == ["retracted"]
    assert not cited.exists() or "90000007" not in cited.read_text()


def test_words_that_were_held_back_are_counted_and_named_only_where_the_question_is_kept(
    mirror: Path, built_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANAMNESIS_HOME", str(built_home))
    monkeypatch.setenv("ANAMNESIS_LITERATURE__LIVE", "off")
    report, run = tmp_path / "r.md", CliRunner().invoke
    asked = ["search", "Does colchicine help Mrs Brightwater with pericarditis?", "--mirror", str(mirror)]
    assert run(app, [*asked, "--report", str(report)]).exit_code == 0
    assert "| words held back, not sent | 1; --keep-question names them |" in report.read_text()
    assert "Brightwater" not in report.read_text()
    assert run(app, [*asked, "--report", str(report), "--keep-question"]).exit_code == 0
    assert "| words held back, not sent | 1: Brightwater |" in report.read_text()


def test_what_a_mirror_was_asked_is_never_sent_to_pubmed_and_another_copy_is_told(
    mirror: Path, built_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANAMNESIS_HOME", str(built_home))
    monkeypatch.setenv("ANAMNESIS_LITERATURE__LIVE", "on")
    saved, run = tmp_path / "s.json", CliRunner().invoke
    assert run(app, ["search", QUESTION, "--mirror", str(mirror), "--strategy", str(saved)]).exit_code == 0
    refused = run(app, ["search", "--rerun", str(saved)]).exception
    assert isinstance(refused, InputError)
    assert "not chosen to leave this machine" in refused.what
    copy = shutil.copytree(mirror, tmp_path / "copy")
    told = run(app, ["search", "--rerun", str(saved), "--mirror", str(copy)])
    assert told.exit_code == 0, told.output
    assert "then mirror mirror, now mirror copy" in told.output
    assert "Another source was asked" in told.output
    since = run(app, ["search", "--rerun", str(saved), "--mirror", str(mirror), "--since", "2020-01-01"]).exception
    assert isinstance(since, InputError)
    assert "No record of this mirror has a date of entry" in since.what


@pytest.mark.parametrize(
    "options",
    [
        [QUESTION, "--since", "2020-01-01"],
        [QUESTION, "--json", "--report", "-"],
        [QUESTION, "--rerun", "s.json"],
        ["--rerun", "s.json", "--json", "--report", "-"],
        ["--rerun", "s.json", "--all"],
        ["--rerun", "s.json", "--enough", "5"],
        ["--rerun", "s.json", "--case"],
    ],
)
def test_options_that_would_be_ignored_are_refused(options: list[str]) -> None:
    refused = CliRunner().invoke(app, ["search", *options]).exception
    assert isinstance(refused, InputError)
    assert "--" in refused.what


def test_without_pubmed_and_without_a_mirror_it_says_what_to_set(
    built_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANAMNESIS_HOME", str(built_home))
    monkeypatch.setenv("ANAMNESIS_LITERATURE__LIVE", "off")
    result = CliRunner().invoke(app, ["search", QUESTION])
    assert isinstance(result.exception, InputError)
    assert result.exception.exit_code == 2
    assert "--mirror" in result.exception.advice


def test_a_result_says_beside_it_which_other_is_the_same_work(capsys: pytest.CaptureFixture[str]) -> None:
    hits = (Hit(stream="pubmed", rank=1),)
    found = [FoundDocument(id=f"pubmed:{n}", title=f"Title {n}.", rank=n, hits=hits) for n in (1, 2, 3)]
    strategy = make_strategy(QUESTION, SearchPlan(), Climb(), Source(kind="pubmed", name="x"), 20, documents=found)
    same = SameWork(ids=("pubmed:1", "pubmed:3"), why="joined by PubMed", preprints=("pubmed:3",))
    strategy = strategy.model_copy(update={"same_work": (same,)})
    _show(strategy, LiveResult(documents=(), strategy=strategy, notices=[], failed=False), 5)
    first, second, third = capsys.readouterr().out.split("Title ")[1:]
    assert "the same work as pubmed:3 (preprint) (joined by PubMed)" in first
    assert "the same work" not in second
    assert "the same work as pubmed:1 (joined by PubMed)" in third


def test_a_source_that_failed_is_never_nothing_found(capsys: pytest.CaptureFixture[str]) -> None:
    strategy = make_strategy(
        QUESTION, SearchPlan(), Climb(failure="PubMed is away."), Source(kind="pubmed", name="x"), 20
    )
    failed = LiveResult(documents=(), strategy=strategy, notices=[], failed=True)
    _show(strategy, failed, 5)
    _show(strategy.model_copy(update={"failure": ""}), failed.model_copy(update={"failed": False}), 5)
    first, second = capsys.readouterr().out.split("0 documents", 1)
    assert "cut off before anything was found" in first
    assert "Nothing was found" not in first
    assert "Nothing was found" in second
    assert "cut off" in account(strategy)


def test_imported_vectors_and_paid_work_outlive_a_rebuild(tmp_path: Path) -> None:
    home = Home(tmp_path).prepare()
    for name in ("pubmed-vectors", "pubmed-vectors.building", "library"):
        (home.indexes / name).mkdir(parents=True)
    for name in ("icd10.json", "questions.work.sqlite", "questions.work.sqlite-wal"):
        (home.indexes / name).write_text("{}")
    _forget_indexes(home)
    kept = ["pubmed-vectors", "pubmed-vectors.building", "questions.work.sqlite", "questions.work.sqlite-wal"]
    assert sorted(p.name for p in home.indexes.iterdir()) == kept
