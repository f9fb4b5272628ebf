"""Joined segments find what the separate ones found, in the same order."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.mirror_records import made_up
from tools.mirror import segments
from tools.mirror.engine import Mirror
from tools.mirror.load import load_records
from tools.mirror.records import MirrorRecord
from tools.mirror.writer import writing

QUERIES = (
    "aspirin",
    '"heart attack"[tiab]', "card*[ti] OR death", "asthma[mh] AND review[pt]", "2006:2009[dp]", "Smith J[au]",
    '"heart stroke"[tiab:~3]', "all[sb] NOT medline[sb]",
)  # fmt: skip


def test_joining_changes_no_answer_and_forgets_the_dead(tmp_path: Path) -> None:
    load_records(tmp_path, [*made_up(200, seed=1), *made_up(60, seed=2)], source="s", batch=30)
    with writing(tmp_path) as writer:
        writer.delete([str(n) for n in range(10_100, 10_130)])
    mirror = Mirror.open(tmp_path)
    before = [mirror.find(query, 300) for query in QUERIES]
    assert mirror.manifest().segments > 5
    with writing(tmp_path) as writer:
        writer.compact(whole=True)
        dead = writer.database.execute("SELECT sum(length(documents)) FROM dead").fetchone()[0]
    assert mirror.manifest().segments == 1
    assert [mirror.find(query, 300) for query in QUERIES] == before
    assert min(f.count for f in before) > 0
    assert dead
    load_records(tmp_path, [MirrorRecord(pmid="10001", title="aspirin zebra")], source="late")
    assert mirror.find("zebra", 5).ids == ("10001",)
    assert mirror.find("all[sb]", 0).count == 170


def test_many_segments_are_joined_while_importing_a_large_one_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segments, "MOST_SEGMENTS", 4)
    records = made_up(140)
    with writing(tmp_path) as writer:
        writer.add(records[:100], "s")
        for at in range(100, 130, 10):
            writer.compact(whole=False)
            writer.add(records[at : at + 10], "s")
        sizes = [row[0] for row in writer.database.execute("SELECT size FROM segments ORDER BY base")]
        assert sizes == [100, 10, 10, 10]
        writer.add(records[130:], "s")
        writer.compact(whole=False)
        sizes = [row[0] for row in writer.database.execute("SELECT size FROM segments ORDER BY base")]
    assert sizes == [140]
    assert Mirror.open(tmp_path).find("all[sb]", 0).count == 140
