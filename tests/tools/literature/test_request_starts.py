"""Starts of requests: spaced, held, kept to their moment, and one allowance for all that share."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import SecretStr

from prompts import tool_arguments
from prompts.errors import InputError, ServiceError
from support.word_encoder import WordEncoder
from tools.contract import ToolContext
from tools.library.build import build_library
from tools.library.collection import Library
from tools.literature.client import EUtilities
from tools.literature.failures import Reason, Unavailable
from tools.literature.limiter import (
    FILE,
    GONE,
    IN_DATABASE,
    IN_FILE,
    LATE,
    SCHEMA,
    WINDOW,
    Limiter,
    RateLimiter,
    SharedLimiter,
    SharedStarts,
    gap_of,
    limiter_for,
    wait_for_start,
)
from tools.literature.reachability import Reachability
from tools.literature.settings import LiteratureSettings
from tools.literature.shared_tables import PostgresTables, SqliteTables
from tools.literature.tool import SearchLiterature

RATE, WORKERS = 10.0, 4
GAP = gap_of(RATE)
Make = Callable[[], Limiter]


def on_file(folder: Path, name: str = "ncbi", gap: float = GAP, clock: Callable[[], float] = time.time) -> SharedStarts:
    return SharedStarts(SqliteTables(folder / FILE, SCHEMA, IN_FILE, clock), name, gap)


def on_database(address: str, name: str = "ncbi", gap: float = GAP) -> SharedStarts:
    return SharedStarts(PostgresTables(address, SCHEMA, IN_DATABASE, "test"), name, gap)


@pytest.fixture(params=["process", "file", "postgres"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    """Makes limiters that share: what each of several processes would have."""
    if request.param == "process":
        one = RateLimiter(RATE)
        return lambda: one
    if request.param == "file":
        return lambda: SharedLimiter(RATE, on_file(tmp_path), WORKERS, 4)
    address = request.getfixturevalue("postgres")
    return lambda: SharedLimiter(RATE, on_database(address), WORKERS, 4)


def test_those_that_share_start_one_after_another(make: Make) -> None:
    starts: list[float] = []

    def take(limiter: Limiter) -> None:
        starts.extend(limiter.reserve() for _ in range(5))

    before = time.monotonic()
    threads = [threading.Thread(target=take, args=(make(),)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    starts.sort()
    gaps = [after - before for before, after in pairwise(starts)]
    assert len(starts) == 20
    assert min(gaps) > 0.5 * GAP  # each is read against a clock of its own, on a machine that may be busy
    assert starts[-1] - before < 19 * GAP + 10


def test_a_pause_holds_all_and_takes_back_what_was_taken(make: Make) -> None:
    one, other = make(), make()
    taken = [other.reserve(), other.reserve()]
    moment = time.monotonic()
    one.hold(0.5)
    assert not any(other.stands(start) for start in taken)
    again = other.reserve()
    assert again > moment + 0.48
    assert wait_for_start(other)


def test_whoever_comes_too_late_takes_another_start(make: Make) -> None:
    limiter = make()
    start = limiter.reserve()
    time.sleep(LATE + 0.02)
    assert not limiter.stands(start)
    assert wait_for_start(limiter)


def test_no_window_holds_more_even_where_each_request_is_late_or_not() -> None:
    for rate in (3.0, 10.0):
        most = int(rate)
        assert most * gap_of(rate) - 2 * LATE >= WINDOW  # first late, last at once: still beyond the window


class Failing:
    """Shared starts that can be switched off."""

    def __init__(self, place: int, clock: Callable[[], float], gap: float) -> None:
        self.number, self.works, self.holds = place, True, 0.0
        self._under = RateLimiter(WINDOW / gap * 1.1, clock)

    def _try(self) -> None:
        if not self.works:
            raise ServiceError("gone")

    def reserve(self) -> float:
        self._try()
        return self._under.reserve()

    def held(self) -> float:
        self._try()
        return 0.0

    def hold(self, seconds: float) -> None:
        self._try()
        self.holds = seconds
        self._under.hold(seconds)

    def place(self) -> int:
        self._try()
        return self.number


@settings(max_examples=40, deadline=None)
@given(
    workers=st.integers(1, 6),
    rate=st.sampled_from([3.0, 10.0]),
    asks=st.lists(st.tuples(st.integers(0, 5), st.floats(0, 0.5)), min_size=20, max_size=80),
)
def test_alone_all_together_stay_within_the_rate(workers: int, rate: float, asks: list[tuple[int, float]]) -> None:
    now = [100.0]
    wall = lambda: 1_700_000_000.3 + now[0]  # noqa: E731
    shared = [Failing(n, lambda: now[0], gap_of(rate)) for n in range(workers)]
    limiters = [SharedLimiter(rate, s, workers, 4, clock=lambda: now[0], wall=wall) for s in shared]
    last = max(limiter.reserve() for limiter in limiters)
    assert not any(limiter.alone for limiter in limiters)
    for s in shared:
        s.works = False
    starts = []
    for number, pause in asks:
        now[0] += pause
        starts.append(limiters[number % workers].reserve())
    assert min(starts) >= last + (4 * workers - 1) * gap_of(rate) - 1e-6  # what others may have taken comes first
    starts.sort()
    assert all(b - a > 0.99 * gap_of(rate) for a, b in pairwise(starts))
    used = {n % workers for n, _ in asks}
    assert all(limiters[n].alone for n in used)
    for s in shared:
        s.works = True
    number = used.pop()
    back = limiters[number].reserve()
    assert back >= now[0] + 4 * workers * gap_of(rate) - 1e-6  # and before the count is used again
    assert not limiters[number].alone


def test_alone_a_pause_ends_at_the_own_place_and_not_for_all_at_once() -> None:
    now = [100.0]
    shared = [Failing(n, lambda: now[0], GAP) for n in range(3)]
    limiters = [SharedLimiter(RATE, s, 3, 1, clock=lambda: now[0], wall=lambda: now[0]) for s in shared]
    for limiter, s in zip(limiters, shared, strict=True):
        limiter.reserve()
        s.works = False
        limiter.hold(5.0)  # as long as a server that turns all away asks each of them
    starts = sorted(limiter.reserve() for limiter in limiters)
    assert starts[0] >= now[0] + 5.0
    assert all(b - a > 0.99 * GAP for a, b in pairwise(starts))


def test_alone_without_a_place_nothing_is_sent() -> None:
    for place in (None, WORKERS):
        shared = Failing(place or 0, time.monotonic, GAP)
        limiter = SharedLimiter(RATE, shared, WORKERS, 4)
        shared.works = place is not None
        if shared.works:
            limiter.reserve()
            shared.works = False
        with pytest.raises(Unavailable) as caught:
            limiter.reserve()
        assert caught.value.reason is Reason.NO_START


@pytest.fixture(params=["file", "postgres"])
def processes(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], SharedStarts]:
    if request.param == "file":
        return lambda: on_file(tmp_path)
    address = request.getfixturevalue("postgres")
    return lambda: on_database(address)


def test_each_process_has_a_place_of_its_own(processes: Callable[[], SharedStarts]) -> None:
    made = [processes() for _ in range(3)]
    for starts in made:
        starts.reserve()
    assert [starts.place() for starts in (*made, made[1])] == [0, 1, 2, 1]


def test_a_place_of_a_process_that_went_is_taken_by_one_that_is_there(processes: Callable[[], SharedStarts]) -> None:
    one, two, three = (processes() for _ in range(3))
    for starts in (one, two, three):
        starts.reserve()
        starts.place()
    _later(three, GONE + 1)
    assert two.place() == 0  # that of the first, who was not seen for so long
    assert [three.place(), two.place()] == [1, 0]
    assert [one.place(), three.place()] == [2, 1]


def _later(starts: SharedStarts, seconds: float) -> None:
    """Let so many seconds pass since all were seen."""
    starts._tables.ask(("update {places} set seen = seen - %(for)s", {"for": seconds}))


def test_servers_and_keys_do_not_wait_for_each_other(tmp_path: Path, postgres: str) -> None:
    for make, place in ((on_database, postgres), (on_file, tmp_path)):
        one, other = make(place, "a", 10.0), make(place, "b", 10.0)
        now = time.monotonic()
        assert max(one.reserve(), other.reserve()) < now + 5
        assert min(one.reserve(), other.reserve()) > now + 5


def test_starts_of_a_clock_that_was_set_back_are_forgotten(tmp_path: Path, postgres: str) -> None:
    on_file(tmp_path, clock=lambda: time.time() + 4_000).reserve()
    assert on_file(tmp_path).reserve() < time.monotonic() + 1
    starts = on_database(postgres)
    starts.reserve()
    starts._tables.ask(("update {starts} set following = following + 4000", {}))
    assert starts.reserve() < time.monotonic() + 1


def test_a_damaged_file_fails_once_and_is_made_again(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"no database at all" * 100)
    starts = on_file(tmp_path)
    with pytest.raises(ServiceError, match="cannot be kept"):
        starts.reserve()
    assert starts.reserve() < time.monotonic() + 1
    holder = sqlite3.connect(tmp_path / FILE, isolation_level=None)
    holder.execute("begin exclusive")
    with pytest.raises(ServiceError):
        starts.reserve()
    holder.close()


def test_a_database_that_does_not_answer_is_told_by_type_and_without_its_address() -> None:
    starts = on_database("postgresql://somebody:secret@127.0.0.1:9/none")
    for _ in range(2):
        with pytest.raises(ServiceError) as caught:
            starts.reserve()
        assert "secret" not in str(caught.value)


def test_the_settings_say_who_shares(tmp_path: Path) -> None:
    alone = LiteratureSettings(base_url="http://a/")
    assert limiter_for(alone) is limiter_for(LiteratureSettings(base_url="http://a"))
    keyed = alone.model_copy(update={"api_key": SecretStr("k")})
    assert limiter_for(keyed) is not limiter_for(alone)
    assert limiter_for(keyed) is not limiter_for(alone.model_copy(update={"api_key": SecretStr("l")}))
    here = alone.model_copy(update={"shared_folder": tmp_path})
    assert isinstance(limiter_for(here), SharedLimiter)
    limiter_for(here).reserve()
    kept = (tmp_path / FILE).read_bytes()
    limiter_for(keyed.model_copy(update={"shared_folder": tmp_path})).reserve()
    assert kept != (tmp_path / FILE).read_bytes()


class Counting(RateLimiter):
    """Lets so many starts pass by before one stands."""

    def __init__(self, missed: int) -> None:
        super().__init__(1_000.0)
        self.missed, self.taken = missed, 0

    def reserve(self) -> float:
        self.taken += 1
        return super().reserve()

    def stands(self, start: float) -> bool:
        return self.taken > self.missed


def test_a_request_is_sent_under_a_start_that_stands_or_not_at_all(
    ncbi: Any, settings_for: Callable[..., LiteratureSettings]
) -> None:
    client = EUtilities(settings_for(ncbi, attempts=1))
    client.calls.limiter = Counting(2)
    asyncio.run(client.search("croup", 5))
    assert (client.calls.limiter.taken, len(ncbi.requests)) == (3, 1)
    client.calls.limiter = Counting(10**6)
    with pytest.raises(Unavailable) as caught:
        asyncio.run(client.search("croup again", 5))
    assert caught.value.reason is Reason.NO_START
    assert len(ncbi.requests) == 1


def test_the_probe_takes_a_start_too_and_its_waiting_is_no_silence(ncbi: Any) -> None:
    limiter = Counting(0)
    limiter.hold(1.2)
    started = time.monotonic()
    assert asyncio.run(Reachability(ncbi.url, timeout=1.0, limiter=limiter).check())
    assert time.monotonic() - started > 1.1
    assert limiter.taken == 1
    assert not asyncio.run(Reachability(ncbi.url, limiter=Counting(10**6)).check())


def test_a_probe_that_can_take_no_start_tells_why_and_keeps_nobody_waiting(ncbi: Any) -> None:
    class Unset(RateLimiter):
        def reserve(self) -> float:
            raise InputError("PostgreSQL needs a package that is not installed.", "Install it.")

    probe = Reachability(ncbi.url, limiter=Unset(RATE))

    async def asked() -> None:
        await asyncio.wait_for(probe.check(), 5)

    for _ in range(2):
        with pytest.raises(InputError, match="not installed"):
            asyncio.run(asked())


def test_a_search_that_was_slower_says_so(
    ncbi: Any, settings_for: Callable[..., LiteratureSettings], monographs: Path, tmp_path: Path
) -> None:
    encoder = WordEncoder()
    build_library(monographs, tmp_path / "library", encoder)
    library = Library.open(tmp_path / "library", encoder)
    settings = settings_for(ncbi, live="on", shared_folder=tmp_path)
    tool = SearchLiterature(library, encoder, settings)
    context = ToolContext(kind="evidence")
    arguments = tool_arguments.SearchLiterature(query="Do corticosteroids help in croup?")

    def codes() -> set[str]:
        return {notice.code for notice in asyncio.run(tool.run(arguments, context)).notices}

    assert "pubmed_share" not in codes()
    shared = limiter_for(settings)
    assert isinstance(shared, SharedLimiter)
    shared._failed = time.monotonic()  # as after a start that had to be taken alone
    shared._shared = Failing(0, time.monotonic, GAP)
    shared._shared.works = False
    shared._queue = 0.0
    assert "pubmed_share" in codes()
