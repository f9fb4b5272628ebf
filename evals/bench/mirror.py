"""`anamnesis dev bench mirror`: made-up records imported, and the ladder's queries asked of them."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from evals.bench.commands import Data
from evals.bench.frame import Figure, figures_of, local_settings, told
from evals.bench.made_up import Publications
from evals.datasets.literature import read_bioasq, read_collection
from evals.tasks.mirror import RUNGS, ladder_queries, timed_import, times_in_process, times_over_http
from prompts.errors import InputError
from tools.mirror.database import FILE
from tools.mirror.engine import Mirror

A_FILE = 30_000  # NLM: records of a file of the baseline
QUERIES = 100  # of each rung
BOUNDS = {"strict": 60, "abstraction": 60, "relaxed": 400}  # ms, p95 at a million records


def measure(
    data: Data,
    records: Annotated[int, typer.Option(min=100, help="How many made-up records.")] = 1_000_000,
    folder: Annotated[Path | None, typer.Option(help="Keep the mirror here; it must be new.")] = None,
) -> list[Figure]:
    """Import made-up records, and ask them."""
    if folder is not None and (folder / "mirror" / FILE).exists():
        raise InputError(f"{folder} holds a mirror already.", "Give a new folder: the import is to be measured.")
    documents = read_collection(data)
    questions = [q.text for q in read_bioasq(data, frozenset(d.pmid for d in documents))]
    with tempfile.TemporaryDirectory(prefix="anamnesis-", dir=folder) as files:
        written = []
        for path in Publications.of_a_collection(documents).files(Path(files), records, a_file=A_FILE, update=False):
            written.append(path)
            told("records", min(records, len(written) * A_FILE), records)
        del documents
        place = folder / "mirror" if folder else Path(files) / "mirror"
        done = timed_import(place, written)
        figures = [
            *figures_of("mirror.", 1, ("records", done.report.records, "records")),
            *figures_of(
                "mirror.",
                records,
                ("import", done.rate, "records/s", "at least 2,000"),
                ("import_cpu", records / done.cpu_seconds, "records/s of one core"),
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
