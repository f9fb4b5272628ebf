"""The build and the serving of one size, each in a process of its own, so that its memory is its own too."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from evals.bench.correlated import Correlated
from evals.bench.growth.collection import DIMENSION, RARE, RECENT, Collection, number_of
from evals.bench.serving import memory
from tools.encoders import Vectors
from tools.files import write_atomic
from tools.indexes.backends import LocalBackend, LocalCollection
from tools.indexes.contract import Entry, Filter, Hit, Part

NAME, ENCODER = "made-up", "clustered"
QUESTIONS = 300  # ours: standard error of the recall about half a point; p95 from 15 values
K, POOL, RRF_K = 10, 100, 60  # ours: as the literature is searched
REAL = "real.npy"  # vectors of the embedded encoder, which the collection's are like


def in_child(function: str, folder: Path, count: int) -> dict[str, float]:
    """Call ``build`` or ``serve`` in a new process with one thread, and give what it measured."""
    place = "pathlib.Path(sys.argv[1]), int(sys.argv[2])"
    code = f"import sys, pathlib, evals.bench.growth.children as c; c.{function}({place})"
    command = [sys.executable, "-c", code, str(folder), str(count)]
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    subprocess.run(command, check=True, env={**os.environ, **threads})  # noqa: S603 - our own code
    measured: dict[str, float] = json.loads((folder / f"{function}.json").read_bytes())
    return measured


def build(folder: Path, count: int) -> None:
    """Build the collection, and write time, memory and size; the time to draw it is left out."""
    collection = _collection(folder)
    drawing = [0.0, 0.0]
    before = memory("VmRSS")
    started, busy = time.perf_counter(), time.process_time()
    parts = (Part(name=part.name, read=_timed(part.read, drawing)) for part in collection.parts(count))
    with watched() as own:
        index = LocalBackend(folder).build(
            NAME, parts, encoder=ENCODER, dimension=DIMENSION, source=f"{count} made-up passages", progress=_say
        )
    seconds = time.perf_counter() - started - drawing[0]
    processor = time.process_time() - busy - drawing[1]
    peak = memory("VmHWM")
    place = folder / NAME
    with index.store.read() as database:
        words = float(database.execute("select sum(length(header) + length(lists)) from index_postings").fetchone()[0])
    size = {path.relative_to(place): path.stat().st_size for path in place.rglob("*") if path.is_file()}

    def share(*names: str) -> float:
        return sum(n for path, n in size.items() if any(part in names for part in path.parts)) / count

    _write(
        folder / "build.json",
        build_s=seconds,
        build_cpu_s=processor,
        build_peak_mb=peak,
        build_peak_own_mb=own[0],
        build_start_mb=before,
        disk_mb=sum(size.values()) / 1e6,
        disk_bytes_a_passage=sum(size.values()) / count,
        disk_vectors=share("vectors", *(path.name for path in size if path.suffix == ".f32")),
        disk_words=words / count,
        disk_rows=share("index.sqlite") - words / count,
        approximate=float(index.manifest.vectors != "exact"),
    )


def serve(folder: Path, count: int) -> None:
    """Open the collection, ask every question alone, and write times, memory and recall."""
    import faiss

    faiss.omp_set_num_threads(1)
    empty = memory("RssAnon")
    started = time.perf_counter()
    index = LocalBackend(folder).open(NAME, encoder=ENCODER, dimension=DIMENSION)
    opened = time.perf_counter() - started
    words, vectors = json.loads((folder / "questions.json").read_bytes()), np.load(folder / "questions.npy")
    figures = {"open_ms": opened * 1000}
    hits = _ask(index, words, vectors, figures)
    truth = np.load(folder / f"truth-{count}.npy")
    found = [[number_of(hit.id) for hit in one] for one in hits]
    shares = [len(set(f) & set(t)) / K for f, t in zip(found, truth.tolist(), strict=True)]
    _write(
        folder / "serve.json",
        **figures,
        recall=float(np.mean(shares)),
        recall_error=float(1.96 * np.std(shares, ddof=1) / np.sqrt(len(shares))),
        serve_mb=memory("VmRSS"),
        serve_own_mb=memory("RssAnon") - empty,
    )


def _ask(index: LocalCollection, words: list[str], vectors: Vectors, figures: dict[str, float]) -> list[list[Hit]]:
    """Ask in every way, and put the times among the figures; gives the answers by vector.

    Times are the processor's, which a busy machine changes little; what a caller waited is beside them.
    """

    def hybrid(n: int, where: Filter | None) -> list[Hit]:
        return index.search_hybrid(words[n], vectors[n], K, where, pool=POOL, rrf_k=RRF_K)

    ways: dict[str, Callable[[int], list[Hit]]] = {
        "words": lambda n: index.search_text(words[n], K),
        "vector": lambda n: index.search_vectors(vectors[n][None], K)[0],
        "hybrid": lambda n: hybrid(n, None),
        "recent": lambda n: hybrid(n, RECENT),
        "rare": lambda n: hybrid(n, RARE),
    }
    answers = []
    for way, ask in ways.items():
        for n in range(len(words)):  # the first reading from disk is not the search's own time
            ask(n)
        milliseconds, waited = [], []
        for n in range(len(words)):
            started, busy = time.perf_counter(), time.process_time()
            found = ask(n)
            milliseconds.append((time.process_time() - busy) * 1000)
            waited.append((time.perf_counter() - started) * 1000)
            if way == "vector":
                answers.append(found)
            if len(found) < K and way != "words":
                figures[f"{way}_short"] = figures.get(f"{way}_short", 0) + 1
        figures[f"{way}_p50_ms"] = float(np.median(milliseconds))
        figures[f"{way}_p95_ms"] = float(np.percentile(milliseconds, 95))
        figures[f"{way}_waited_p50_ms"] = float(np.median(waited))
        figures[f"{way}_waited_p95_ms"] = float(np.percentile(waited, 95))
    return answers


@contextlib.contextmanager
def watched() -> Iterator[list[float]]:
    """The highest memory of this process's own in MB, files that are mapped left out, ten times a second."""
    highest, over = [0.0], threading.Event()

    def look() -> None:
        while not over.wait(0.1):
            highest[0] = max(highest[0], memory("RssAnon"))

    looking = threading.Thread(target=look)
    looking.start()
    try:
        yield highest
    finally:
        over.set()
        looking.join()
        highest[0] = max(highest[0], memory("RssAnon"))


def _collection(folder: Path) -> Collection:
    return Collection(Correlated.fit(np.load(folder / REAL), DIMENSION))


def _timed(
    read: Callable[[], tuple[Sequence[Entry], Vectors]], seconds: list[float]
) -> Callable[[], tuple[Sequence[Entry], Vectors]]:
    """The same reading, whose time is added up: of the clock, and of the processor."""

    def timed() -> tuple[Sequence[Entry], Vectors]:
        started, busy = time.perf_counter(), time.process_time()
        part = read()
        seconds[0] += time.perf_counter() - started
        seconds[1] += time.process_time() - busy
        return part

    return timed


def _write(file: Path, **figures: float) -> None:
    write_atomic(file, json.dumps(figures).encode())


def _say(step: str, done: int, of: int) -> None:
    sys.stderr.write(f"\r{step} {done} of {of}   ")
