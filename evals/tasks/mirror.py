"""`mirror`: the collection imported as PubMed XML, and the ladder's queries asked in this process and over HTTP.

The queries are those that the rules plan for BioASQ's questions, the three rungs apart. Each is asked once before it is
timed. ``records_cpu_s`` counts processor seconds of all processes: two cores that have nothing else to do read twice
as many a second. `anamnesis dev bench mirror` asks the same of a million made-up records.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import os
import resource
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode, urlsplit

import numpy as np

from agent.assembly import open_search
from agent.cli.console import say
from agent.sessions import Home
from agent.settings import Settings
from evals.contract import Figure, Task, TaskContext
from evals.datasets.literature import LiteratureDocument, read_bioasq, read_collection
from evals.tasks.literature import mirror_record
from prompts.errors import DataError
from tools.mirror.article_xml import record_xml
from tools.mirror.engine import Mirror
from tools.mirror.eutils.server import MirrorServer
from tools.mirror.exporting import FOOT, HEAD
from tools.mirror.importing import WORKERS, FileReport, import_files

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


def run(context: TaskContext) -> list[Figure]:
    """Import into a temporary folder and measure."""
    documents = read_collection(context.data)
    questions = [q.text for q in read_bioasq(context.data, frozenset(d.pmid for d in documents))]
    with tempfile.TemporaryDirectory(prefix="anamnesis-") as folder:
        file, place = Path(folder) / "collection.xml", Path(folder) / "mirror"
        write_xml(documents, file)
        done = timed_import(place, [file])
        count = done.report.records
        queries = ladder_queries(context.settings, place, questions, max(1, context.limit // len(RUNGS)))
        with contextlib.closing(Mirror.open(place)) as mirror:
            measured = {
                "records": (count, 1),
                "records_s": (done.rate, count),
                "records_cpu_s": (count / done.cpu_seconds, count),
                "memory_mb": (done.memory_mb, 1),
                "not_read": (done.report.unread, count),
                "size_mb": (mirror.manifest().bytes / 1e6, count),
            }
            out = [Figure(name=f"mirror.import.{name}", value=value, n=n) for name, (value, n) in measured.items()]
            for rung in RUNGS:
                for way, ask in (("process", times_in_process), ("http", times_over_http)):
                    times = ask(mirror, queries[rung])
                    for share in (50, 95):
                        value = float(np.percentile(times, share))
                        out.append(Figure(name=f"mirror.{way}.{rung}_p{share}_ms", value=value, n=len(times)))
    return out


def write_xml(documents: Sequence[LiteratureDocument], path: Path) -> None:
    """The documents as one file of PubMed XML."""
    with path.open("wb") as file:
        file.write(HEAD)
        for document in documents:
            file.write(record_xml(mirror_record(document, document.mesh)) + b"\n")
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
    planner = open_search(settings, Home(settings.home).prepare(), mirror, say).planner
    found: dict[str, dict[str, None]] = {rung: {} for rung in RUNGS}
    for question in questions:
        for expression in asyncio.run(planner.plan(question, case=False)).expressions:
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
    found = []
    for asked_before in (False, True):
        for query in queries:
            started = time.perf_counter()
            ask(query)
            if asked_before:
                found.append(1000 * (time.perf_counter() - started))
    return found


TASK = Task(
    name="mirror",
    what="the local mirror: import, and times of esearch in process and over HTTP",
    inputs=("literature/abstracts.jsonl", "literature/bioasq_documents.jsonl", "literature/bioasq_dev.jsonl"),
    expected="2 minutes",
    limit=300,
    run=run,
)
