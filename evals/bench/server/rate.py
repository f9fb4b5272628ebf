"""Requests of four workers to NCBI's place: a mirror on a real socket counts what arrives in any second."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from pydantic import SecretStr

from evals.bench.figures import Figure
from evals.bench.server.cluster import cluster, reason
from evals.bench.server.part import Bench, Part
from evals.bench.server.process import END
from tools.literature.client import EUtilities
from tools.literature.failures import EUtilitiesError
from tools.literature.limiter import WINDOW, WITH_KEY, WITHOUT_KEY, Limiter
from tools.literature.settings import LiteratureSettings
from tools.mirror.engine import Mirror
from tools.mirror.eutils.rate import RateCounter
from tools.mirror.eutils.server import MirrorServer
from tools.mirror.load import load_records
from tools.mirror.records import MirrorRecord

# A worker of `evals.bench.server.rate`: asks a server without end, as fast as the rate lets it, until it is ended.
AT_ONCE = 3  # calls, as many as a worker has slots
SENT = "sent "  # begins a line with the moment at which a request was sent, on the clock of the whole machine


class Telling:
    """A limiter that tells when requests are let go."""

    def __init__(self, limiter: Limiter) -> None:
        self._limiter = limiter
        self.reserve, self.hold = limiter.reserve, limiter.hold

    @property
    def alone(self) -> bool:
        """As the limiter says."""
        return self._limiter.alone

    def stands(self, start: float) -> bool:
        """As the limiter says, told where it lets go."""
        stands = self._limiter.stands(start)
        if stands:
            sys.stdout.write(f"{SENT}{time.monotonic():.4f}\n")
        return stands


def main(url: str, key: str, database: str, folder: str, workers: int) -> None:
    """Ask for ever.

    Args:
        key: of NCBI, "" for none. database: of the site, "" to count in the folder.
    """
    settings = LiteratureSettings(
        base_url=url,
        api_key=SecretStr(key) if key else None,
        database=SecretStr(database) if database else None,
        shared_folder=Path(folder),
        workers=workers,
        cache=False,
        concurrency=AT_ONCE,
    )
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    client = EUtilities(settings)
    client.calls.limiter = Telling(client.calls.limiter)
    asyncio.run(_ask(client))


async def _ask(client: EUtilities) -> None:
    async def one() -> None:
        while True:
            try:
                await client.search("asthma", 5, fresh=True)
            except EUtilitiesError as error:
                sys.stderr.write(f"{error.reason}\n")

    await asyncio.gather(*(one() for _ in range(AT_ONCE)))


if __name__ == "__main__":
    url, key, database, folder, workers = sys.argv[1:]
    main(url, key, database, folder, int(workers))


WORKERS = 4
NAME = "rates"  # of the workers' database
KEY = "0" * 36  # a key as NCBI's are; the mirror takes any
FIRST = 60.0  # seconds in which all workers have asked; ours
RECORDS = 20  # of the mirror: the answers are not what is measured


class _Moments(NamedTuple):
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


def site_rate(bench: Bench) -> Part:
    """Workers on one PostgreSQL, on one data folder, with and without a key, and while the database is away."""
    if why := reason():
        return Part(left_out=[f"the rate of a site: {why}"])
    part = Part()
    with tempfile.TemporaryDirectory(prefix="anamnesis-rate-") as folder, cluster() as server:
        place = Path(folder)
        load_records(place / "mirror", [_record(n) for n in range(RECORDS)], source="made up")
        with closing(Mirror.open(place / "mirror")) as mirror:
            for name, key, shared in (
                ("database", "", True),
                ("database_key", KEY, True),
                ("folder", "", False),
                ("folder_key", KEY, False),
            ):
                moments, faults = _asked(mirror, place / name, key, _fresh(server) if shared else "", bench)
                part.figures += _figures(name, moments, WITH_KEY if key else WITHOUT_KEY)
                part.faults += faults
                part.details[name] = moments._asdict()
            moments, _ = _asked(mirror, place / "outage", "", _fresh(server), bench, _outage(server, bench))
            part.figures += _figures("outage", moments, WITHOUT_KEY)
            part.details["outage"] = moments._asdict()
    part.faults += [f"{name}: nothing was asked" for name, seen in part.details.items() if not seen["arrived"]]
    limits = {f.name: f for f in part.figures if f.name.endswith("in_a_second") and f.asked}
    part.faults += [f"{n}: {f.value:.0f} requests" for n, f in limits.items() if f.value > float(f.asked.split()[-1])]
    return part


def _asked(
    mirror: Mirror, folder: Path, key: str, database: str, bench: Bench, meanwhile: Callable[[], None] = lambda: None
) -> tuple[_Moments, list[str]]:
    """The moments at which requests came and were sent, once all workers were there, and the workers' complaints."""
    folder.mkdir()
    with ExitStack() as stack:
        counter = Counter()
        url = stack.enter_context(_serving(mirror, counter))
        logs = [folder / f"{n}.log" for n in range(WORKERS)]
        for log in logs:
            stack.enter_context(_worker(url, key, database, folder, log))
        deadline = time.monotonic() + FIRST
        while len(counter.moments) < 4 * WORKERS and time.monotonic() < deadline:
            time.sleep(0.1)
        begun = time.monotonic()
        other = threading.Thread(target=meanwhile)
        other.start()
        time.sleep(bench.sizes.rate_seconds)
        other.join()
        ended = time.monotonic()
    lines = [line for log in logs for line in log.read_text().splitlines()]
    sent = [float(line.removeprefix(SENT)) for line in lines if line.startswith(SENT)]
    moments = _Moments(*([m for m in sorted(all_) if begun <= m < ended] for all_ in (counter.moments, sent)))
    return moments, [line for line in lines if "Error" in line]


@contextmanager
def _serving(mirror: Mirror, counter: Counter) -> Iterator[str]:
    server = MirrorServer(mirror, port=0)
    server.counter = counter
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.address
    finally:
        server.shutdown()
        server.server_close()
        thread.join(END)


@contextmanager
def _worker(url: str, key: str, database: str, folder: Path, log: Path) -> Iterator[None]:
    command = [sys.executable, "-m", "evals.bench.server.rate", url, key, database, str(folder), str(WORKERS)]
    with log.open("w") as file:
        process = subprocess.Popen(command, stdout=file, stderr=file)  # noqa: S603
    try:
        yield
    finally:
        process.kill()
        process.wait(END)


def _fresh(server: str) -> str:
    """An empty database of the server."""
    import psycopg

    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"drop database if exists {NAME} with (force)")
        connection.execute(f"create database {NAME}")
    return server.replace("/postgres?", f"/{NAME}?")


def _outage(server: str, bench: Bench) -> Callable[[], None]:
    """Takes the workers' database away for the middle third."""
    import psycopg

    third = bench.sizes.rate_seconds / 3

    def away() -> None:
        with psycopg.connect(server, autocommit=True) as connection:
            time.sleep(third)
            connection.execute(f"alter database {NAME} with allow_connections false")
            connection.execute("select pg_terminate_backend(pid) from pg_stat_activity where datname = %s", (NAME,))
            time.sleep(third)
            connection.execute(f"alter database {NAME} with allow_connections true")

    return away


def _figures(name: str, moments: _Moments, allowed: float) -> list[Figure]:
    arrived, asked = moments.arrived, f"at most {allowed:.0f}"
    n, sent = len(arrived), most_in_a_window(moments.sent)
    seconds = max(arrived, default=0.0) - min(arrived, default=0.0) or 1.0
    gaps = [1000 * (after - before) for before, after in pairwise(sorted(arrived))] or [0.0]
    return [
        Figure(
            name=f"rate.{name}.most_in_a_second",
            value=most_in_a_window(arrived),
            unit="requests",
            n=n,
            asked=asked,
        ),
        Figure(
            name=f"rate.{name}.most_sent_in_a_second", value=sent, unit="requests", n=len(moments.sent), asked=asked
        ),
        Figure(name=f"rate.{name}.requests_a_second", value=(n - 1) / seconds, unit="1/s", n=n),
        Figure(name=f"rate.{name}.shortest_gap", value=min(gaps), unit="ms", n=n),
    ]


def most_in_a_window(moments: Sequence[float], window: float = WINDOW) -> int:
    """The most moments in any half-open window of so many seconds."""
    ordered, most, first = sorted(moments), 0, 0
    for last, moment in enumerate(ordered):
        while moment - ordered[first] >= window:
            first += 1
        most = max(most, last - first + 1)
    return most


def _record(number: int) -> MirrorRecord:
    return MirrorRecord(pmid=str(1 + number), title=f"Asthma {number}", abstract="Made up.", date="2020")
