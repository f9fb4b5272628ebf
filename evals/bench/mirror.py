"""`anamnesis dev bench mirror`: records imported, the ladder's queries asked of them in this process and over HTTP.

The records are made up, in any number, or those of the evaluations, as PubMed XML. The queries are those that the rules
plan for BioASQ's questions, the three rungs apart. Each is asked once before it is timed. Processor seconds are of all
processes: two cores that have nothing else to do read twice as many a second.
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
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple
from urllib.parse import urlencode, urlsplit

import numpy as np
import typer

from agent.assembly import open_search
from agent.cli.console import say
from agent.sessions import Home
from agent.settings import Settings
from evals.bench.frame import Figure, figures_of, local_settings, told
from evals.bench.made_up import Publications
from evals.commands import DataOption
from evals.datasets.literature import LiteratureDocument, read_bioasq, read_collection
from evals.tasks.literature import mirror_record
from prompts.errors import DataError, InputError
from tools.mirror.article_xml import record_xml
from tools.mirror.database import FILE
from tools.mirror.engine import Mirror
from tools.mirror.eutils.server import MirrorServer
from tools.mirror.exporting import FOOT, HEAD
from tools.mirror.importing import WORKERS, FileReport, import_files

RUNGS = ("strict", "abstraction", "relaxed")
ASKED = 200  # ids asked for, as a rung of the ladder does at most; ours
A_FILE = 30_000  # NLM: records of a file of the baseline
QUERIES = 100  # of each rung
BOUNDS = {"strict": 60, "abstraction": 60, "relaxed": 400}  # ms, p95 at a million records


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


def measure(
    data: DataOption,
    records: Annotated[
        int, typer.Option(min=0, help="How many made-up records; 0 takes those of the evaluations.")
    ] = 1_000_000,
    folder: Annotated[Path | None, typer.Option(help="Keep the mirror here; it must be new.")] = None,
) -> list[Figure]:
    """Import records, and ask them."""
    if folder is not None and (folder / "mirror" / FILE).exists():
        raise InputError(f"{folder} holds a mirror already.", "Give a new folder: the import is to be measured.")
    documents = read_collection(data)
    questions = [q.text for q in read_bioasq(data, frozenset(d.pmid for d in documents))]
    with tempfile.TemporaryDirectory(prefix="anamnesis-", dir=folder) as files:
        written = list(made_up(documents, Path(files), records)) if records else [as_xml(documents, Path(files))]
        del documents
        place = folder / "mirror" if folder else Path(files) / "mirror"
        done = timed_import(place, written)
        held = done.report.records
        figures = [
            *figures_of("mirror.", 1, ("records", held, "records"), ("unread", done.report.unread, "records", "0")),
            *figures_of(
                "mirror.",
                held,
                ("import", done.rate, "records/s", "at least 2,000"),
                ("import_cpu", held / done.cpu_seconds, "records/s of one core"),
            ),
            *figures_of("mirror.", 1, ("import_memory", done.memory_mb, "MB", "at most 4,096")),
        ]
        queries = ladder_queries(local_settings(), place, questions, QUERIES)
        with contextlib.closing(Mirror.open(place)) as mirror:
            figures += figures_of("mirror.", 1, ("size", mirror.manifest().bytes / 1e6, "MB"))
            for rung in RUNGS:
                bound = f"at most {BOUNDS[rung]}" if records >= 1_000_000 else ""
                for way, times in (
                    ("process", times_in_process(mirror, queries[rung])),
                    ("http", times_over_http(mirror, queries[rung])),
                ):
                    p50, p95 = np.percentile(times, (50, 95)).tolist()
                    rows = ("p50", p50, "ms"), ("p95", p95, "ms", bound)
                    figures += figures_of(f"mirror.{way}.{rung}.", len(times), *rows)
    return figures


def made_up(documents: Sequence[LiteratureDocument], folder: Path, count: int) -> Iterator[Path]:
    """Files of so many records that are as the documents are."""
    drawn = Publications.of_a_collection(documents).files(folder, count, a_file=A_FILE, update=False)
    for number, path in enumerate(drawn, 1):
        told("records", min(count, number * A_FILE), count)
        yield path


def as_xml(documents: Sequence[LiteratureDocument], folder: Path) -> Path:
    """The documents as one file of PubMed XML."""
    path = folder / "collection.xml"
    with path.open("wb") as file:
        file.write(HEAD)
        for document in documents:
            file.write(record_xml(mirror_record(document, document.mesh)) + b"\n")
        file.write(FOOT)
    return path


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
