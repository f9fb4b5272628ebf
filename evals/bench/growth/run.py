"""Measure every size, and put the figures side by side, with the exponents by which they grow."""

from __future__ import annotations

import json
import math
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from evals.bench.correlated import Correlated
from evals.bench.figures import Figure, print_figures
from evals.bench.growth.children import NAME, QUESTIONS, REAL, K, in_child
from evals.bench.growth.collection import DIMENSION, Collection, truth
from evals.bench.vectors import real_vectors
from tools.files import write_atomic

# A figure of panels with logarithmic axes, as SVG.
WIDTH, HEIGHT, EDGE = 360, 250, 52  # ours: pixels of a panel, and of its margin
COLOURS = ("#1b6ca8", "#c2571a", "#3a7d44")  # ours: told apart also without colour sight, with the marks
MARKS = ("circle", "square", "diamond")


class Panel(NamedTuple):
    """One panel: title, unit, and its lines by key and name."""

    title: str
    unit: str
    lines: tuple[tuple[str, str], ...]


def drawn(measured: Mapping[int, Mapping[str, float]], panels: Sequence[Panel]) -> str:
    """The figure, two panels side by side; the horizontal axis is the number of passages."""
    rows = (len(panels) + 1) // 2
    box = f'xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * WIDTH} {rows * HEIGHT}"'
    parts = [
        f'<svg {box} font-family="sans-serif" font-size="11" role="img">',
        "<title>Cost of a collection on one machine as it grows</title>",
        f'<rect width="{2 * WIDTH}" height="{rows * HEIGHT}" fill="white"/>',
    ]
    for n, panel in enumerate(panels):
        parts.append(f'<g transform="translate({n % 2 * WIDTH},{n // 2 * HEIGHT})">')
        parts += _panel(measured, panel)
        parts.append("</g>")
    return "\n".join([*parts, "</svg>", ""])


def _panel(measured: Mapping[int, Mapping[str, float]], panel: Panel) -> list[str]:
    sizes = sorted(measured)
    values = [measured[size][key] for size in sizes for key, _ in panel.lines]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    first, last = math.log10(sizes[0]), math.log10(sizes[-1])
    wide, tall = WIDTH - 2 * EDGE, HEIGHT - 2 * EDGE

    def x(size: float) -> float:
        return EDGE + wide * (math.log10(size) - first) / max(last - first, 1e-9)

    def y(value: float) -> float:
        return HEIGHT - EDGE - tall * (math.log10(value) - low) / max(high - low, 1)

    parts = [f'<text x="{EDGE}" y="{EDGE - 30}" font-weight="bold">{panel.title} ({panel.unit})</text>']
    for power in range(low, high + 1):
        at = y(10**power)
        parts.append(f'<line x1="{EDGE}" x2="{WIDTH - EDGE}" y1="{at:.1f}" y2="{at:.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="{EDGE - 6}" y="{at + 4:.1f}" text-anchor="end">{10.0**power:,g}</text>')
    ticks = [(x(size), _short(size)) for size in sizes]
    parts += [f'<text x="{at:.1f}" y="{HEIGHT - EDGE + 16}" text-anchor="middle">{size}</text>' for at, size in ticks]
    parts.append(f'<text x="{WIDTH / 2:.0f}" y="{HEIGHT - EDGE + 32}" text-anchor="middle">passages</text>')
    for n, (key, name) in enumerate(panel.lines):
        points = [(x(size), y(measured[size][key])) for size in sizes]
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{COLOURS[n]}" stroke-width="1.5"/>')
        parts += [_mark(n, *point) for point in points]
        left = EDGE + 100 * n
        parts.append(_mark(n, left, EDGE - 15))
        parts.append(f'<text x="{left + 8}" y="{EDGE - 11}">{name}</text>')
    return parts


def _mark(n: int, x: float, y: float) -> str:
    colour = f'fill="{COLOURS[n]}"'
    if MARKS[n] == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" {colour}/>'
    turned = f' transform="rotate(45 {x:.1f} {y:.1f})"' if MARKS[n] == "diamond" else ""
    return f'<rect x="{x - 3:.1f}" y="{y - 3:.1f}" width="6" height="6" {colour}{turned}/>'


def _short(size: int) -> str:
    return f"{size / 1e6:g}M" if size >= 1e6 else f"{size / 1e3:g}k"


SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
ROWS = (  # key, what it is, unit
    ("build_s", "build, by the clock", "s"),
    ("build_cpu_s", "build, of one core", "s"),
    ("build_peak_mb", "peak memory of the build, mapped files too", "MB"),
    ("build_peak_own_mb", "peak memory of the build, its own", "MB"),
    ("disk_mb", "on disk", "MB"),
    ("serve_mb", "resident memory after the searches", "MB"),
    ("serve_own_mb", "of it the index's own, not of files", "MB"),
    ("open_ms", "opening", "ms"),
    ("words_p50_ms", "by words, p50", "ms"),
    ("words_p95_ms", "by words, p95", "ms"),
    ("vector_p50_ms", "by vector, p50", "ms"),
    ("vector_p95_ms", "by vector, p95", "ms"),
    ("hybrid_p50_ms", "hybrid, p50", "ms"),
    ("hybrid_p95_ms", "hybrid, p95", "ms"),
    ("recent_p50_ms", "hybrid, a quarter passes, p50", "ms"),
    ("recent_p95_ms", "hybrid, a quarter passes, p95", "ms"),
    ("rare_p50_ms", "hybrid, a hundredth passes, p50", "ms"),
    ("rare_p95_ms", "hybrid, a hundredth passes, p95", "ms"),
)
SHARES = (
    ("disk_bytes_a_passage", "bytes a passage on disk"),
    ("disk_rows", "of them rows and texts"),
    ("disk_words", "of them words"),
    ("disk_vectors", "of them vectors"),
    ("recall", f"recall@{K} of vectors"),
)
PANELS = (
    Panel("Build", "s", (("build_s", "clock"), ("build_cpu_s", "one core"))),
    Panel("Disk and memory", "MB", (("disk_mb", "disk"), ("build_peak_mb", "build, peak"), ("serve_mb", "serving"))),
    Panel("Search, p50", "ms", (("words_p50_ms", "words"), ("vector_p50_ms", "vector"), ("hybrid_p50_ms", "hybrid"))),
    Panel("Search, p95", "ms", (("words_p95_ms", "words"), ("vector_p95_ms", "vector"), ("hybrid_p95_ms", "hybrid"))),
)
Measured = dict[int, dict[str, float]]


def bench_growth(
    sizes: Sequence[int], folder: Path | None, json_file: Path | None, plot: Path | None, table: Path | None
) -> None:
    """Measure these sizes, print the figures, and write them, the plot and the table where asked.

    Args:
        folder: holds one collection at a time, removed when measured; None uses a temporary folder.
        json_file: gets what was measured so far after every size.
    """
    measured: Measured = {}
    with tempfile.TemporaryDirectory(prefix="anamnesis-", dir=folder) as temporary:
        for size in sorted(set(sizes)):
            measured[size] = measure(size, Path(temporary))
            if json_file is not None:
                write_atomic(json_file, (json.dumps(measured, indent=1) + "\n").encode())
    print_figures(
        [
            Figure(name=f"growth.{size}.{key}", value=value, unit="", n=QUESTIONS if "_p" in key else 1)
            for size, values in measured.items()
            for key, value in values.items()
        ]
    )
    if table is not None:
        write_atomic(table, as_table(measured).encode())
    if plot is not None:
        write_atomic(plot, drawn(measured, PANELS).encode())


def measure(size: int, folder: Path) -> dict[str, float]:
    """Build a collection of this size, ask it, and remove it."""
    if not (folder / REAL).exists():
        np.save(folder / REAL, real_vectors(), allow_pickle=False)
    collection = Collection(Correlated.fit(np.load(folder / REAL), DIMENSION))
    words, vectors = collection.questions(QUESTIONS)
    (folder / "questions.json").write_text(json.dumps(words), encoding="utf-8")
    np.save(folder / "questions.npy", vectors, allow_pickle=False)
    sys.stderr.write(f"\r{size}: exact search   ")
    np.save(folder / f"truth-{size}.npy", truth(collection, size, vectors, K), allow_pickle=False)
    del collection
    figures = in_child("build", folder, size) | in_child("serve", folder, size)
    shutil.rmtree(folder / NAME)
    return figures


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
    for key, what, unit in ROWS:
        values = [measured[size][key] for size in sizes]
        ends = " | "
        if len(sizes) > 1:
            slope, half = exponent(sizes, values)
            interval = f" ± {half:.2f}" if len(sizes) > 2 else ""
            ends = f"{exponent(sizes[-2:], values[-2:])[0]:.2f} | {slope:.2f}{interval}"
        lines.append(f"| {what}, {unit} | " + " | ".join(rounded(value) for value in values) + f" | {ends} |")
    for key, what in SHARES:
        values = [measured[size][key] for size in sizes]
        shown = [f"{value:.3f}" if key == "recall" else rounded(value) for value in values]
        lines.append(f"| {what} | " + " | ".join(shown) + " | | |")
    return "\n".join(lines) + "\n"


def rounded(value: float) -> str:
    """Three digits that count."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
