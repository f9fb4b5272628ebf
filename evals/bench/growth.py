"""`anamnesis dev bench growth`: made-up collections of growing size, what each costs, and the exponents of the growth.

The build and the serving of a size are processes of their own with one thread, so that their memory is their own.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from evals.bench.frame import (
    Figure,
    Panel,
    Spent,
    drawn,
    figures_of,
    in_child,
    looking,
    memory,
    report,
    spent,
    told,
)
from evals.bench.made_up import Correlated, Passages, number_of
from evals.commands import JsonFile, write_json
from tools.encoders import Vectors
from tools.files import named_file, write_atomic
from tools.indexes.backends import LocalBackend
from tools.indexes.contract import Entry, Hit, Part

SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
DIMENSION = 384  # code: the embedded encoder's
NAME, ENCODER = "made-up", "clustered"
QUESTIONS = 300  # ours: standard error of the recall about half a point; p95 from 15 values
K, POOL, RRF_K = 10, 100, 60  # ours: as the literature is searched
WAYS = {"words": "by words", "vector": "by vector", "hybrid": "hybrid", "recent": "hybrid, a quarter passes"}
WAYS |= {"rare": "hybrid, a hundredth passes"}
ROWS = {  # key: what it is, with its unit
    "build_s": "build, by the clock, s",
    "build_cpu_s": "build, of one core, s",
    "build_peak_mb": "peak memory of the build, mapped files too, MB",
    "build_peak_own_mb": "peak memory of the build, its own, MB",
    "disk_mb": "on disk, MB",
    "serve_mb": "resident memory after the searches, MB",
    "serve_own_mb": "of it the index's own, not of files, MB",
    "open_ms": "opening, ms",
    **{f"{key}_{p}_ms": f"{way}, {p}, ms" for key, way in WAYS.items() for p in ("p50", "p95")},
}
SHARES = {
    "disk_bytes_a_passage": "bytes a passage on disk",
    "disk_rows": "of them rows and texts",
    "disk_words": "of them words",
    "disk_vectors": "of them vectors",
    "recall": f"recall@{K} of vectors",
}
PANELS = {
    "Build (s)": {"build_s": "clock", "build_cpu_s": "one core"},
    "Disk and memory (MB)": {"disk_mb": "disk", "build_peak_mb": "build, peak", "serve_mb": "serving"},
    **{
        f"Search, {p} (ms)": {f"{way}_{p}_ms": way for way in ("words", "vector", "hybrid")}
        for p in ("p50", "p95")
    },
}  # fmt: skip
Measured = Mapping[int, Mapping[str, float]]


def command(
    sizes: Annotated[list[int] | None, typer.Option("--size", min=1000, help="Passages; may be given again.")] = None,
    folder: Annotated[Path | None, typer.Option(help="Where the collections lie while they are measured.")] = None,
    json_file: JsonFile = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the figures as SVG to this file.", callback=named_file)
    ] = None,
    table: Annotated[
        Path | None, typer.Option(help="Write a Markdown table to this file.", callback=named_file)
    ] = None,
) -> None:
    """Measure these sizes, print the figures, and write them, the plot and the table where asked."""
    measured: dict[int, dict[str, float]] = {}
    with tempfile.TemporaryDirectory(prefix="anamnesis-", dir=folder) as temporary:
        for size in sorted(set(sizes or SIZES)):
            measured[size] = measure(size, DIMENSION, Path(temporary))
            write_json(json_file, measured)  # after every size
    figures: list[Figure] = []
    for size, values in measured.items():
        for key, value in values.items():
            figures += figures_of(
                f"growth.{size}.", QUESTIONS if key.endswith(("p50_ms", "p95_ms")) else 1, (key, value, "")
            )
    report(figures)
    if table is not None:
        write_atomic(table, as_table(measured).encode())
    if plot is not None:
        write_atomic(plot, as_plot(measured).encode())


def measure(size: int, dimension: int, folder: Path) -> dict[str, float]:
    """Build a collection of this size, ask it, and remove it."""
    passages = collection(dimension, folder)
    words, vectors = passages.questions(QUESTIONS)
    (folder / "questions.json").write_text(json.dumps(words), encoding="utf-8")
    np.save(folder / "questions.npy", vectors, allow_pickle=False)
    told("exact search", 0, size)
    np.save(folder / f"truth-{size}.npy", passages.nearest(size, vectors, K), allow_pickle=False)
    del passages
    figures: dict[str, float] = {}
    for step in ("build", "serve"):
        figures |= in_child(f"evals.bench.growth:{step}", str(folder), size, dimension)
    shutil.rmtree(folder / NAME)
    return figures


def collection(dimension: int, folder: Path) -> Passages:
    """Passages whose vectors are as the embedded encoder spreads them; its own are kept in the folder."""
    real = folder / "real.npy"
    if not real.exists():
        np.save(real, Correlated.of_the_library(), allow_pickle=False)
    return Passages(Correlated.fit(np.load(real), dimension))


def build(folder: str, count: int, dimension: int) -> dict[str, float]:
    """Build the collection: time, memory and size; the time to draw it is left out."""
    passages = collection(dimension, Path(folder))
    start, drawing, took = memory("VmRSS"), Spent(), Spent()

    def timed(read: Callable[[], tuple[Sequence[Entry], Vectors]]) -> tuple[Sequence[Entry], Vectors]:
        with drawing.more():
            return read()

    parts = (Part(name=part.name, read=partial(timed, part.read)) for part in passages.parts(count))
    with looking(lambda: memory("RssAnon"), 0.1) as own, took.more():
        index = LocalBackend(Path(folder)).build(
            NAME, parts, encoder=ENCODER, dimension=dimension, source=f"{count} made-up passages", progress=told
        )
    size = Counter[str]()  # in the database, in vectors (a file, or a folder of the compressed index), and the rest
    place = Path(folder) / NAME
    for path in filter(Path.is_file, place.rglob("*")):
        vectors = path.suffix == ".f32" or "vectors" in path.relative_to(place).parts
        size["vectors" if vectors else path.name] += path.stat().st_size
    with index.store.read() as database:
        (words,) = database.execute("select sum(length(header) + length(lists)) from index_postings").fetchone()
    return {
        "build_s": took.clock - drawing.clock,
        "build_cpu_s": took.processor - drawing.processor,
        "build_peak_mb": memory("VmHWM"),
        "build_peak_own_mb": max(own),
        "build_start_mb": start,
        "disk_mb": size.total() / 1e6,
        "disk_bytes_a_passage": size.total() / count,
        "disk_rows": (size["index.sqlite"] - words) / count,
        "disk_words": words / count,
        "disk_vectors": size["vectors"] / count,
        "approximate": float(index.manifest.vectors != "exact"),
    }


def serve(folder: str, count: int, dimension: int) -> dict[str, float]:
    """Open the collection and ask every question alone: times, memory and recall.

    Times are the processor's, which a busy machine changes little; what a caller waited is beside them.
    """
    import faiss

    faiss.omp_set_num_threads(1)
    place = Path(folder)
    empty, opening = memory("RssAnon"), Spent()
    with opening.more():
        index = LocalBackend(place).open(NAME, encoder=ENCODER, dimension=dimension)
    figures = {"open_ms": 1000 * opening.clock}
    words, vectors = json.loads((place / "questions.json").read_bytes()), np.load(place / "questions.npy")

    def hybrid(n: int, where: Any = None) -> list[Hit]:
        return index.search_hybrid(words[n], vectors[n], K, where, pool=POOL, rrf_k=RRF_K)

    ways: dict[str, Callable[[int], list[Hit]]] = {
        "words": lambda n: index.search_text(words[n], K),
        "vector": lambda n: index.search_vectors(vectors[n][None], K)[0],
        "hybrid": hybrid,
        "recent": partial(hybrid, where=Passages.RECENT),
        "rare": partial(hybrid, where=Passages.RARE),
    }
    for way, ask in ways.items():
        found = [ask(n) for n in range(len(words))]  # the first reading from disk is not the search's own time
        times = [spent(partial(ask, n)) for n in range(len(words))]
        for p in (50, 95):
            figures[f"{way}_p{p}_ms"] = float(np.percentile([1000 * t.processor for t in times], p))
            figures[f"{way}_waited_p{p}_ms"] = float(np.percentile([1000 * t.clock for t in times], p))
        if way != "words":
            figures[f"{way}_short"] = sum(len(hits) < K for hits in found)
        if way == "vector":
            truth = np.load(place / f"truth-{count}.npy").tolist()
            shares = [len({number_of(hit.id) for hit in f} & set(t)) / K for f, t in zip(found, truth, strict=True)]
            figures["recall"] = float(np.mean(shares))
            figures["recall_error"] = float(1.96 * np.std(shares, ddof=1) / np.sqrt(len(shares)))
    return {**figures, "serve_mb": memory("VmRSS"), "serve_own_mb": memory("RssAnon") - empty}


def exponent(sizes: Sequence[int], values: Sequence[float]) -> tuple[float, float]:
    """Slope of the logarithms, and half the width of its 95 % interval (infinite with two points).

    It says by which power of the size a cost grows where it does so by one; the interval is wide where it does not.
    """
    from scipy.stats import linregress, t

    found = linregress(np.log(sizes), np.log(np.maximum(values, 1e-9)))
    half = float(found.stderr) * float(t.ppf(0.975, len(sizes) - 2)) if len(sizes) > 2 else float("inf")
    return float(found.slope), half


def as_table(measured: Measured) -> str:
    """The figures as Markdown: a column a size, the exponent of the last step, and that of all with its interval."""
    sizes = sorted(measured)
    lines = [
        "| figure | " + " | ".join(f"{size:,}" for size in sizes) + " | last step | exponent |",
        "| --- |" + " ---: |" * (len(sizes) + 2),
    ]
    for key, what in {**ROWS, **SHARES}.items():
        values = [measured[size][key] for size in sizes]
        ends = " | "
        if key in ROWS and len(sizes) > 1:
            slope, half = exponent(sizes, values)
            interval = f" ± {half:.2f}" if len(sizes) > 2 else ""
            ends = f"{exponent(sizes[-2:], values[-2:])[0]:.2f} | {slope:.2f}{interval}"
        shown = [
            f"{value:.3f}" if key == "recall" else f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
            for value in values
        ]
        lines.append(f"| {what} | " + " | ".join(shown) + f" | {ends} |")
    return "\n".join(lines) + "\n"


def as_plot(measured: Measured) -> str:
    """The figures as a picture."""
    panels = [
        Panel(
            title, "passages", {n: [(s, v[key]) for s, v in sorted(measured.items())] for key, n in lines.items()}, True
        )
        for title, lines in PANELS.items()
    ]
    return drawn("Cost of a collection on one machine as it grows", panels)
