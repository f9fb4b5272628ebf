"""The index on disk: what a kill leaves, what two processes see, what is damaged, what stays small."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from prompts.errors import DataError, InputError
from support.collections import unit_rows as unit
from tools.encoders import Vectors
from tools.indexes import table
from tools.indexes.contract import Entry, Filter
from tools.indexes.table import FILE, TableIndex
from tools.indexes.vectors import checksums

ROOT = Path(__file__).resolve().parents[3]
DIMENSION = 8
WRITER = """
import sys
from pathlib import Path
import numpy as np
from tools.indexes.contract import Entry
from tools.indexes.table import TableIndex
index = TableIndex.at(Path(sys.argv[1]), "test-encoder", 8)
number = 0
while True:
    vectors = np.random.default_rng(number).normal(size=(5, 8)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    index.add([Entry(id=f"own:d{number + n}", text=f"fever w{number + n}") for n in range(5)], vectors)
    number += 5
    print(number, flush=True)
"""


def entries(first: int, n: int) -> list[Entry]:
    return [Entry(id=f"own:d{k}", text=f"fever w{k}") for k in range(first, first + n)]


def opened(folder: Path) -> TableIndex:
    return TableIndex.at(folder, "test-encoder", DIMENSION)


def test_a_kill_at_any_moment_leaves_the_last_commit(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True, cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert process.stdout is not None
    told = [int(process.stdout.readline()) for _ in range(6)]
    process.send_signal(signal.SIGKILL)
    process.wait()
    index = opened(tmp_path)
    assert len(index) >= told[-1]
    assert len(index) % 5 == 0
    assert index.problems() == []
    last = len(index) - 1
    assert [h.id for h in index.search_text(f"w{last}", 3)] == [f"own:d{last}"]
    index.add(entries(1000, 1), unit(1))
    assert index.search_vectors(unit(1), 1)[0][0].id == "own:d1000"
    assert index.problems() == []


def test_vectors_behind_the_last_commit_are_overwritten(tmp_path: Path) -> None:
    index = opened(tmp_path)
    index.add(entries(0, 2), unit(0, 2))

    def add_and_fail() -> None:
        with index.store.write():
            index.add(entries(2, 3), unit(1, 3))
            index.add(entries(5, 1), unit(1, 2))

    with pytest.raises(InputError):
        add_and_fail()
    assert (len(index), index.search_text("w3", 5), index.get("own:d3")) == (2, [], None)
    index.add(entries(9, 1), unit(2))
    assert index.search_vectors(unit(2), 1)[0][0].id == "own:d9"
    assert index.problems() == []


def test_two_readers_see_a_writer_s_commits_and_survive_its_compaction(tmp_path: Path) -> None:
    writer, one, other = (opened(tmp_path) for _ in range(3))
    writer.add(entries(0, 40), unit(0, 40))
    probe = unit(0, 40)[[39]]
    for reader in (one, other):
        assert reader.search_vectors(probe, 1)[0][0].id == "own:d39"
    with one.store.read():
        assert len(one) == 40
        writer.delete([f"own:d{n}" for n in range(30)])  # more than half: compacted, and the old file removed
        assert len(one) == 40
    assert len(list(tmp_path.glob("*.f32"))) == 1
    for reader in (one, other):
        assert (len(reader), reader.search_vectors(probe, 1)[0][0].id) == (10, "own:d39")
        assert reader.search_text("w3", 1) == []
    assert writer.problems() == one.problems() == []


def test_a_compaction_keeps_each_vector_with_its_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tools.indexes.vectors.BLOCK", 7)
    index = opened(tmp_path)
    vectors = unit(0, 60)
    index.add(entries(0, 60), vectors)
    index.delete([f"own:d{n}" for n in range(60) if n % 5])
    assert (tmp_path / "index-1.f32").stat().st_size == 12 * DIMENSION * 4
    for n in range(0, 60, 5):
        assert index.search_vectors(vectors[[n]], 1)[0][0].id == f"own:d{n}"
    assert index.problems() == []


def test_a_damaged_vector_or_file_is_told(tmp_path: Path) -> None:
    index = opened(tmp_path)
    index.add(entries(0, 4), unit(0, 4))
    file = tmp_path / "index-0.f32"
    whole = file.read_bytes()
    file.write_bytes(whole[:40] + b"\x01" + whole[41:])
    assert opened(tmp_path).problems() == ["index: 1 vectors are damaged"]
    file.write_bytes(whole[:40])
    with pytest.raises(DataError, match="fewer vectors"):
        opened(tmp_path).search_vectors(unit(0), 1)
    index.store.close()
    for part in tmp_path.glob(f"{FILE}*"):
        part.write_bytes(b"this is no database " * 400)
    with pytest.raises(DataError, match="damaged"):
        opened(tmp_path)


def test_another_encoder_is_refused_with_advice(tmp_path: Path) -> None:
    opened(tmp_path).add(entries(0, 1), unit(0))
    for name, dimension in (("other", DIMENSION), ("test-encoder", 4)):
        with pytest.raises(DataError, match="was made with") as caught:
            TableIndex.at(tmp_path, name, dimension)
        assert "again" in caught.value.advice


def of_format_1(folder: Path, rows: list[Entry], vectors: Vectors) -> None:
    """An index as the program before wrote it: rows with slots, words in FTS5, every third row deleted since."""
    opened(folder).store.close()
    with contextlib.closing(sqlite3.connect(folder / FILE, isolation_level=None)) as db:
        for table in ("rows", "texts", "postings", "segments", "values", "dead"):
            db.execute(f"drop table index_{table}")
        db.execute(
            "create table index_rows (row integer primary key, id text not null unique, slot integer not null unique, "
            "crc integer not null, text text, collection text, kind text, date text, language text)"
        )
        db.execute("create virtual table index_words using fts5 (words, tokenize = 'ascii')")
        for n, (row, crc) in enumerate(zip(rows, checksums(vectors), strict=True)):
            if n % 3:
                values = (n + 1, row.id, n, crc, row.text, row.collection, row.kind, row.date, row.language)
                db.execute("insert into index_rows values (?, ?, ?, ?, ?, ?, ?, ?, ?)", values)
                db.execute("insert into index_words (rowid, words) values (?, ?)", (n + 1, row.text))
        known = {"format": 1, "generation": 2, "slots": len(rows), "count": len(rows) - (len(rows) + 2) // 3}
        for key, value in known.items():
            db.execute("insert or replace into meta values (?, ?)", (f"index.{key}", value))
    (folder / "index-2.f32").write_bytes(vectors.tobytes())


def test_an_index_of_the_version_before_is_taken_over_also_after_a_kill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, vectors = entries(0, 20), unit(0, 20)
    rows[4] = rows[4].model_copy(update={"date": "2020-01-01", "kind": "note"})
    of_format_1(tmp_path, rows, vectors)
    monkeypatch.setattr(table, "CHUNK", 6)
    insert, seen = TableIndex._insert, []

    def stopped(self: TableIndex, *given: Any) -> None:
        insert(self, *given)
        seen.append(given)
        if len(seen) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(TableIndex, "_insert", stopped)
    with pytest.raises(KeyboardInterrupt):
        opened(tmp_path)
    for index in (opened(tmp_path), opened(tmp_path)):
        assert len(index) == 13
        assert index.problems() == []
        assert (index.get("own:d3"), index.get("own:d4")) == (None, rows[4])
        assert [hit.id for hit in index.search_text("w7", 3)] == ["own:d7"]
        assert [hit.id for hit in index.search_vectors(vectors[[11]], 1)[0]] == ["own:d11"]
        assert [hit.id for hit in index.search_text("fever", 20, Filter(since="2019", kinds=("note",)))] == ["own:d4"]
    index.add(entries(3, 1), vectors[[3]])
    assert index.search_vectors(vectors[[3]], 1)[0][0].id == "own:d3"
    assert index.problems() == []


def test_files_are_private(tmp_path: Path) -> None:
    opened(tmp_path / "shelf").add(entries(0, 1), unit(0))
    assert (tmp_path / "shelf").stat().st_mode & 0o777 == 0o700
    assert {f.stat().st_mode & 0o777 for f in (tmp_path / "shelf").iterdir()} == {0o600}


def test_adding_costs_in_proportion_to_what_is_added(tmp_path: Path) -> None:
    index = opened(tmp_path)
    index.add(entries(0, 3000), unit(0, 3000))
    before = (tmp_path / "index-0.f32").stat().st_size
    changes = index.store._db.total_changes
    index.add(entries(5000, 1), unit(1))
    assert (tmp_path / "index-0.f32").stat().st_size - before == DIMENSION * 4
    assert index.store._db.total_changes - changes < 30
