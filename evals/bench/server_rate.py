"""Requests of four workers to NCBI's place: a mirror on a real socket counts what arrives in any second."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from pydantic import SecretStr

from evals.bench.frame import Figure, figures_of, start_child
from evals.bench.postgres import cluster
from tools.literature.client import EUtilities
from tools.literature.failures import EUtilitiesError
from tools.literature.limiter import WINDOW, WITH_KEY, WITHOUT_KEY
from tools.literature.settings import LiteratureSettings
from tools.mirror.engine import Mirror
from tools.mirror.eutils.server import MirrorServer, RateCounter
from tools.mirror.load import load_records
from tools.mirror.records import MirrorRecord

WORKERS = 4
AT_ONCE = 3  # calls, as many as a worker has slots
FIRST = 60.0  # seconds in which all workers have asked; ours
KEY = "0" * 36  # a key as NCBI's are; the mirror takes any
NAME = "rates"  # of the workers' database
RECORDS = 20  # of the mirror: the answers are not what is measured


class Moments(NamedTuple):
    """When requests arrived, and when they were sent. Where the receiver itself is held up, it sees heaps."""

    arrived: list[float]
    sent: list[float]


class Counter(RateCounter):
    """Counts without refusing: the moment of each request."""

    def __init__(self) -> None:
        super().__init__(0)
        self.moments: list[float] = []

    def wait(self) -> float:
        """Never any."""
        self.moments.append(time.monotonic())
        return 0.0


@contextmanager
def counting(mirror: Mirror) -> Iterator[tuple[str, Counter]]:
    """The mirror in PubMed's place: its address, and the counter of its requests."""
    server, counter = MirrorServer(mirror, port=0), Counter()
    server.counter = counter
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.address, counter
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def ask(url: str, key: str, database: str, folder: str) -> None:
    """A worker: asks without end, as fast as the rate lets it, and notes in the folder when requests were sent.

    Args:
        key: of NCBI, "" for none. database: of the site, "" to count in the folder.
    """
    settings = LiteratureSettings(
        base_url=url,
        api_key=SecretStr(key) if key else None,
        database=SecretStr(database) if database else None,
        shared_folder=Path(folder),
        workers=WORKERS,
        cache=False,
        concurrency=AT_ONCE,
    )
    client = EUtilities(settings)
    stands = client.calls.limiter.stands
    with (Path(folder) / f"{os.getpid()}.sent").open("w", buffering=1) as sent:

        def noted(start: float) -> bool:
            let_go = stands(start)
            if let_go:
                sent.write(f"{time.monotonic():.4f}\n")
            return let_go

        client.calls.limiter.stands = noted  # type: ignore[method-assign]

        async def one() -> None:
            while True:
                try:
                    await client.search("asthma", 5, fresh=True)
                except EUtilitiesError as error:
                    sys.stderr.write(f"{error.reason}\n")

        async def all_calls() -> None:
            await asyncio.gather(*(one() for _ in range(AT_ONCE)))

        asyncio.run(all_calls())


def measure(seconds: float) -> tuple[list[Figure], list[str]]:
    """Workers on one PostgreSQL, on one data folder, with and without a key, and while the database is away.

    Returns the figures, and what was wrong.
    """
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="anamnesis-rate-") as folder, cluster() as server:
        place = Path(folder)
        records = [
            MirrorRecord(pmid=str(1 + n), title=f"Asthma {n}", abstract="Made up.", date="2020") for n in range(RECORDS)
        ]
        load_records(place / "mirror", records, source="made up")
        with closing(Mirror.open(place / "mirror")) as mirror:
            for where in ("database", "folder"):
                for key, allowed in (("", WITHOUT_KEY), (KEY, WITH_KEY)):
                    name = f"{where}_key" if key else where
                    database = fresh(server) if where == "database" else ""
                    figures += counted(name, asked(mirror, place / name, key, database, seconds), allowed)
            away = partial(outage, server, seconds / 3)
            moments = asked(mirror, place / "outage", "", fresh(server), seconds, away)
            figures += counted("outage", moments, WITHOUT_KEY)
    limits = [f for f in figures if f.asked and f.value > float(f.asked.split()[-1])]
    silent = [f for f in figures if f.name.endswith("most_in_a_second") and not f.n]
    return figures, [f"{f.name}: {f.value:.0f} requests" for f in limits] + [f"{f.name}: nothing came" for f in silent]


def asked(
    mirror: Mirror, folder: Path, key: str, database: str, seconds: float, meanwhile: Callable[[], None] | None = None
) -> Moments:
    """The moments at which requests came and were sent, once all workers were there."""
    folder.mkdir()
    with ExitStack() as stack:
        url, counter = stack.enter_context(counting(mirror))
        for _ in range(WORKERS):
            worker = start_child("evals.bench.server_rate:ask", url, key, database, str(folder))
            stack.callback(worker.communicate)
            stack.callback(worker.kill)
        deadline = time.monotonic() + FIRST
        while len(counter.moments) < 4 * WORKERS and time.monotonic() < deadline:
            time.sleep(0.1)
        begun = time.monotonic()
        other = threading.Thread(target=meanwhile or (lambda: None))
        other.start()
        time.sleep(seconds)
        other.join()
        ended = time.monotonic()
    sent = [float(line) for file in folder.glob("*.sent") for line in file.read_text().split("\n")[:-1]]
    return Moments(*([m for m in sorted(all_) if begun <= m < ended] for all_ in (counter.moments, sent)))


def fresh(server: str) -> str:
    """An empty database of the server."""
    import psycopg

    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"drop database if exists {NAME} with (force)")
        connection.execute(f"create database {NAME}")
    return server.replace("/postgres?", f"/{NAME}?")


def outage(server: str, third: float) -> None:
    """Take the workers' database away for the middle third."""
    import psycopg

    with psycopg.connect(server, autocommit=True) as connection:
        time.sleep(third)
        connection.execute(f"alter database {NAME} with allow_connections false")
        connection.execute("select pg_terminate_backend(pid) from pg_stat_activity where datname = %s", (NAME,))
        time.sleep(third)
        connection.execute(f"alter database {NAME} with allow_connections true")


def counted(name: str, moments: Moments, allowed: float) -> list[Figure]:
    """The most in any second, how many a second, and the shortest gap."""
    arrived, limit = moments.arrived, f"at most {allowed:.0f}"
    seconds = (arrived[-1] - arrived[0] if arrived else 0.0) or 1.0
    gaps = [1000 * (after - before) for before, after in pairwise(arrived)] or [0.0]
    sent = ("most_sent_in_a_second", most_in_a_window(moments.sent), "requests", limit)
    return [
        *figures_of(
            f"rate.{name}.",
            len(arrived),
            ("most_in_a_second", most_in_a_window(arrived), "requests", limit),
            ("requests_a_second", (len(arrived) - 1) / seconds, "1/s"),
            ("shortest_gap", min(gaps), "ms"),
        ),
        *figures_of(f"rate.{name}.", len(moments.sent), sent),
    ]


def most_in_a_window(moments: Sequence[float]) -> int:
    """The most moments in any half-open window of `WINDOW` seconds."""
    ordered, most, first = sorted(moments), 0, 0
    for last, moment in enumerate(ordered):
        while moment - ordered[first] >= WINDOW:
            first += 1
        most = max(most, last - first + 1)
    return most
