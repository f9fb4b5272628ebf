"""What all benchmarks share: figures and how they are told, clocks, looks at memory, work in a process of its own."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, TypeVar

import yaml
from pydantic import BaseModel

from agent.settings import Settings, load_settings
from evals.commands import write_json
from prompts.errors import DataError, InputError

T = TypeVar("T")
QUESTIONS = Path(__file__).parent / "questions.yaml"
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
CHILD = """
import importlib, json, os, sys
out = os.dup(1)
os.dup2(2, 1)  # what is printed on the way is no result
module, name = sys.argv[1].split(":")
found = getattr(importlib.import_module(module), name)(*json.loads(sys.argv[2]))
os.write(out, json.dumps(found).encode())
"""


class Figure(BaseModel):
    """One measured figure; ``asked`` is the bound it is held to, where there is one."""

    name: str
    value: float
    unit: str
    n: int
    asked: str = ""


Row = tuple[str, float, str] | tuple[str, float, str, str]


def figures_of(prefix: str, n: int, *rows: Row) -> list[Figure]:
    """Figures that rest on as many observations, from (name, value, unit) or (name, value, unit, asked)."""
    return [
        Figure(name=prefix + name, value=value, unit=unit, n=n, asked=asked[0] if asked else "")
        for name, value, unit, *asked in rows
    ]


def late(values: Sequence[float]) -> float:
    """The 95th percentile; of nothing, 0."""
    ordered = sorted(values) or [0.0]
    return ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]


def report(figures: Sequence[Figure], json_file: Path | None = None) -> None:
    """Print a table of figures, and write them as JSON where asked."""
    from rich.table import Table

    from agent.cli.console import WideConsole

    table = Table("figure", "value", "asked", "n", title="anamnesis dev bench", title_justify="left")
    for figure in figures:
        table.add_row(figure.name, f"{figure.value:.2f} {figure.unit}", figure.asked, str(figure.n))
    WideConsole().print(table)
    write_json(json_file, [figure.model_dump() for figure in figures])


def told(step: str, done: int, of: int) -> None:
    """Progress, on one line of standard error."""
    sys.stderr.write(f"\r{step} {done} of {of}   ")


def local_settings(**given: Any) -> Settings:
    """Settings of this machine alone: the user's file left out, no model, no live access, no mirror, no source."""
    given.setdefault("knowledge", {"search": "none"})
    literature = {"live": "off", "mirror": None, **given.pop("literature", {})}
    return load_settings(config="", model="", literature=literature, **given).without_models()


def mixed_questions(count: int | None = None) -> list[dict[str, Any]]:
    """The first ``count`` of the 50 mixed questions that ship: text, kind, options of those that have them."""
    rows: list[dict[str, Any]] = yaml.safe_load(QUESTIONS.read_text(encoding="utf-8"))
    return rows[:count]


@dataclass
class Spent:
    """Seconds of the clock, and of this process's processors, all threads together."""

    clock: float = 0.0
    processor: float = 0.0

    @contextmanager
    def more(self) -> Iterator[None]:
        """What is done inside is added."""
        clock, processor = time.perf_counter(), time.process_time()
        try:
            yield
        finally:
            self.clock += time.perf_counter() - clock
            self.processor += time.process_time() - processor


def spent(work: Callable[[], object]) -> Spent:
    """What a piece of work takes."""
    took = Spent()
    with took.more():
        work()
    return took


def memory(field: str) -> float:
    """A field of this process's memory in MB (``VmRSS``, ``RssAnon``, ``VmHWM``), 0 where the system does not tell."""
    path = Path("/proc/self/status")
    lines = path.read_text(encoding="ascii").splitlines() if path.is_file() else []
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(f"{field}:")), 0.0)


@contextmanager
def looking(look: Callable[[], T], every: float) -> Iterator[list[T]]:
    """What ``look`` gives at once, every so many seconds from then on, and at the end, from a thread of its own.

    Raises:
        Exception: what ``look`` failed with.
    """
    seen = [look()]
    over = threading.Event()

    def often() -> None:
        while not over.wait(every):
            seen.append(look())

    with ThreadPoolExecutor(1) as pool:
        watch = pool.submit(often)
        try:
            yield seen
        finally:
            over.set()
        watch.result()
        seen.append(look())


def start_child(function: str, *arguments: object) -> subprocess.Popen[bytes]:
    """Call ``module:function`` in a new process with one thread a library; both its input and result are JSON."""
    command = [sys.executable, "-c", CHILD, function, json.dumps(arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, **dict.fromkeys(THREADS, "1")})  # noqa: S603


def result_of(child: subprocess.Popen[bytes]) -> Any:
    """What a child's function gave, once it has ended; raises DataError where it failed."""
    out, _ = child.communicate()
    if child.returncode:
        raise DataError(f"A process of the benchmark ended with {child.returncode}.", "Look at its output above.")
    return json.loads(out)


def in_child(function: str, *arguments: object) -> Any:
    """Call ``module:function`` in a process of its own, so that memory and times are its own, and wait for it."""
    return result_of(start_child(function, *arguments))


@contextmanager
def built_homes(count: int) -> Iterator[tuple[Path, ...]]:
    """So many data folders with what set-up built in the configured one, gone afterwards.

    Raises:
        InputError: nothing was built yet.
    """
    built = load_settings(config="").home
    if not (built / "indexes").is_dir():
        raise InputError(f"Nothing is built in {built}.", "Run `anamnesis setup` first.")
    with TemporaryDirectory(prefix="anamnesis-bench-") as folder:
        homes = tuple(Path(folder) / f"home{n}" for n in range(1, count + 1))
        for home in homes:
            for name in ("indexes", "cache"):
                if (built / name).is_dir():
                    shutil.copytree(built / name, home / name, ignore=_generated)
            if (built / "encoder.json").is_file():
                shutil.copy(built / "encoder.json", home)
        yield homes


def _generated(folder: str, names: list[str]) -> list[str]:
    """The questions that were generated for documents: figures do not depend on whether somebody built them."""
    if Path(folder).name != "indexes":  # the library's own lie deeper, in a folder of that name
        return []
    return [name for name in names if name == "questions" or name.startswith("questions.")]


# Panels of lines as SVG, two side by side, on linear or on logarithmic axes.

WIDTH, HEIGHT, EDGE = 360, 250, 52  # ours: pixels of a panel, and of its margin
COLOURS = ("#1b6ca8", "#c2571a", "#3a7d44")  # ours: told apart without colour sight too, with the dashes
DASHES = ("none", "6 3", "2 2")
Point = tuple[float, float]


class Panel(NamedTuple):
    """One panel: its title with the unit, what the horizontal axis counts, and its lines by name."""

    title: str
    along: str
    lines: Mapping[str, Sequence[Point]]
    logarithmic: bool = False


def drawn(title: str, panels: Sequence[Panel]) -> str:
    """The picture."""
    wide, tall = min(2, len(panels)) * WIDTH, -(-len(panels) // 2) * HEIGHT
    parts = [
        f'<g transform="translate({n % 2 * WIDTH},{n // 2 * HEIGHT})">{_panel(p)}</g>' for n, p in enumerate(panels)
    ]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {tall}" font-family="sans-serif" font-size="11"'
    )
    return "\n".join(
        [
            f'{head} role="img">',
            f"<title>{title}</title>",
            '<rect width="100%" height="100%" fill="white"/>',
            *parts,
            "</svg>",
            "",
        ]
    )


def _panel(panel: Panel) -> str:
    points = [point for line in panel.lines.values() for point in line] or [(1.0, 1.0)]
    across, up = [x for x, _ in points], [y for _, y in points]
    if panel.logarithmic:
        low, high = 10.0 ** math.floor(math.log10(min(up))), 10.0 ** math.ceil(math.log10(max(up)))
        rows = [10.0**power for power in range(round(math.log10(low)), round(math.log10(high)) + 1)]
    else:
        low, high = 0.0, max(up)
        rows = [high * part / 4 for part in range(5)]
    columns = sorted(set(across)) if panel.logarithmic else [max(across)]

    def share(value: float, least: float, most: float) -> float:
        if panel.logarithmic:
            value, least, most = math.log10(value), math.log10(least), math.log10(most)
        return (value - least) / (most - least) if most > least else 0.0

    def x(value: float) -> float:
        return round(EDGE + (WIDTH - 2 * EDGE) * share(value, min(across), max(across)), 1)

    def y(value: float) -> float:
        return round(HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * share(value, low, high), 1)

    parts = [_text(EDGE, EDGE - 30, panel.title, "start"), _text(WIDTH / 2, HEIGHT - EDGE + 32, panel.along, "middle")]
    for row in rows:
        parts.append(f'<line x1="{EDGE}" x2="{WIDTH - EDGE}" y1="{y(row)}" y2="{y(row)}" stroke="#ddd"/>')
        parts.append(_text(EDGE - 6, y(row) + 4, f"{row:,.4g}", "end"))
    parts += [_text(x(value), HEIGHT - EDGE + 16, f"{value:,g}", "middle") for value in columns]
    for n, (name, line) in enumerate(panel.lines.items()):
        path = " ".join(f"{x(a)},{y(b)}" for a, b in line)
        style = f'fill="none" stroke="{COLOURS[n]}" stroke-width="1.5" stroke-dasharray="{DASHES[n]}"'
        left = EDGE + 100 * n
        parts.append(f'<polyline points="{path}" {style}/>')
        parts.append(f'<line x1="{left - 12}" x2="{left + 4}" y1="{EDGE - 15}" y2="{EDGE - 15}" {style}/>')
        parts.append(_text(left + 8, EDGE - 11, name, "start"))
    return "\n".join(parts)


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{text}</text>'
