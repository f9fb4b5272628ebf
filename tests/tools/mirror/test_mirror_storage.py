"""Loading, replacing, deleting, reopening, damage; and the mirror in PubMed's place."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import zlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prompts.errors import DataError, InputError
from support.mirror_records import made_up
from tools.evidence import Status
from tools.literature.client import PubMed
from tools.mirror.database import FILE
from tools.mirror.engine import Mirror
from tools.mirror.load import load_records
from tools.mirror.records import MirrorRecord
from tools.mirror.words import words
from tools.mirror.writer import writing

NO_RECORD = zlib.compress(b"[]").hex()
QUERIES = ("aspirin", "heart attack", '"heart attack"[tiab]', "child*[ti]", "asthma[mh] OR review[pt]", "2006:2009[dp]")


def test_records_come_back_whole_in_the_order_asked_for(mirror: Mirror, records: list[MirrorRecord]) -> None:
    asked = ["10007", "99999", "10003", "x", "10007"]
    by_pmid = {r.pmid: r for r in records}
    assert mirror.records(asked) == [by_pmid["10007"], by_pmid["10003"]]
    articles = asyncio.run(mirror.fetch(asked))
    assert [a.pmid for a in articles] == ["10007", "10003"]
    assert articles[0].title == by_pmid["10007"].title
    again = MirrorRecord.of(articles[0])
    assert again.article() == articles[0]
    assert (again.doi, again.entered) == (by_pmid["10007"].doi, by_pmid["10007"].entered)


def test_replacing_and_deleting_leaves_what_a_fresh_mirror_of_the_result_has(tmp_path: Path) -> None:
    old, new = made_up(80, seed=1), made_up(50, seed=2)  # the same PMIDs, other contents
    loaded = load_records(tmp_path / "grown", [*old, *new], source="s", batch=30)
    assert (loaded.records, loaded.replaced) == (130, 50)
    with writing(tmp_path / "grown") as writer:
        assert writer.delete(["10060", "10070", "99999", "x"]) == 2
    result = [*new, *(r for r in old[50:] if r.pmid not in ("10060", "10070"))]
    load_records(tmp_path / "fresh", result, source="s")
    grown, fresh = Mirror.open(tmp_path / "grown"), Mirror.open(tmp_path / "fresh")
    for query in QUERIES:
        assert grown.find(query, 99) == fresh.find(query, 99), query
    assert (grown.manifest().records, grown.manifest().segments) == (78, 5)
    assert grown.records(["10060"]) == []


def test_a_search_sees_the_last_commit_and_an_open_mirror_sees_later_ones(tmp_path: Path) -> None:
    load_records(tmp_path, made_up(5), source="first")
    mirror = Mirror.open(tmp_path)
    assert mirror.find("zebra", 5).count == 0
    late = MirrorRecord(pmid="7", title="Zebra", date="2026-10", entered="2026-10-30", status=Status.RETRACTED)
    load_records(tmp_path, [late], source="second")
    assert mirror.find("zebra", 5).ids == ("7",)
    assert asyncio.run(mirror.fetch(["7"]))[0].status is Status.RETRACTED
    manifest = Mirror.open(tmp_path).manifest()
    assert (manifest.records, manifest.newest_published, manifest.newest_entered) == (6, "2026-10", "2026-10-30")
    assert [(s.name, s.records) for s in manifest.sources] == [("first", 5), ("second", 1)]


@pytest.mark.parametrize("day", ["2026", "2026-03", "2026-03-01", "2026-03-09"])
def test_the_newest_date_is_as_precise_as_its_record(tmp_path: Path, day: str) -> None:
    records = [MirrorRecord(pmid=str(n), title="Zebra", date=d) for n, d in enumerate(["2025-12-31", day, day[:4]], 1)]
    load_records(tmp_path, records, source="s")
    manifest = Mirror.open(tmp_path).manifest()
    assert (manifest.newest_published, manifest.newest_entered) == (day, "")


def test_a_batch_is_kept_whole_or_not_at_all(tmp_path: Path) -> None:
    good = made_up(9)
    seen: list[int] = []
    with pytest.raises(InputError, match="is no PMID"):
        load_records(tmp_path, [*good, MirrorRecord(pmid="x")], source="s", batch=5, progress=seen.append)
    assert seen == [5]
    assert Mirror.open(tmp_path).manifest().records == 5
    load_records(tmp_path, good, source="s", batch=5)
    assert set(Mirror.open(tmp_path).find("all[sb]", 20).ids) == {r.pmid for r in good}


def test_damage_another_format_and_absence_are_data_errors(tmp_path: Path, mirror_folder: Path) -> None:
    with pytest.raises(DataError, match="no mirror"):
        Mirror.open(tmp_path / "none")

    def damaged(name: str, change: str = "") -> Path:
        folder = tmp_path / name
        shutil.copytree(mirror_folder, folder)
        if change:
            with sqlite3.connect(folder / FILE) as database:
                database.execute(change)
            database.close()
        return folder

    for name, change in (
        ("format", "PRAGMA user_version = 99"),
        ("other", "PRAGMA application_id = 1"),
        ("state", "DELETE FROM state"),
        ("table", "DROP TABLE segments"),
        ("array", "UPDATE segments SET lengths = x'00' WHERE segment = 2"),
    ):
        with pytest.raises(DataError):
            Mirror.open(damaged(name, change))
    cut = damaged("cut")
    whole = (cut / FILE).read_bytes()
    (cut / FILE).write_bytes(b"no database" * 500)
    with pytest.raises(DataError):
        Mirror.open(cut)
    (cut / FILE).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError):
        Mirror.open(cut).find("aspirin OR stroke", 5)
    with pytest.raises(DataError, match="record"):
        Mirror.open(damaged("record", f"UPDATE records SET record = x'{NO_RECORD}'")).records(["10001"])
    for name, change in (
        ("header", "header = x'0100'"),
        ("packed", "header = x'01000710000000ff'"),
        ("list", "lists = x'01'"),
    ):
        with pytest.raises(DataError, match="block of postings"):
            Mirror.open(damaged(name, f"UPDATE words SET {change}")).find("aspirin[ti]", 5)


def test_it_stands_in_for_pubmed_and_serves_several_threads(mirror: Mirror) -> None:
    pubmed: PubMed = mirror
    found = asyncio.run(pubmed.search("aspirin AND stroke", 3))
    assert [a.pmid for a in asyncio.run(pubmed.fetch(found.ids))] == list(found.ids)

    async def together() -> None:
        again = await asyncio.gather(*(mirror.search(q, 50) for q in QUERIES * 5))
        assert list(again) == [mirror.find(q, 50) for q in QUERIES] * 5

    asyncio.run(together())


@settings(max_examples=20, deadline=None)
@given(texts=st.lists(st.text(min_size=3, max_size=40), min_size=1, max_size=12))
def test_any_script_is_found_by_its_words_and_phrases(
    texts: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("scripts")
    records = [MirrorRecord(pmid=str(n), title=text) for n, text in enumerate(texts, 1)]
    load_records(folder, records, source="s")
    mirror = Mirror.open(folder)
    for record in records:
        found = words(record.title)
        assert words(" ".join(found)) == found
        for phrase in (found[:1], found[:2], found[:3]):
            if phrase:
                assert record.pmid in mirror.find(f'"{" ".join(phrase)}"[ti]', 99).ids
    mirror.close()
