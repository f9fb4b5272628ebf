"""What an abstract costs until its passages are embedded: processor seconds, and how many passages it has."""

from __future__ import annotations

import resource
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from evals.bench.corpus.driver import Reading
from evals.bench.corpus.publications import Publications
from evals.bench.corpus.run import STARTER
from prompts.errors import InputError
from tools.corpus.building import Wanted, build
from tools.corpus.contract import Recipe
from tools.corpus.local_engine import LocalEngine
from tools.encoders import MiniLMEncoder

REAL = "literature/abstracts.jsonl"
FEW = 50  # abstracts of a first build, whose start-up is taken off the second's


def abstract_costs(count: int, data: Path | None) -> dict[str, Any]:
    """Two builds with the embedded encoder, without an index; the costs are of what the second has more.

    Args:
        count: abstracts of the second. data: the folder with the data, whose abstracts are taken; None makes some up,
            whose scrambled sentences are cut more often.
    """
    make = partial(MiniLMEncoder, bf16=False)
    encoder = make()
    few, _ = _built(FEW, data, make, encoder)
    many, rows = _built(count, data, make, encoder)
    return {
        "abstract_cpu": round((many - few) / (count - FEW), 5),
        "passages": round(rows / count, 3),
        "abstracts": count - FEW,
    }


def _source(folder: Path, count: int, data: Path | None) -> None:
    if data is None:
        texts = [path.read_text(encoding="utf-8") for path in sorted(STARTER.rglob("*.md"))]
        list(Publications(texts).files(folder, count))
        return
    found = data / REAL
    if not found.is_file():
        raise InputError(f"There is no {found}.", "Give the folder with the data, or none.")
    with found.open(encoding="utf-8") as file:
        (folder / "abstracts.jsonl").write_text("".join(islice(file, count)), encoding="utf-8")


def _built(count: int, data: Path | None, make: Any, encoder: MiniLMEncoder) -> tuple[float, int]:
    """Processor seconds of this process and its children, and rows."""
    with TemporaryDirectory(prefix="anamnesis-") as temporary:
        folder = Path(temporary)
        (folder / "source").mkdir()
        _source(folder / "source", count, data)
        recipe = Recipe(encoder=encoder.name, dimension=encoder.dimension, block=FEW)
        reading, before = Reading(), _processor()
        wanted = Wanted("sized", [folder / "source"], recipe)
        build(folder / "corpora", wanted, LocalEngine(1), make, reading)
        return _processor() - before, reading.rows


def _processor() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)
