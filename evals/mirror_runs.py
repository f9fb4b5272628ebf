"""What the measures of the mirror share: queries of the ladder, times of esearch, memory of an import."""

from __future__ import annotations

import asyncio
import http.client
import os
import resource
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlencode, urlsplit

from evals.datasets.literature import LiteratureDocument
from prompts.errors import DataError
from tools.mirror.article_xml import record_xml
from tools.mirror.engine import Mirror
from tools.mirror.exporting import FOOT, HEAD
from tools.mirror.importing import WORKERS, FileReport, import_files
from tools.mirror.records import MeshHeading, MirrorRecord

if TYPE_CHECKING:
    from agent.settings import Settings

RUNGS = ("strict", "abstraction", "relaxed")
ASKED = 200  # ids asked for, as a rung of the ladder does at most; ours


class Imported(NamedTuple):
    """An import: seconds of wall time, of the processor, and at most so many MB in all its processes together."""

    report: FileReport
    seconds: float
    cpu_seconds: float
    memory_mb: float

    @property
    def rate(self) -> float:
        """Records a second."""
        return self.report.records / self.seconds


def write_xml(documents: Sequence[LiteratureDocument], path: Path) -> None:
    """The documents as one file of PubMed XML."""
    with path.open("wb") as file:
        file.write(HEAD)
        for d in documents:
            record = MirrorRecord(
                pmid=d.pmid, title=d.title, abstract=d.abstract, date=str(d.year or ""), journal=d.journal,
                publication_types=d.publication_types, mesh=tuple(MeshHeading(name=name) for name in d.mesh),
            )  # fmt: skip
            file.write(record_xml(record) + b"\n")
        file.write(FOOT)


def timed_import(folder: Path, files: Sequence[Path]) -> Imported:
    """Import files and measure. The memory is the peak of this process and, for each worker, the largest worker's."""
    started, spent = time.perf_counter(), sum(os.times()[:4])
    reports = import_files(folder, files)
    seconds, spent = time.perf_counter() - started, sum(os.times()[:4]) - spent  # own and children's, user and system
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # Linux counts in kB
    worker = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    total = reports[0].model_copy(update={"records": sum(r.records for r in reports)})
    return Imported(total, seconds, spent, own + WORKERS * worker)


def ladder_queries(settings: Settings, mirror: Path, questions: Sequence[str], most: int) -> dict[str, list[str]]:
    """At most ``most`` queries of each rung, as the rules plan them for these questions on this mirror."""
    from agent.assembly import open_search
    from agent.sessions import Home

    planner = open_search(settings, Home(settings.home).prepare(), mirror).planner
    found: dict[str, dict[str, None]] = {rung: {} for rung in RUNGS}
    for question in questions:
        plan = asyncio.run(planner.plan(question, case=False))
        for expression in plan.expressions:
            if len(found[expression.rung]) < most:
                found[expression.rung][expression.query] = None
        if all(len(queries) >= most for queries in found.values()):
            break
    if not all(found.values()):
        raise DataError("The questions gave no queries of some rung.", "Give the whole data folder with --data.")
    return {rung: list(queries) for rung, queries in found.items()}


def times_in_process(mirror: Mirror, queries: Sequence[str]) -> list[float]:
    """Milliseconds of each query, by relevance; each was asked once before, so that files are read."""
    return _times(lambda query: mirror.find(query, ASKED).count, queries)


def times_over_http(mirror: Mirror, queries: Sequence[str]) -> list[float]:
    """Milliseconds of each esearch request to a server of its own thread, over one connection."""
    from tools.mirror.eutils.server import MirrorServer

    with MirrorServer(mirror, port=0, rate=0) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        address = urlsplit(server.address)
        connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=60)

        def ask(query: str) -> int:
            form = urlencode({"db": "pubmed", "term": query, "retmax": ASKED, "sort": "relevance"})
            connection.request("GET", f"{address.path}/esearch.fcgi?{form}")
            answer = connection.getresponse()
            body = answer.read()
            if answer.status != http.client.OK or b"<ERROR>" in body:
                raise DataError("The server refused a query of the ladder.", "Report it with the query.")
            return len(body)

        try:
            return _times(ask, queries)
        finally:
            connection.close()
            server.shutdown()
            thread.join()


def _times(ask: Callable[[str], int], queries: Sequence[str]) -> list[float]:
    for query in queries:
        ask(query)
    found = []
    for query in queries:
        started = time.perf_counter()
        ask(query)
        found.append(1000 * (time.perf_counter() - started))
    return found
