"""What a turn costs the worker and the database: processor seconds, bytes, memory, requests to PubMed."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import parse_qs, urlsplit

import yaml

from agent.agent import Agent
from agent.settings import Settings, load_settings
from evals.bench.run import QUESTIONS
from evals.bench.server.cluster import cluster
from evals.bench.sizing.costs import GROUPS
from tools.mirror.engine import Mirror
from tools.mirror.eutils.rate import RateCounter
from tools.mirror.eutils.server import MirrorServer
from tools.mirror.load import load_records
from tools.mirror.records import MirrorRecord

WARM = 4  # turns before what is measured
KEY = "0" * 36  # as NCBI's are, so that waiting for the rate takes less of the measurement's time


def turn_costs(count: int) -> dict[str, Any]:
    """Every kind of turn on a PostgreSQL of its own, PubMed off; then evidence turns that ask a mirror in its place.

    Args:
        count: turns of each kind; a kind with fewer shipped questions is asked some again.
    """
    asked = {kind: _texts(kind, count) for kind in GROUPS}
    with cluster() as database, Agent(_settings(database, live="off")) as agent:
        for text in asked["evidence"][:WARM]:
            agent.ask(text)
        before, at = _size(agent), _database_seconds(database)
        seconds = {kind: _seconds(agent, texts) for kind, texts in asked.items()}
        turns = sum(map(len, asked.values()))
        spent, grown = _database_seconds(database) - at, _size(agent) - before
        memory = _resident()
    return {
        "turn_cpu": {kind: round(value, 4) for kind, value in seconds.items()},
        "database_cpu": round(spent / turns, 4),
        "database_bytes": round(grown / turns),
        "turns": turns,
        "worker_mb": round(memory),
        "worker_connections": 2 * agent.settings.sessions.connections + 3,  # locks, and two for PubMed
        "requests": round(_requests(asked["evidence"]), 2),
    }


def _texts(kind: str, count: int) -> list[str]:
    texts = [q["text"] for q in yaml.safe_load(QUESTIONS.read_text(encoding="utf-8")) if q["kind"] == kind]
    return [texts[n % len(texts)] for n in range(count)]


def _settings(database: str, **literature: str) -> Settings:
    given: dict[str, Any] = {"config": "", "model": "", "literature": {"mirror": None, **literature}}
    return load_settings(database=database or None, **given).without_models()


def _seconds(agent: Agent, texts: Sequence[str]) -> float:
    """Processor seconds of this process for a turn, all threads together."""
    started = time.process_time()
    for text in texts:
        agent.ask(text)
    return (time.process_time() - started) / len(texts)


def _size(agent: Agent) -> int:
    """Bytes of the database."""
    from agent.loop import run

    rows = run(agent.database.execute(("select pg_database_size(current_database())", ())))
    return int(rows[0][0][0])


def _database_seconds(database: str) -> float:
    """Processor seconds of the server and of every connection that is still open."""
    import psutil

    folder = Path(parse_qs(urlsplit(database).query)["host"][0])
    server = psutil.Process(int((folder / "data" / "postmaster.pid").read_text().split()[0]))
    times = [process.cpu_times() for process in (server, *server.children(recursive=True))]
    return float(sum(t.user + t.system for t in times))


def _resident() -> float:
    import psutil

    return float(psutil.Process().memory_info().rss / 1e6)


class _Counted(RateCounter):
    """Counts, and refuses nobody."""

    def __init__(self) -> None:
        super().__init__(0)
        self.count = 0

    def wait(self) -> float:
        """Never any."""
        self.count += 1
        return 0.0


def _requests(texts: Sequence[str]) -> float:
    """Requests a turn at a mirror with few records, where the ladder is climbed to its last rung; nothing is kept."""
    with TemporaryDirectory(prefix="anamnesis-") as folder:
        load_records(Path(folder), [_record(n, text) for n, text in enumerate(texts)], source="made up")
        with closing(Mirror.open(Path(folder))) as mirror, _serving(mirror) as (url, counter):
            literature: Mapping[str, Any] = {"live": "on", "base_url": url, "api_key": KEY, "cache": False}
            with cluster() as database, Agent(_settings(database, **literature)) as agent:
                for text in texts:
                    agent.ask(text)
    return counter.count / len(texts)


@contextmanager
def _serving(mirror: Mirror) -> Iterator[tuple[str, _Counted]]:
    server, counter = MirrorServer(mirror, port=0), _Counted()
    server.counter = counter
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.address, counter
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _record(number: int, text: str) -> MirrorRecord:
    """A record that the question's own words find."""
    return MirrorRecord(pmid=str(1 + number), title=text[:80], abstract=text, date="2020")
