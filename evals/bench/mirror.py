"""`anamnesis bench mirror`: made-up records imported, and the ladder's queries asked of them."""

from __future__ import annotations

import contextlib
import json
import sys
import tempfile
from pathlib import Path

import numpy as np

from evals.bench.figures import Figure, print_figures
from evals.bench.synthetic import Synthetic
from evals.datasets.literature import read_bioasq, read_collection
from evals.mirror_runs import RUNGS, ladder_queries, timed_import, times_in_process, times_over_http
from prompts.errors import InputError
from tools.files import write_atomic
from tools.mirror.database import FILE
from tools.mirror.engine import Mirror

QUERIES = 100  # of each rung
BOUNDS = {"strict": 60, "abstraction": 60, "relaxed": 400}  # ms, p95 at a million records


def bench_mirror(records: int, data: Path, folder: Path | None, json_file: Path | None) -> None:
    """Import so many made-up records, ask them, print the figures and write them where asked.

    Args:
        data: the folder with the collection and the questions.
        folder: keeps the files and the mirror; None uses a temporary folder.
    """
    if folder is not None and (folder / "mirror" / FILE).exists():
        raise InputError(f"{folder} holds a mirror already.", "Give a new folder: the import is to be measured.")
    with tempfile.TemporaryDirectory(prefix="anamnesis-") as temporary:
        figures = measure(records, data, folder or Path(temporary))
    print_figures(figures)
    if json_file is not None:
        write_atomic(json_file, (json.dumps([f.model_dump() for f in figures], indent=2) + "\n").encode())


def measure(records: int, data: Path, folder: Path) -> list[Figure]:
    """The figures for so many records."""
    from agent.settings import load_settings

    documents = read_collection(data)
    questions = [q.text for q in read_bioasq(data, frozenset(d.pmid for d in documents))]
    files = folder / "files"
    files.mkdir(parents=True, exist_ok=True)
    written = []
    for path in Synthetic(documents).files(files, records):
        written.append(path)
        sys.stderr.write(f"\rmade {path.name}   ")
    del documents
    place = folder / "mirror"
    done = timed_import(place, written)
    for path in written:
        path.unlink()
    figures = [
        Figure(name="mirror.records", value=done.report.records, unit="records", n=1),
        Figure(name="mirror.import", value=done.rate, unit="records/s", n=records, asked="at least 2,000"),
        Figure(name="mirror.import_cpu", value=records / done.cpu_seconds, unit="records/s of one core", n=records),
        Figure(name="mirror.import_memory", value=done.memory_mb, unit="MB", n=1, asked="at most 4,096"),
    ]
    queries = ladder_queries(
        load_settings(model="", literature={"live": "off", "mirror": None}), place, questions, QUERIES
    )
    with contextlib.closing(Mirror.open(place)) as mirror:
        figures.append(Figure(name="mirror.size", value=mirror.manifest().bytes / 1e6, unit="MB", n=1))
        for rung in RUNGS:
            for way, times in (
                ("process", times_in_process(mirror, queries[rung])), ("http", times_over_http(mirror, queries[rung])),
            ):  # fmt: skip
                name, n = f"mirror.{way}.{rung}", len(times)
                bound = f"at most {BOUNDS[rung]}" if records >= 1_000_000 else ""
                figures.append(Figure(name=f"{name}.p50", value=float(np.percentile(times, 50)), unit="ms", n=n))
                p95 = float(np.percentile(times, 95))
                figures.append(Figure(name=f"{name}.p95", value=p95, unit="ms", n=n, asked=bound))
    return figures
