"""Both engines over the same files, the driver killed half way: publications a second, memory, what Ray adds."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, NamedTuple, Self

from evals.bench.corpus.driver import NAME
from evals.bench.corpus.publications import Publications
from evals.bench.figures import Figure, print_figures
from prompts.errors import DataError, InputError
from tools.corpus.folder import Folder
from tools.corpus.parts import MANIFEST
from tools.files import write_atomic

# The memory and the processor time of a process and all that it started.
EVERY = 1.0  # ours: seconds between two looks


class Family:
    """Samples the memory of a process with all that it started, in MB, and their processor time, while inside."""

    def __init__(self, pid: int) -> None:
        self._pid, self._end = pid, threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self.samples: list[float] = []
        self._spent: dict[int, float] = {}

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()

    @property
    def seconds(self) -> float:
        """Processor time of all, as far as it was seen: what a process spends after the last look is missing."""
        return sum(self._spent.values())

    @property
    def most(self) -> float:
        """The most at once."""
        return max(self.samples, default=0.0)

    @property
    def growth(self) -> float:
        """By how many per cent the most of the last tenth but one, when all still run, is above that of the second."""
        tenth = max(1, len(self.samples) // 10)
        early, late = self.samples[tenth : 2 * tenth], self.samples[-2 * tenth : -tenth]
        return 100 * (max(late) - max(early)) / max(early) if early and late else 0.0

    def _sample(self) -> None:
        import psutil

        while not self._end.wait(EVERY):
            total = 0
            try:
                family = [psutil.Process(self._pid), *psutil.Process(self._pid).children(recursive=True)]
            except psutil.Error:
                return
            for process in family:
                try:
                    total += process.memory_full_info().pss
                    times = process.cpu_times()
                    self._spent[process.pid] = times.user + times.system
                except psutil.Error:  # it has ended meanwhile
                    continue
            self.samples.append(total / 1e6)


OVERHEAD = "at most 1.5"
STARTER = Path(__file__).resolve().parents[3] / "tools" / "library" / "starter"


class Plan(NamedTuple):
    """How much is built, by how many processes, in which folder, and whether an index is made of it."""

    publications: int
    workers: int
    dimension: int
    block: int
    folder: Path
    indexed: bool


def bench_corpus(
    count: int, workers: int, dimension: int, block: int, folder: Path | None, json_file: Path | None, *, indexed: bool
) -> None:
    """Measure, print the figures and write them where asked.

    Args:
        count: publications. workers: processes that embed. block: records a part. folder: is used and kept; None
            takes a temporary one. indexed: make an index too, once.
    """
    if folder is not None and folder.exists() and any(folder.iterdir()):
        raise InputError(f"{folder} is not empty.", "Give a new folder: the builds are to be measured.")
    with tempfile.TemporaryDirectory(prefix="anamnesis-") as temporary:
        figures = measure(Plan(count, workers, dimension, block, folder or Path(temporary), indexed))
    print_figures(figures)
    if json_file is not None:
        write_atomic(json_file, (json.dumps([f.model_dump() for f in figures], indent=2) + "\n").encode())


def measure(plan: Plan) -> list[Figure]:
    """The figures of both engines."""
    source = plan.folder / "source"
    source.mkdir(parents=True, exist_ok=True)
    for path in Publications([p.read_text(encoding="utf-8") for p in sorted(STARTER.rglob("*.md"))]).files(
        source, plan.publications
    ):
        sys.stderr.write(f"\rmade {path.name}   ")
    runs = {engine: _killed_and_continued(plan, engine) for engine in ("local", "ray")}
    figures = [figure for engine, run in runs.items() for figure in _figures(plan, engine, run)]
    local, ray = runs["local"], runs["ray"]
    figures.append(_figure(plan, "ray.overhead", ray.seconds / local.seconds, "x of local", OVERHEAD))
    figures.append(_figure(plan, "ray.processor_overhead", ray.processor / local.processor, "x of local"))
    same = _contents(plan, "ray") == _contents(plan, "local")
    figures.append(_figure(plan, "engines.same_bytes", float(same), "of 1", "1"))
    if plan.indexed:
        done, memory = _finished(plan, "local", indexed=True)
        figures.append(_figure(plan, "index.seconds", done["rest"], "s"))
        figures.append(_figure(plan, "index.memory", memory.most, "MB of PSS"))
    return figures


class Run(NamedTuple):
    """A build whose driver was killed once, and which went on.

    Attributes:
        seconds: from each start to the kill or to the last part; processor: seconds of all processes.
        most, growth: memory of all processes, in MB, and by how many per cent it grew while the second driver worked.
        killed_at: parts that were there when the driver was killed. again: how many of these were made again.
        done: what the second driver told.
    """

    seconds: float
    processor: float
    most: float
    growth: float
    killed_at: int
    again: int
    done: dict[str, Any]


def _killed_and_continued(plan: Plan, engine: str) -> Run:
    parts = Folder(plan.folder / engine / "corpora", NAME).parts
    half = plan.publications // plan.block // 2
    began = time.time()
    process = _start(plan, engine)
    with Family(process.pid) as first:
        while len(_stamps(parts)) < half:
            if process.poll() is not None:
                raise DataError("The build ended before it could be killed.", "Give more publications.")
            time.sleep(EVERY / 2)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
    seconds = time.time() - began
    time.sleep(5 * EVERY)  # its workers end with it
    before = _stamps(parts)
    sys.stderr.write(f"\n{engine}: killed after {seconds:.0f} s with {len(before)} parts\n")
    done, second = _finished(plan, engine)
    after = _stamps(parts)
    return Run(
        seconds=seconds + done["start"] + done["survey"] + done["parts"],
        processor=first.seconds + second.seconds,
        most=max(first.most, second.most),
        growth=second.growth,
        killed_at=len(before),
        again=sum(after[name] != stamp for name, stamp in before.items()),
        done=done,
    )


def _figures(plan: Plan, engine: str, run: Run) -> list[Figure]:
    done, counts = run.done, run.done["counts"]
    left = str(done["all"] - run.killed_at)
    rows: list[tuple[str, float, str, str]] = [
        ("publications_a_second", plan.publications / run.seconds, "1/s", ""),
        ("publications_a_second_of_processor", plan.publications / run.processor, "1/s", ""),
        ("start", done["start"], "s", ""),
        ("memory_of_all", run.most, "MB of PSS", ""),
        ("memory_growth", run.growth, "% from the 2nd to the 9th tenth", ""),
        ("documents", counts["publications"], "documents", ""),
        ("passages", counts["passages"], "passages", ""),
        ("killed_at", run.killed_at, f"of {done['all']} parts", ""),
        ("made_after", done["made"], "parts", left),
        ("made_twice", run.again, "parts", "0"),
    ]
    return [_figure(plan, f"{engine}.{name}", value, unit, asked) for name, value, unit, asked in rows]


def _finished(plan: Plan, engine: str, *, indexed: bool = False) -> tuple[dict[str, Any], Family]:
    """A build that goes to its end: what its driver told, and what all processes took."""
    process = _start(plan, engine, indexed=indexed)
    with Family(process.pid) as memory:
        out, _ = process.communicate()
    if process.returncode:
        raise DataError(f"The build by {engine} ended with {process.returncode}.", "Look at its output above.")
    found: dict[str, Any] = json.loads(out)
    sys.stderr.write(f"{engine}: {found}\n")
    return found, memory


def _start(plan: Plan, engine: str, *, indexed: bool = False) -> subprocess.Popen[bytes]:
    (plan.folder / engine).mkdir(exist_ok=True)
    arguments = [str(plan.folder / engine), engine, str(plan.workers), str(plan.dimension), str(plan.block)]
    command = [sys.executable, "-m", "evals.bench.corpus.driver", *arguments, "index" if indexed else "read"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, env=os.environ | {"OMP_NUM_THREADS": "1"})  # noqa: S603


def _stamps(parts: Path) -> dict[str, int]:
    """The finished parts with the time at which each was written."""
    return {str(p.relative_to(parts)): p.stat().st_mtime_ns for p in parts.glob(f"??/*/{MANIFEST}")}


def _contents(plan: Plan, place: str) -> dict[str, bytes]:
    """What each part says of itself, the checksums of its files included."""
    parts = Folder(plan.folder / place / "corpora", NAME).parts
    return {name: (parts / name).read_bytes() for name in _stamps(parts)}


def _figure(plan: Plan, name: str, value: float, unit: str, asked: str = "") -> Figure:
    return Figure(name=f"corpus.{name}", value=value, unit=unit, n=plan.publications, asked=asked)
