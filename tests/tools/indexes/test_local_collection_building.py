"""Building a collection on disk: killed anywhere it goes on, and no damage and no half-built state passes unseen."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from prompts.errors import DataError, InputError
from support import processes
from support.collections import COMPRESSED, DIMENSION, ENCODER, Rows, built, drawn, in_memory, parts
from tools.indexes import backends
from tools.indexes.backends import LocalBackend, LocalCollection
from tools.indexes.contract import Part
from tools.indexes.table import TableIndex

TESTS = Path(__file__).resolve().parents[2]
ROWS = [drawn(0, 60), drawn(40, 50, seed=1), drawn(90, 40)]  # d:40 to d:59 come twice


class Killed(BaseException):
    """As abrupt as an exception can be."""


def opened(folder: Path) -> LocalCollection:
    return LocalBackend(folder).open("c", encoder=ENCODER, dimension=DIMENSION)


def counted(rows: list[Rows], read: list[str]) -> list[Part]:
    """Parts that say when they are read."""

    def reading(part: Part) -> Callable[[], Rows]:
        def read_now() -> Rows:
            read.append(part.name)
            entries, vectors = part.read()
            return list(entries), vectors

        return read_now

    return [Part(name=part.name, read=reading(part)) for part in parts(rows)]


def build(folder: Path, given: list[Part], say: Callable[[str, int, int], None] | None = None) -> LocalCollection:
    return LocalBackend(folder, COMPRESSED).build(
        "c", given, encoder=ENCODER, dimension=DIMENSION, source="test", progress=say
    )


def test_a_build_stopped_at_every_step_goes_on_and_takes_no_part_twice(tmp_path: Path) -> None:
    read: list[str] = []
    told: set[tuple[str, int]] = set()

    def stop_once(step: str, done: int, of: int) -> None:
        if (step, done) not in told:
            told.add((step, done))
            raise Killed

    while True:
        try:
            result = build(tmp_path, counted(ROWS, read), stop_once)
            break
        except Killed:
            with pytest.raises(DataError, match="nothing built"):
                opened(tmp_path)
    assert {"store", "join words", "train", "publish", "checksum"} <= {step for step, _ in told}
    assert read == ["part 0", "part 1", "part 2"]
    assert_whole(result)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c", "c.lock"]


def assert_whole(result: LocalCollection) -> None:
    oracle = in_memory(ROWS)
    result.verify()
    assert len(result) == len(oracle) == 130
    assert result.search_text("word1 word5", 200) == oracle.search_text("word1 word5", 200)
    for hit in oracle.search_vectors(ROWS[1][1][:1], 130)[0]:
        assert result.get(hit.id) == oracle.get(hit.id)
    assert [h.id for h in result.search_vectors(ROWS[1][1][:9], 1)[3]] == ["d:43"]


def test_a_part_that_was_half_on_disk_is_taken_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settle = TableIndex._settle

    def stopped(self: TableIndex, db: Any, slots: int, more: int) -> None:
        settle(self, db, slots, more)
        if slots == 110:
            raise Killed

    monkeypatch.setattr(TableIndex, "_settle", stopped)
    read: list[str] = []
    with pytest.raises(Killed):
        build(tmp_path, counted(ROWS, read))
    monkeypatch.setattr(TableIndex, "_settle", settle)
    assert_whole(build(tmp_path, counted(ROWS, read)))
    assert read == ["part 0", "part 1", "part 1", "part 2"]


def test_what_an_older_version_left_is_told_and_built_anew(tmp_path: Path) -> None:
    built(tmp_path, ROWS[:1])
    manifest = tmp_path / "c" / "manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_bytes()) | {"format": 1, "tokens": 9}))
    (tmp_path / "c.building").mkdir()
    (tmp_path / "c.building" / "rows.sqlite").write_bytes(b"begun by an older version")
    with pytest.raises(DataError, match="older version") as told:
        opened(tmp_path)
    assert "its parts are kept" in told.value.advice
    assert_whole(build(tmp_path, parts(ROWS)))


KILLED = """
import os, signal
from pathlib import Path
from support.collections import COMPRESSED, DIMENSION, ENCODER, drawn, parts
from tools.indexes.backends import LocalBackend

def say(step, done, of):
    if step == STEP and done >= DONE:
        os.kill(os.getpid(), signal.SIGKILL)

rows = [drawn(0, 60), drawn(40, 50, seed=1), drawn(90, 40)]
LocalBackend(Path(FOLDER), COMPRESSED).build(
    "c", parts(rows), encoder=ENCODER, dimension=DIMENSION, source="test", progress=say
)
"""


def test_a_process_killed_outright_is_gone_on_from(tmp_path: Path) -> None:
    for step, done in (("store", 90), ("join words", 0)):
        code = f"FOLDER, STEP, DONE = {(str(tmp_path), step, done)!r}\n{KILLED}"
        environment = {**os.environ, "PYTHONPATH": str(TESTS)}
        assert processes.snippet(code, environment=environment, cwd=TESTS.parent).ended().returncode == -9
    read: list[str] = []
    assert_whole(build(tmp_path, counted(ROWS, read)))
    assert read == []


def test_until_it_is_whole_the_old_one_is_opened(tmp_path: Path) -> None:
    old = built(tmp_path, ROWS[:1])
    old.delete(["d:0"])
    seen: list[int] = []

    def read() -> Rows:
        seen.append(len(opened(tmp_path)))
        return ROWS[1]

    failing = [Part(name="new", read=read), Part(name="bad", read=lambda: (ROWS[2][0], ROWS[2][1][:, :3]))]
    backend_ = LocalBackend(tmp_path)
    with pytest.raises(InputError, match="shape"):
        backend_.build("c", failing, encoder=ENCODER, dimension=DIMENSION, source="new")
    assert seen == [59]
    assert len(opened(tmp_path)) == 59
    with pytest.raises(DataError, match="something else") as refused:  # kept, and all that it refers to
        backend_.build("c", failing, encoder=ENCODER, dimension=DIMENSION, source="another")
    new = backend_.build("c", failing[:1], encoder=ENCODER, dimension=DIMENSION, source="new")
    assert seen == [59]
    assert len(new) == len(opened(tmp_path)) == 50
    assert len(old.search_text("word0", 100)) > 0, "who has the old one open keeps it"
    with pytest.raises(DataError, match="built again"):
        old.delete(["d:1"])
    del refused


def test_two_builds_at_once_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backends, "PATIENCE", 0.05)

    def read() -> Rows:
        with pytest.raises(DataError, match="Another process"):
            built(tmp_path, ROWS[:1])
        return ROWS[0]

    part = Part(name="one", read=read)
    LocalBackend(tmp_path).build("c", [part], encoder=ENCODER, dimension=DIMENSION, source="test")


@pytest.mark.parametrize("settings", [backends.BuildSettings(), COMPRESSED], ids=["small", "compressed"])
def test_damage_of_each_file_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: backends.BuildSettings
) -> None:
    built(tmp_path, ROWS, settings)
    manifest = opened(tmp_path).manifest
    generation = next(path for path in (tmp_path / "c").iterdir() if path.is_dir())
    assert "index.sqlite" in manifest.sizes
    for name in manifest.sizes:
        file = generation / name
        good = file.read_bytes()
        for bad in (b"", good[:-1], good[:-1] + bytes([good[-1] ^ 1]), bytes([good[0] ^ 255]) + good[1:]):
            file.write_bytes(bad)
            with pytest.raises(DataError):
                opened(tmp_path)
        with monkeypatch.context() as large:
            large.setattr(backends, "READ_WHOLE", 0)  # as in a large collection
            with pytest.raises(DataError):
                opened(tmp_path).verify()
        file.unlink()
        with pytest.raises(DataError, match="missing"):
            opened(tmp_path)
        file.write_bytes(good)
    opened(tmp_path).verify()


def test_what_cannot_be_opened_is_told(tmp_path: Path) -> None:
    backend_ = LocalBackend(tmp_path)
    with pytest.raises(DataError, match="nothing built"):
        opened(tmp_path)
    built(tmp_path, ROWS[:1])
    with pytest.raises(DataError, match="made with enc"):
        backend_.open("c", encoder="other", dimension=DIMENSION)
    with pytest.raises(InputError, match="name a collection"):
        backend_.open("../c", encoder=ENCODER, dimension=DIMENSION)
    (tmp_path / "c" / "manifest.json").write_text('{"format": 1}')
    with pytest.raises(DataError, match="manifest"):
        opened(tmp_path)


def test_deleting_takes_the_finished_and_the_unfinished(tmp_path: Path) -> None:
    built(tmp_path, ROWS[:1])
    backend_ = LocalBackend(tmp_path)
    with pytest.raises(ZeroDivisionError):
        backend_.build("c", [Part(name="bad", read=lambda: 1 // 0)], encoder=ENCODER, dimension=DIMENSION, source="x")  # type: ignore[arg-type, return-value]
    assert backend_.delete("c")
    assert not backend_.delete("c")
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == []


def test_a_full_disk_is_told_and_the_build_goes_on_afterwards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as now:
        now.setattr(TableIndex, "tidy", full)
        with pytest.raises(DataError, match="No space left"):
            built(tmp_path, ROWS, COMPRESSED)
    read: list[str] = []
    assert_whole(build(tmp_path, counted(ROWS, read)))
    assert read == []


def test_an_entry_without_a_vector_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="60 entries"):
        built(tmp_path, [(ROWS[0][0], ROWS[0][1][:5])])
    with pytest.raises(InputError, match="length 1"):
        built(tmp_path, [(ROWS[0][0], np.zeros_like(ROWS[0][1]))])
