"""Kept answers: by age, bounded, never a secret, and a damaged one costs a request and no more."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent.settings import Settings
from tools.literature.client import DAY, FILE, IN_DATABASE, IN_FILE, SCHEMA, AnswerCache, EUtilities, key_of
from tools.literature.shared_tables import PostgresTables, SqliteTables

MB = 2**20


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


Make = Callable[[int], AnswerCache]


def on_file(folder: Path, largest: int = MB, clock: Callable[[], float] = time.time) -> AnswerCache:
    return AnswerCache(SqliteTables(folder / FILE, SCHEMA, IN_FILE), largest, clock)


def on_database(address: str) -> PostgresTables:
    return PostgresTables(address, SCHEMA, IN_DATABASE, "test")


@pytest.fixture(params=["file", "postgres"])
def make(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Make:
    """Makes a cache of a size over the same file or database, as another process would."""
    if request.param == "file":
        return lambda largest: on_file(tmp_path, largest, clock)
    address = request.getfixturevalue("postgres")
    return lambda largest: AnswerCache(on_database(address), largest, clock)


def test_an_answer_is_used_until_it_is_too_old_and_outlives_the_process(make: Make, clock: Clock) -> None:
    cache = make(MB)
    cache.put("record", {"1": b"one", "2": b"two"})
    cache.close()
    clock.now += 6.9 * DAY
    again = make(MB)
    assert again.get("record", ["1", "2", "3"], 7) == {"1": b"one", "2": b"two"}
    assert again.get("search", ["1"], 7) == {}
    again.drop("record", "2")
    assert cache.get("record", ["1", "2"], 7) == {"1": b"one"}
    clock.now += 0.2 * DAY
    assert again.get("record", ["1"], 7) == {}
    clock.now -= 400 * DAY  # a clock that was set back does not make it young
    assert again.get("record", ["1"], 7) == {}
    cache.close()
    again.close()


def test_the_longest_unused_go_first_when_there_is_no_more_room(make: Make, clock: Clock) -> None:
    import random

    cache = make(100_000)
    for n in range(100):
        clock.now += 1
        cache.put("record", {str(n): random.Random(n).randbytes(5_000)})  # noqa: S311 - not to be compressed
        cache.get("record", ["0"], 1)
    kept = cache.get("record", [str(n) for n in range(100)], 1)
    assert {"0", "99"} <= kept.keys()
    assert "1" not in kept
    assert sum(map(len, kept.values())) < 100_000 + 32 * 5_000  # the size is looked at every 32 writes
    cache.close()


def test_many_threads_share_it(make: Make) -> None:
    caches = make(MB), make(MB)

    def work(n: int) -> None:
        for m in range(20):
            caches[m % 2].put("record", {f"{n}.{m}": b"x", "all": b"y"})
            caches[m % 2].get("record", ["all"], 7)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(caches[0].get("record", [f"{n}.{m}" for n in range(4) for m in range(20)], 7)) == 80
    for cache in caches:
        cache.close()


def test_the_file_is_its_owners_alone(tmp_path: Path) -> None:
    on_file(tmp_path).put("record", {"1": b"one"})
    assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o600


def test_a_damaged_answer_in_the_database_is_dropped_and_a_database_that_fails_keeps_nothing(postgres: str) -> None:
    line = on_database(postgres)
    cache = AnswerCache(line, MB)
    cache.put("record", {"1": b"one" * 50, "2": b"two" * 50})
    line.ask(("update {answers} set value = %(v)s where key = %(k)s", {"v": b"\0" * 20, "k": key_of("record", "1")}))
    assert cache.get("record", ["1", "2"], 7) == {"2": b"two" * 50}
    assert line.ask(("select count(*) from {answers}", {}))[0][0] == 1
    line.ask(("drop table {answers}", {}))
    cache.put("record", {"3": b"three"})
    assert cache.get("record", ["2", "3"], 7) == {}
    cache.close()  # and as soon as it serves again
    cache.put("record", {"3": b"three"})
    assert cache.get("record", ["3"], 7) == {"3": b"three"}
    cache.close()
    gone = AnswerCache(on_database("postgresql://x@127.0.0.1:9/x"), MB)
    gone.put("record", {"1": b"one"})
    assert gone.get("record", ["1"], 7) == {}


def test_a_damaged_answer_is_dropped_and_the_others_stay(tmp_path: Path, clock: Clock) -> None:
    cache = on_file(tmp_path, MB, clock)
    cache.put("record", {"1": b"one" * 50, "2": b"two" * 50})
    cache.close()
    db = sqlite3.connect(tmp_path / FILE)
    with db:
        db.execute("update answers set value = zeroblob(20) where rowid = 1")
    db.close()
    again = on_file(tmp_path, MB, clock)
    assert len(again.get("record", ["1", "2"], 7)) == 1
    assert again.get("record", ["1", "2"], 7) in ({"1": b"one" * 50}, {"2": b"two" * 50})


@pytest.mark.parametrize("bytes_", [b"no database at all" * 100, b"SQLite format 3\x00" + b"\xff" * 4000])
def test_a_damaged_file_is_replaced(bytes_: bytes, tmp_path: Path, clock: Clock) -> None:
    (tmp_path / FILE).write_bytes(bytes_)
    cache = on_file(tmp_path, MB, clock)
    for _ in range(2):  # the first use finds the damage, the next one has a new file
        cache.put("record", {"1": b"one"})
    assert cache.get("record", ["1"], 7) == {"1": b"one"}


def test_a_folder_that_cannot_be_used_costs_nothing_but_the_answers(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = on_file(tmp_path / "file" / "below")
    cache.put("record", {"1": b"one"})
    assert cache.get("record", ["1"], 7) == {}


def test_the_client_keeps_searches_and_records_on_disk_without_key_and_email(
    tmp_path: Path, ncbi: Any, settings_for: Callable[..., Any], xml: Any
) -> None:
    ncbi.found, ncbi.records = {"croup": ["1", "2"]}, {p: xml.record(p, title=f"Title {p}") for p in "123"}
    settings = settings_for(ncbi, cache_folder=tmp_path)

    async def ask(pmids: list[str]) -> list[str]:
        client = EUtilities(settings)
        assert (await client.search("croup", 5)).ids == ("1", "2")
        return [a.title for a in await client.fetch(pmids)]

    assert asyncio.run(ask(["1", "2"])) == ["Title 1", "Title 2"]
    assert asyncio.run(ask(["2", "3", "1"])) == ["Title 2", "Title 3", "Title 1"]
    assert [r.utility for r in ncbi.requests] == ["esearch", "efetch", "efetch"]
    assert ncbi.requests[-1].parameters["id"] == "3"
    asyncio.run(EUtilities(settings).search("croup", 5, fresh=True))
    assert len(ncbi.asked("esearch")) == 2
    kept = b"".join(p.read_bytes() for p in tmp_path.iterdir())
    assert b"secret-key" not in kept
    assert b"me@example.org" not in kept


def test_a_kept_record_that_is_no_record_is_fetched_again(
    tmp_path: Path, ncbi: Any, settings_for: Callable[..., Any], xml: Any
) -> None:
    ncbi.found, ncbi.records = {"croup": ["1"]}, {"1": xml.record("1")}
    settings = settings_for(ncbi, cache_folder=tmp_path)
    asyncio.run(EUtilities(settings).fetch(["1"]))
    asyncio.run(EUtilities(settings).search("croup", 5))
    import zlib

    db = sqlite3.connect(tmp_path / FILE)
    with db:
        db.execute("update answers set value = ?", (zlib.compress(b"<html/>"),))
    db.close()
    assert [a.pmid for a in asyncio.run(EUtilities(settings).fetch(["1"]))] == ["1"]
    assert asyncio.run(EUtilities(settings).search("croup", 5)).ids == ("1",)
    assert len(ncbi.requests) == 4


def test_a_server_does_not_answer_for_another(tmp_path: Path, ncbi: Any, settings_for: Callable[..., Any]) -> None:
    ncbi.found = {"croup": ["1"]}
    asyncio.run(EUtilities(settings_for(ncbi, cache_folder=tmp_path)).search("croup", 5))
    elsewhere = settings_for(ncbi, cache_folder=tmp_path, base_url=f"{ncbi.url}/")
    assert asyncio.run(EUtilities(elsewhere).search("croup", 5)).ids == ("1",)  # the same server
    ncbi.found = {"croup": ["2"]}
    mirror = settings_for(ncbi, cache_folder=tmp_path, base_url=ncbi.url.replace("/entrez", "/mirror"))
    assert asyncio.run(EUtilities(mirror).search("croup", 5)).ids == ("2",)


def test_the_settings_put_it_below_the_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANAMNESIS_LITERATURE__DEPTH", "3")
    settings = Settings(home=tmp_path)
    assert settings.literature.cache_folder == tmp_path / "cache" / "eutils"
    assert settings.literature.depth == 3
    assert not (tmp_path / "cache").exists()
