"""What lies on the disk: readable by its owner alone, told as full when it is full, and gone when it is deleted."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import random
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import empty_checkpoint

from agent.agent import Agent
from agent.loop import run
from agent.sessions.home import Home
from agent.sessions.locks import Locks
from agent.sessions.records import Records
from agent.sessions.sqlite import SqliteDatabase
from agent.sessions.turns import TurnRow
from agent.trace import TraceRecorder
from prompts.errors import DataError
from support.machine_parts import parts
from support.traces import read_trace
from tools.databases import fault_of, leftover
from tools.files import DiskFullError, private_folder
from tools.indexes.store import Store
from tools.store import ContentStore


@pytest.fixture(params=[0o000, 0o277], ids=["mask 000", "mask 277"])
def mask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def modes(folder: Path) -> dict[str, str]:
    """The modes of all that is not private."""
    wrong = {}
    for path in [folder, *folder.rglob("*")]:
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode != (0o700 if path.is_dir() else 0o600):
            wrong[str(path.relative_to(folder))] = f"{mode:o}"
    return wrong


def test_a_session_leaves_only_private_files_whatever_the_mask(tmp_path: Path, mask: int) -> None:
    home = tmp_path / "above" / "home"
    with Agent(home=home, parts=parts()) as agent:
        agent.ask("case of a cough", session="one")
        agent.ask("yes", session="one")
        kinds = {path.name if path.is_dir() else path.suffix for path in home.rglob("*")}
        assert {"traces", "locks", ".jsonl", ".lock", ".sqlite"} <= kinds
        assert modes(home) == {}
        assert stat.S_IMODE(home.parent.stat().st_mode) == 0o700


def test_what_an_older_program_left_open_is_closed(tmp_path: Path) -> None:
    home = Home(private_folder(tmp_path / "home"))
    (home.traces / "one").mkdir(parents=True, mode=0o755)
    (home.traces / "one" / "1.jsonl").touch(mode=0o644)
    home.checkpoints.touch(mode=0o644)
    home.traces.chmod(0o755)
    with Agent(home=home.root, parts=parts()) as agent:
        assert stat.S_IMODE(home.traces.stat().st_mode) == 0o700  # nobody comes to what is in it
        assert stat.S_IMODE(home.checkpoints.stat().st_mode) == 0o600
        agent.ask("croup", session="one")
        assert stat.S_IMODE((home.traces / "one" / "1.jsonl").stat().st_mode) == 0o600


def full(db: sqlite3.Connection) -> None:
    """Let a database grow no more: SQLite then says what it says of a full disk."""
    db.execute(f"pragma max_page_count = {db.execute('pragma page_count').fetchone()[0]}")


def roomy(db: sqlite3.Connection) -> None:
    db.execute("pragma max_page_count = 1000000")


def told_as_full(error: pytest.ExceptionInfo[DataError]) -> None:
    assert isinstance(error.value, DiskFullError)
    assert "disk is full" in error.value.what
    assert "damaged file" not in str(error.value)
    assert "move it away" not in str(error.value).lower()


def test_a_full_content_store_says_so_and_loses_nothing(tmp_path: Path) -> None:
    store = ContentStore(tmp_path / "texts.sqlite")
    kept = store.put("one", "kept")
    full(store._db)
    with pytest.raises(DataError) as error:
        store.put("one", "a" * 100_000)
    told_as_full(error)
    roomy(store._db)
    assert store.get(store.put("one", "b" * 100_000)) == "b" * 100_000
    assert store.get(kept) == "kept"


def test_a_full_shelf_says_so(tmp_path: Path) -> None:
    store = Store(tmp_path / "documents.sqlite")
    full(store._db)
    with pytest.raises(DataError) as error, store.write():
        store.put("key", "a" * 100_000)
    told_as_full(error)
    assert store.value("key", "") == ""


def fill(agent: Agent) -> None:
    for number in range(200):  # there may be room for some in pages that are there
        agent.ask(f"case of a cough {number} {'x' * 3000}", session="one")


@pytest.mark.parametrize("which", ["records", "checkpoints", "texts"])
def test_a_turn_on_a_full_disk_says_so_and_can_be_finished_afterwards(tmp_path: Path, which: str) -> None:
    with Agent(home=tmp_path / "home", parts=parts()) as agent:
        database: Any = agent.database
        first = agent.ask("croup", session="one")
        saver = database.saver.conn
        connection = {"records": database._db, "checkpoints": saver._conn, "texts": database.texts._db}[which]

        async def limited(work: Any) -> None:
            if which == "checkpoints":
                await saver._execute(work, connection)
            else:
                work(connection)

        run(limited(full))
        with pytest.raises(DataError) as error:
            fill(agent)
        told_as_full(error)
        run(limited(roomy))
        asked = [turn.asked for turn in run(agent.records.turns("one"))]
        last = agent.ask("why", session="one")
        turns = run(agent.records.turns("one"))
        assert turns[0].answer == first
        assert [turn.asked for turn in turns] == [*asked, "why"]
        assert all(turn.answer for turn in turns)
        assert last.turn == len(turns)


def test_a_trace_on_a_full_disk_says_so_and_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = TraceRecorder(tmp_path, "one/1")

    class Full:
        left = 10

        def write(self, data: bytes) -> int:
            taken = data[: self.left]
            if not taken:
                raise OSError(errno.ENOSPC, "No space left on device")
            self.left -= len(taken)
            return int(recorder_file.write(taken))

    recorder_file = recorder._file
    monkeypatch.setattr(recorder, "_file", Full())
    with pytest.raises(DataError) as error:
        recorder.event("triage", text="croup")
    told_as_full(error)
    monkeypatch.setattr(recorder, "_file", recorder_file)
    recorder.event("answered")
    recorder.close()
    assert [event["kind"] for event in read_trace(tmp_path, "one/1")] == ["run", "damaged_line", "answered"]


@pytest.mark.parametrize(
    ("code", "free", "said"),
    [
        (sqlite3.SQLITE_FULL, 10**12, "disk is full"),
        (sqlite3.SQLITE_IOERR_WRITE, 0, "disk is full"),
        (sqlite3.SQLITE_CANTOPEN, 0, "disk is full"),
        (sqlite3.SQLITE_IOERR_WRITE, 10**12, "cannot be read or written"),
        (sqlite3.SQLITE_BUSY, 0, "held by another process"),
        (sqlite3.SQLITE_CORRUPT, 0, "is damaged"),
        (sqlite3.SQLITE_NOTADB, 10**12, "is damaged"),
    ],
)
def test_each_fault_is_told_as_what_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, free: int, said: str
) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": free}))
    error = sqlite3.DatabaseError("as SQLite says")
    error.sqlite_errorcode = code
    assert said in str(fault_of(error, tmp_path / "a.sqlite", "The file"))


def test_a_deleted_session_is_nowhere_in_the_files(tmp_path: Path) -> None:
    """Sessions that grew side by side: SQLite splits their pages, and leaves in them what it moves."""
    chance = random.Random(1)  # noqa: S311

    async def grown() -> list[str]:
        home = Home(tmp_path / "home").prepare()
        database = await SqliteDatabase.open(home)
        records = Records(database, home, Locks(database))
        await records.open()
        names = [f"s{chance.getrandbits(64):016x}" for _ in range(40)]
        for name in names:
            await records.create(session=name, title=f"title of {name}")
        for turn in range(1, 5):
            chance.shuffle(names)
            for name in names:
                text = f"words of {name} {'w' * chance.choice([20, 200, 900, 3000])} end of {name}"
                key = database.texts.put(name, text)
                await records.turn_rows.add(name, [(TurnRow(turn, "", text, "2026", "", key, "2026", ""), True)])
                checkpoint = empty_checkpoint()
                config: Any = {"configurable": {"thread_id": name, "checkpoint_ns": ""}}
                config = await database.saver.aput(config, checkpoint, {"step": turn}, {})  # type: ignore[typeddict-item]
                await database.saver.aput_writes(config, [("channel", text[: chance.choice([10, 800])])], f"task{turn}")
        for name in names[:20]:
            await records.delete(name)
        assert len(await records.ids()) == 20
        await database.close()
        return names[:20]

    gone = asyncio.run(grown())
    for file in sorted((tmp_path / "home").rglob("*.sqlite*")):
        content = file.read_bytes()
        assert [name for name in gone if name.encode() in content] == [], file.name


def test_what_a_split_left_behind_is_found(tmp_path: Path) -> None:
    file = tmp_path / "a.sqlite"
    db = sqlite3.connect(file, isolation_level=None)
    db.execute("pragma secure_delete = on")
    db.execute("pragma synchronous = off")
    db.execute("create table t (key text primary key, body text) without rowid")
    chance = random.Random(2)  # noqa: S311
    rows = [(f"{chance.getrandbits(64):016x}", f"body {n} {'b' * chance.choice([20, 200, 900])}") for n in range(400)]
    db.executemany("insert into t values (?, ?)", rows)
    db.execute("delete from t")
    db.execute("insert into t values ('one', 'one')")
    behind = [body for _, body in rows if body[:24].encode() in file.read_bytes()]
    assert [body for _, body in rows if leftover(file, [body])] == behind
    db.execute("vacuum")
    assert not leftover(file, [body for _, body in rows])


def test_another_process_that_comes_and_goes_after_a_deletion_takes_no_log_away(tmp_path: Path) -> None:
    file = tmp_path / "a.sqlite"
    store = ContentStore(file)
    store.put("gone", "a patient's words")
    store.purge("gone")
    other = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute('select * from texts'); db.close()"
    subprocess.run([sys.executable, "-c", other, str(file)], check=True)
    key = store.put("kept", "another's words")
    with contextlib.closing(sqlite3.connect(file)) as again:
        assert again.execute("select body from texts where key = ?", (key,)).fetchall() == [("another's words",)]
    store.close()
