"""A large index served by a process of its own, so that its memory and its times are its own too."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np

from tools.indexes.large import LargeIndex


def serve(folder: Path, encoder: str, questions_file: str) -> None:
    """Open the index in this new process, ask every question alone with one thread, and print JSON."""
    import faiss

    faiss.omp_set_num_threads(1)
    questions = np.load(questions_file, allow_pickle=False)
    started = time.perf_counter()
    index = LargeIndex.open(folder, encoder, questions.shape[1])
    opened = time.perf_counter() - started
    for question in questions:  # the first reading from disk is not the search's own time
        index.search_vectors(question[None], 10)
    seconds, found = [], []
    for question in questions:
        started = time.perf_counter()
        hits = index.search_vectors(question[None], 10)[0]
        seconds.append(time.perf_counter() - started)
        found.append([hit.id for hit in hits])
    times = {"p50": np.median(seconds) * 1000, "p95": np.percentile(seconds, 95) * 1000, "open": opened * 1000}
    used = {"rss": memory("VmRSS"), "anonymous": memory("RssAnon")}
    sys.stdout.write(json.dumps({"found": found, **times, **used}))


def memory(field: str) -> float:
    """A field of this process's memory in MB (Linux), 0 where the system does not tell."""
    path = Path("/proc/self/status")
    lines = path.read_text(encoding="ascii").splitlines() if path.is_file() else []
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(f"{field}:")), 0.0)
