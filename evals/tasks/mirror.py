"""`mirror`: the collection imported as PubMed XML, and the ladder's queries asked in this process and over HTTP.

The queries are those that the rules plan for BioASQ's questions, the three rungs apart. Each is asked once before it is
timed. ``records_cpu_s`` counts processor seconds of all processes: two cores that have nothing else to do read twice
as many a second. `anamnesis bench mirror` asks the same of a million made-up records.
"""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path

from evals.contract import Figure, Task, TaskContext

WHAT = "the local mirror: import, and times of esearch in process and over HTTP"


def run(context: TaskContext) -> list[Figure]:
    """Import into a temporary folder and measure."""
    import numpy as np

    from evals.datasets.literature import read_bioasq, read_collection
    from evals.mirror_runs import RUNGS, ladder_queries, timed_import, times_in_process, times_over_http, write_xml
    from tools.mirror.engine import Mirror

    documents = read_collection(context.data)
    held = frozenset(d.pmid for d in documents)
    questions = [q.text for q in read_bioasq(context.data, held)]
    with tempfile.TemporaryDirectory(prefix="anamnesis-") as folder:
        file, place = Path(folder) / "collection.xml", Path(folder) / "mirror"
        write_xml(documents, file)
        done = timed_import(place, [file])
        count = done.report.records
        figures = [
            Figure(name="mirror.import.records", value=count, n=1),
            Figure(name="mirror.import.records_s", value=done.rate, n=count),
            Figure(name="mirror.import.records_cpu_s", value=count / done.cpu_seconds, n=count),
            Figure(name="mirror.import.memory_mb", value=done.memory_mb, n=1),
            Figure(name="mirror.import.not_read", value=done.report.unread, n=count),
        ]
        queries = ladder_queries(context.settings, place, questions, max(1, context.limit // len(RUNGS)))
        with contextlib.closing(Mirror.open(place)) as mirror:
            figures.append(Figure(name="mirror.import.size_mb", value=mirror.manifest().bytes / 1e6, n=count))
            for rung in RUNGS:
                asked = queries[rung]
                for way, times in (
                    ("process", times_in_process(mirror, asked)), ("http", times_over_http(mirror, asked)),
                ):  # fmt: skip
                    for share in (50, 95):
                        value = float(np.percentile(times, share))
                        figures.append(Figure(name=f"mirror.{way}.{rung}_p{share}_ms", value=value, n=len(asked)))
    return figures


TASK = Task(
    name="mirror",
    what=WHAT,
    inputs=("literature/abstracts.jsonl", "literature/bioasq_documents.jsonl", "literature/bioasq_dev.jsonl"),
    expected="2 minutes",
    limit=300,
    run=run,
)
