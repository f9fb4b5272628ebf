"""Files into the mirror: order, revisions, deletions, checksums, kills, hostile and damaged files."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from prompts.errors import DataError, InputError
from support import processes
from support.mirror_xml import EXAMPLE, FIRST, SECOND, article, article_set, deletion, write
from tools.mirror import importing
from tools.mirror.database import FILE
from tools.mirror.engine import Mirror
from tools.mirror.importing import Outcome, import_files

ROOT = Path(__file__).resolve().parents[3]
TABLES = {
    "records": "*", "segments": "*", "words": "*", "keys": "*", "headings": "*", "dead": "*", "state": "*",
    "sources": "name, records", "files": "sha256, name, position, records, deleted, unread, done",
}  # fmt: skip
KILLED = """
import os, signal
from pathlib import Path
from tools.mirror import importing
from tools.mirror.writer import Writer
importing.BATCH = 40
moment, at = {moment!r}, {at}
calls = 0
def die(*_):
    global calls
    calls += 1
    if calls == at:
        os.kill(os.getpid(), signal.SIGKILL)
if moment == "inside":
    insert = Writer._insert
    Writer._insert = lambda self, *a: (insert(self, *a), die())
importing.import_files(
    Path({folder!r}), [Path(p) for p in {files!r}], workers=0, progress=die if moment == "between" else None
)
"""


def dump(folder: Path) -> dict[str, list[Any]]:
    with sqlite3.connect(folder / FILE) as database:
        found = {t: database.execute(f"SELECT {c} FROM {t} ORDER BY 1, 2").fetchall() for t, c in TABLES.items()}
        database.execute("INSERT INTO positions (positions) VALUES ('integrity-check')")
    database.close()
    return found


def titles(folder: Path, *pmids: int) -> list[str]:
    mirror = Mirror.open(folder)
    found = [r.title for r in mirror.records([str(p) for p in pmids])]
    mirror.close()
    return found


def test_pubmeds_xml_is_kept_whole_and_found_by_its_fields(tmp_path: Path) -> None:
    file = write(tmp_path, "pubmed26n0001.xml.gz", EXAMPLE)
    (report,) = import_files(tmp_path / "m", [file], workers=0)
    assert (report.records, report.unread, report.outcome) == (2, 0, Outcome.APPLIED)
    mirror = Mirror.open(tmp_path / "m")
    assert mirror.find("budesonide[majr] AND Muster AB[au] AND 2020/03[dp] AND medline[sb]", 5).ids == (FIRST,)
    stored = mirror.stored([FIRST])[FIRST]
    assert b"<GrantID>X1</GrantID>" in stored.xml()
    whole = stored.article()
    assert (whole.volume, whole.pages, whole.authors[1].suffix) == ("12", "45-51", "Jr")
    assert (whole.mesh[0].qualifiers[0].name, whole.mesh[0].qualifiers[0].major) == ("drug therapy", True)
    assert "10² units" in whole.abstract
    assert mirror.records([SECOND])[0].date == "2021"


def test_nlms_files_are_applied_by_number_with_revisions_and_deletions_in_order(tmp_path: Path) -> None:
    baseline = write(tmp_path, "pubmed26n0009.xml", article_set(*(article(n, f"old {n}") for n in range(101, 106))))
    update = write(
        tmp_path,
        "pubmed26n0010.xml.gz",
        article_set(
            article(102, "new 102"), deletion(103, 999), article(104, "first 104"), article(104, "second 104"),
            article(106, "brief"), deletion(106), deletion(105), article(105, "back again"),
        ),
    )  # fmt: skip
    first, second = import_files(tmp_path / "m", [update, baseline], workers=0)
    assert [first.name, second.name] == [baseline.name, update.name]
    assert (second.records, second.deleted) == (3, 2)
    assert titles(tmp_path / "m", *range(101, 107)) == ["old 101", "new 102", "second 104", "back again"]
    mirror = Mirror.open(tmp_path / "m")
    assert mirror.find("old[ti]", 9).ids == ("101",)
    assert mirror.find("brief[ti] OR first[ti]", 9).count == 0
    again = import_files(tmp_path / "m", [update], workers=0)
    assert [r.outcome for r in again] == [Outcome.KNOWN]
    older = write(tmp_path, "pubmed26n0008.xml", article_set(article(102, "older")))
    with pytest.raises(InputError, match="older than pubmed26n0010"):
        import_files(tmp_path / "m", [older], workers=0)
    assert titles(tmp_path / "m", 102) == ["new 102"]


def test_a_version_is_replaced_by_a_later_one_only(tmp_path: Path) -> None:
    files = [
        write(tmp_path, "a.xml", article_set(article(7, "two", 2), article(8, "three", 3), article(8, "one"))),
        write(tmp_path, "b.xml", article_set(article(7, "one", 1), deletion(7))),
        write(tmp_path, "c.xml", article_set(article(8, "four", 4))),
    ]
    import_files(tmp_path / "m", files, workers=0)
    assert titles(tmp_path / "m", 7, 8) == ["two", "four"]
    assert Mirror.open(tmp_path / "m").find("one[ti]", 5).count == 0


def test_pubtator_and_json_lines_with_what_is_no_record_named(tmp_path: Path) -> None:
    pubtator = (
        b"11|t|Aspirin  in stroke\n11|a|It helps.\n11\t0\t7\tAspirin\tChemical\tD001241\n\n12|t|Only a title\n\nbad\n"
    )
    rows: list[dict[str, Any]] = [
        {"pmid": "21", "title": "A trial", "abstract": "Of \u0007 warfarin.", "year": 2019, "mesh": ["Warfarin"],
         "publication_types": ["Retracted Publication"], "journal": None},
        {"title": "no number"},
    ]  # fmt: skip
    lines = "\n".join(map(json.dumps, rows)).encode() + b"\n{broken\n"
    reports = import_files(
        tmp_path / "m", [write(tmp_path, "a.txt", pubtator), write(tmp_path, "b.jsonl.gz", lines)], workers=0
    )
    assert [(r.format, r.records, r.unread) for r in reports] == [("PubTator", 2, 1), ("JSON lines", 1, 2)]
    assert [p.where for p in reports[1].problems] == ["line 2", "line 3"]
    mirror = Mirror.open(tmp_path / "m")
    assert mirror.find("warfarin[mh] AND 2019[dp]", 5).ids == ("21",)
    record = mirror.records(["21"])[0]
    assert (record.abstract, record.status.value) == ("Of warfarin.", "retracted")
    assert mirror.records(["11"])[0].title == "Aspirin in stroke"


def make_files(folder: Path) -> list[Path]:
    first = article_set(*(article(n, f"title {n} alpha beta", abstract="one two three " * 5) for n in range(1, 201)))
    steps = [deletion(*range(1, 30)), *(article(n, f"revised {n} beta alpha") for n in range(25, 150))]
    return [write(folder, "pubmed26n0001.xml", first), write(folder, "pubmed26n0002.xml.gz", article_set(*steps))]


@pytest.mark.parametrize(("moment", "at"), [("between", 2), ("between", 7), ("inside", 4)])
def test_killed_in_mid_import_and_run_again_it_is_the_same_mirror(
    moment: str, at: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "BATCH", 40)
    files = make_files(tmp_path)
    import_files(tmp_path / "whole", files, workers=0)
    code = KILLED.format(moment=moment, at=at, folder=str(tmp_path / "cut"), files=[str(f) for f in files])
    died = processes.snippet(code, environment=os.environ | {"PYTHONPATH": str(ROOT)}, cwd=ROOT).ended()
    assert died.returncode == -signal.SIGKILL
    before = dump(tmp_path / "cut")
    assert before["records"]
    assert not all(done for *_, done in before["files"])
    reports = import_files(tmp_path / "cut", files, workers=0)
    assert reports[-1].outcome is Outcome.APPLIED
    cut, whole = dump(tmp_path / "cut"), dump(tmp_path / "whole")
    assert {t for t in TABLES if cut[t] != whole[t]} == set()
    one, other = Mirror.open(tmp_path / "cut"), Mirror.open(tmp_path / "whole")
    for query in ("revised", '"alpha beta"[ti]', "all[sb]", '"two three one"[ab] NOT revised[ti]'):
        assert one.find(query, 300) == other.find(query, 300)
    assert one.find("all[sb]", 0).count == 200 - 29 + 5


def test_processes_that_read_give_the_same_mirror_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "BATCH", 40)
    files = make_files(tmp_path)
    import_files(tmp_path / "one", files, workers=0)
    import_files(tmp_path / "two", files, workers=2)
    assert dump(tmp_path / "one") == dump(tmp_path / "two")


def test_a_file_that_is_cut_keeps_what_was_read_and_goes_on_with_the_whole_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "BATCH", 10)
    whole = article_set(*(article(n, f"title {n}", abstract="word " * 1000) for n in range(1, 60)))
    file = write(tmp_path, "pubmed26n0001.xml", whole[: len(whole) * 2 // 3])
    with pytest.raises(DataError, match="cut off"):
        import_files(tmp_path / "m", [file], workers=0)
    kept = Mirror.open(tmp_path / "m").manifest()
    assert kept.records in (10, 20, 30)
    assert [f.done for f in kept.files] == [False]
    write(tmp_path, file.name, whole)
    import_files(tmp_path / "m", [file], workers=0)
    manifest = Mirror.open(tmp_path / "m").manifest()
    assert (manifest.records, [f.done for f in manifest.files], manifest.segments) == (59, [True], 1)


MESH = b"""<?xml version="1.0"?><!DOCTYPE DescriptorRecordSet SYSTEM "https://www.nlm.nih.gov/x.dtd">
<DescriptorRecordSet LanguageCode="eng"><DescriptorRecord><DescriptorUI>D001249</DescriptorUI>
<DescriptorName><String>Asthma</String></DescriptorName><TreeNumberList><TreeNumber>C08.127</TreeNumber></TreeNumberList>
<ConceptList><Concept><TermList><Term><String>Asthma</String></Term><Term><String>Bronchial Asthma</String></Term>
</TermList></Concept></ConceptList></DescriptorRecord><DescriptorRecord>
<DescriptorName><String>Asthma, Aspirin-Induced</String>
</DescriptorName><TreeNumberList><TreeNumber>C08.127.054</TreeNumber></TreeNumberList></DescriptorRecord>
<DescriptorRecord><DescriptorName><String>Bronchitis</String></DescriptorName><TreeNumberList>
<TreeNumber>C08.1275</TreeNumber></TreeNumberList></DescriptorRecord></DescriptorRecordSet>"""


def test_imported_descriptors_map_entry_terms_and_explode_headings(tmp_path: Path) -> None:
    rows = [{"pmid": str(n), "title": "t", "mesh": [m]} for n, m in ((1, "Asthma, Aspirin-Induced"), (2, "Bronchitis"))]
    lines = write(tmp_path, "a.jsonl", "\n".join(map(json.dumps, rows)).encode())
    import_files(tmp_path / "m", [lines], workers=0)
    mirror = Mirror.open(tmp_path / "m")
    assert mirror.find("asthma[mh]", 5).count == 0
    (report,) = import_files(tmp_path / "m", [write(tmp_path, "desc2026.xml", MESH)], workers=0)
    assert report.records == 3
    found = mirror.find("asthma[mh]", 5)
    assert (found.ids, found.warnings) == (("1",), ())
    assert mirror.find("asthma[mh:noexp]", 5).count == 0
    assert mirror.find("bronchial asthma", 5).ids == ("1",)
