"""Files of a source made records of one form: archives opened, whole or not at all, joined, divided the same way."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from support import knowledge_files as made
from tools.knowledge import staging
from tools.knowledge.catalogue import catalogue
from tools.knowledge.staging import StagingReport, stage

OPENFDA = catalogue()["openfda"]


def staged(folder: Path) -> dict[str, dict[str, Any]]:
    rows = [json.loads(line)["record"] for path in folder.iterdir() for line in path.read_text().splitlines()]
    return {row["id"]: row for row in rows}


def taken(source: str, tmp_path: Path, *paths: Path) -> StagingReport:
    return stage(catalogue()[source], paths or [tmp_path / "in"], tmp_path / "out")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    return tmp_path / "in"


def test_archives_within_archives_are_read(folder: Path, tmp_path: Path) -> None:
    inner = made.zipped(tmp_path / "inner.zip", {"label.xml": made.spl(), "label.jpg": b"\xff\xd8"})
    made.zipped(folder / "dm_spl_release.zip", {"prescription/1.zip": inner.read_bytes(), "readme.txt": "Hello."})
    report = taken("dailymed", tmp_path)
    assert (report.files, report.failed, report.skipped, report.records) == (1, 0, 2, 1)
    (record,) = staged(tmp_path / "out").values()
    assert record["source"].startswith("DailyMed drug labels, set id 11111111-")
    assert record["licence"] == catalogue()["dailymed"].licence


def test_a_packed_tar_is_read_and_no_name_in_it_leads_elsewhere(folder: Path, tmp_path: Path) -> None:
    with tarfile.open(folder / "livertox.tar.gz", "w:gz") as packed:
        for name in ("../../evil.nxml", "livertox/Zelnorine.nxml"):
            info = tarfile.TarInfo(name)
            info.size = len(made.chapter())
            packed.addfile(info, io.BytesIO(made.chapter().encode()))
        link = tarfile.TarInfo("link.nxml")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        packed.addfile(link)
    assert taken("livertox", tmp_path).records == 2
    assert not (tmp_path.parent / "evil.nxml").exists()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in", "out"]  # nothing is left of what was unpacked


def test_a_bomb_is_refused_and_the_file_before_it_stays(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staging, "FREE", 100_000)
    made.zipped(folder / "labels.zip", {"a.json": made.answer(made.label()), "b.json": b" " * 10_000_000})
    report = taken("openfda", tmp_path)
    assert (report.records, report.failed) == (1, 1)
    assert "unpacks to more than" in report.rows[0].what


def test_a_file_that_breaks_off_takes_none_of_its_records_with_it(folder: Path, tmp_path: Path) -> None:
    whole = made.answer(*(made.label(f"Zelnorine{n}x", number=n) for n in range(4)))
    (folder / "a.json").write_text(whole[:-5])
    (folder / "b.json").write_text(made.answer(made.label("Dorvanol"), {"set_id": "none"}))
    report = taken("openfda", tmp_path)
    assert (report.files, report.failed, report.records, report.wrong) == (1, 1, 1, 1)
    assert [(row.file[-6:], row.where) for row in report.rows] == [("a.json", ""), ("b.json", "none")]
    assert [row["title"][:8] for row in staged(tmp_path / "out").values()] == ["Dorvanol"]


def test_the_latest_stands_whatever_the_order(folder: Path, tmp_path: Path) -> None:
    versions = [made.label(number=n, effective_time=day) for n, day in enumerate(("20200101", "20240101", "20220101"))]
    for name, order in (("a.json", versions), ("b.json", versions[::-1])):
        (folder / name).write_text(made.answer(*order))
    report = taken("openfda", tmp_path)
    (record,) = staged(tmp_path / "out").values()
    assert (record["date"], report.joined, report.newest) == ("2024-01-01", 5, "2024-01-01")


def test_one_more_record_changes_one_staged_file(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "BUCKET", 5)
    labels = [made.label(f"Zelnorine{chr(97 + n)}x", number=n) for n in range(25)]
    (folder / "a.json").write_text(made.answer(*labels[:24]))
    taken("openfda", tmp_path)
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    (folder / "a.json").write_text(made.answer(*reversed(labels)))
    taken("openfda", tmp_path)
    after = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    assert len(before) > 4
    assert len([name for name in after if after[name] != before.get(name)]) == 1
    assert sum(map(len, (staged(tmp_path / "out"),))) == 25


def test_a_missing_path_and_an_empty_folder_are_rows(folder: Path, tmp_path: Path) -> None:
    report = taken("openfda", tmp_path, folder, tmp_path / "nowhere")
    assert (report.records, report.failed) == (0, 2)
    assert all(row.advice for row in report.rows)


def test_what_a_summary_does_not_say_the_catalogue_does(folder: Path, tmp_path: Path) -> None:
    (folder / "0000005.xml").write_text(made.medquad())
    taken("medquad", tmp_path)
    (record,) = staged(tmp_path / "out").values()
    assert (record["id"], record["date"], record["licence"]) == ("medquad:niddk-0000005", "2017", "CC BY 4.0")
    assert record["level"] == catalogue()["medquad"].level
