"""`anamnesis dev bench corpus`: collections built by both engines from made-up records, each driver killed half way.

A build is a process of its own, which can be measured and killed: publications a second, memory, what Ray adds.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple, cast

import typer

from evals.bench.frame import Figure, figures_of, looking, result_of, start_child, told
from evals.bench.made_up import HashEncoder, Publications
from prompts.errors import DataError, InputError
from tools.corpus.building import Wanted, build
from tools.corpus.contract import Engine, RaySettings, Recipe
from tools.corpus.folder import Folder
from tools.corpus.local_engine import LocalEngine
from tools.corpus.parts import MANIFEST
from tools.indexes.contract import CollectionIndex, Part

NAME = "made-up"
EVERY = 1.0  # ours: seconds between two looks at a build's processes


class Reading:
    """In a backend's place: reads every part, checks it, and keeps nothing but the number of rows."""

    def __init__(self) -> None:
        self.rows = 0

    def build(self, name: str, parts: Iterable[Part], *, dimension: int, **about: object) -> CollectionIndex:
        """Read the parts; what is given back answers nothing."""
        del name, about
        for part in parts:
            entries, vectors = part.read()
            self.rows += len(entries)
            if vectors.shape != (len(entries), dimension):
                raise ValueError(f"{part.name} holds {vectors.shape}")
        return cast(CollectionIndex, None)

    def open(self, name: str, *, encoder: str, dimension: int) -> CollectionIndex:
        """There is never anything, so that every build reads the parts."""
        del encoder, dimension
        raise DataError(f"{name} was read and not kept.", "Build it.")

    def delete(self, name: str) -> bool:
        """Nothing."""
        del name
        return False


class Plan(NamedTuple):
    """How much is built, by how many processes, in which folder."""

    publications: int
    workers: int
    dimension: int
    block: int
    folder: Path

    def parts(self, engine: str) -> Path:
        """Where an engine's parts lie."""
        return Folder(self.folder / engine / "corpora", NAME).parts

    def figures(self, *rows: Any) -> list[Figure]:
        """Figures of all publications."""
        return figures_of("corpus.", self.publications, *rows)


class Run(NamedTuple):
    """A build: what its driver told, processor seconds of all its processes, and their memory in MB at each look."""

    told: dict[str, Any]
    processor: float
    memory: list[float]


def measure(
    publications: Annotated[int, typer.Option(min=1000, help="How many made-up publications.")] = 1_000_000,
    workers: Annotated[int, typer.Option(min=1, help="Processes that embed.")] = 2,
    dimension: Annotated[int, typer.Option(min=8, help="Columns of the vectors, which words are hashed into.")] = 64,
    block: Annotated[int, typer.Option(min=10, help="Records a part.")] = 2000,
    folder: Annotated[Path | None, typer.Option(help="Keep files and parts here; it must be new or empty.")] = None,
) -> list[Figure]:
    """The figures of both engines."""
    if folder is not None and folder.exists() and any(folder.iterdir()):
        raise InputError(f"{folder} is not empty.", "Give a new folder: the builds are to be measured.")
    with tempfile.TemporaryDirectory(prefix="anamnesis-") as temporary:
        plan = Plan(publications, workers, dimension, block, folder or Path(temporary))
        source = plan.folder / "source"
        source.mkdir(parents=True)
        for number, _ in enumerate(Publications.of_the_library().files(source, publications), 1):
            told("files", number, number)
        figures: list[Figure] = []
        took: dict[str, tuple[float, float]] = {}
        for engine in ("local", "ray"):
            took[engine], found = killed_and_continued(plan, engine)
            figures += found
        wall, processor = (ray / local for ray, local in zip(took["ray"], took["local"], strict=True))
        same = _contents(plan.parts("ray")) == _contents(plan.parts("local"))
        figures += plan.figures(
            ("ray.overhead", wall, "x of local", "at most 1.5"),
            ("ray.processor_overhead", processor, "x of local"),
            ("engines.same_bytes", float(same), "of 1", "1"),
        )
    return figures


def killed_and_continued(plan: Plan, engine: str) -> tuple[tuple[float, float], list[Figure]]:
    """A build whose driver is killed when half of the parts are there, and which goes on.

    Returns the seconds from each start to the kill or the last part, and of all processors; and the figures.
    """
    parts, half = plan.parts(engine), plan.publications // plan.block // 2
    began = time.time()
    driver = _start(plan, engine)
    first = watched(driver, until=lambda: len(stamps(parts)) >= half)
    seconds = time.time() - began
    time.sleep(5 * EVERY)  # its workers end with it
    before = stamps(parts)
    sys.stderr.write(f"\n{engine}: killed after {seconds:.0f} s with {len(before)} parts\n")
    second = watched(_start(plan, engine))
    done, counts, after = second.told, second.told["counts"], stamps(parts)
    seconds += done["start"] + done["survey"] + done["parts"]
    processor = first.processor + second.processor
    tenth = max(1, len(second.memory) // 10)
    early, late = (max(some, default=0.0) for some in (second.memory[tenth : 2 * tenth], second.memory[-2 * tenth :]))
    rows = [
        ("publications_a_second", plan.publications / seconds, "1/s"),
        ("publications_a_second_of_processor", plan.publications / processor, "1/s"),
        ("start", done["start"], "s"),
        ("memory_of_all", max(first.memory + second.memory), "MB of PSS"),
        ("memory_growth", 100 * (late / early - 1) if early else 0.0, "% from the second tenth"),
        ("documents", counts["publications"], "documents"),
        ("passages", counts["passages"], "passages"),
        ("killed_at", len(before), f"of {done['all']} parts"),
        ("made_after", done["made"], "parts", str(done["all"] - len(before))),
        ("made_twice", sum(after[name] != stamp for name, stamp in before.items()), "parts", "0"),
    ]
    return (seconds, processor), plan.figures(*((f"{engine}.{name}", *rest) for name, *rest in rows))


def _start(plan: Plan, engine: str) -> Any:
    (plan.folder / engine).mkdir(exist_ok=True)
    return start_child("evals.bench.corpus:drive", str(plan.folder), engine, plan.workers, plan.dimension, plan.block)


def watched(driver: Any, until: Callable[[], bool] | None = None) -> Run:
    """Follow a build to its end, or kill it (-9) when it is so far; what it spends after the last look is missing."""
    import psutil

    spent: dict[int, float] = {}

    def look() -> float:
        total = 0
        with contextlib.suppress(psutil.Error):  # it has ended meanwhile
            for process in (driver_process, *driver_process.children(recursive=True)):
                with contextlib.suppress(psutil.Error):
                    total += process.memory_full_info().pss
                    times = process.cpu_times()
                    spent[process.pid] = times.user + times.system
        return total / 1e6

    driver_process = psutil.Process(driver.pid)
    with looking(look, EVERY) as memory:
        if until is None:
            found = result_of(driver)
        else:
            while not until():
                if driver.poll() is not None:
                    raise DataError("The build ended before it could be killed.", "Give more publications.")
                time.sleep(EVERY / 2)
            driver.kill()
            driver.communicate()
            found = {}
    return Run(found, sum(spent.values()), [mb for mb in memory if mb])


def drive(folder: str, engine: str, workers: int, dimension: int, block: int) -> dict[str, Any]:
    """Build in this process: seconds of each step, parts made and there, counts."""
    began: dict[str, float] = {}
    ended: dict[str, float] = {}

    def progress(step: str, done: int, of: int) -> None:
        del done, of
        ended[step] = time.time()
        began.setdefault(step, ended[step])

    place = Path(folder) / engine
    encoder = partial(HashEncoder, dimension)
    wanted = Wanted(NAME, [Path(folder) / "source"], Recipe(encoder=encoder().name, dimension=dimension, block=block))
    start = time.time()
    with _engine(engine, workers) as running:
        ready = time.time()
        report = build(place / "corpora", wanted, running, encoder, Reading(), progress)
    return {
        "start": ready - start,
        "survey": began["parts"] - ready,
        "parts": ended["parts"] - began["parts"],
        "made": report.made,
        "all": report.parts,
        "counts": report.counts.model_dump(),
    }


@contextlib.contextmanager
def _engine(name: str, workers: int) -> Iterator[Engine]:
    if name == "local":
        yield LocalEngine(workers)
        return
    from tools.corpus.ray_engine import RayEngine

    with RayEngine(RaySettings(), workers) as engine:
        yield engine


def stamps(parts: Path) -> dict[str, int]:
    """The finished parts with the time at which each was written."""
    return {str(p.relative_to(parts)): p.stat().st_mtime_ns for p in parts.glob(f"??/*/{MANIFEST}")}


def _contents(parts: Path) -> dict[str, bytes]:
    """What each part says of itself, the checksums of its files included."""
    return {name: (parts / name).read_bytes() for name in stamps(parts)}
