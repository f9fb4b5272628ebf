"""`anamnesis dev bench knowledge`: thousands of labels made from real ones, imported, killed half way, gone on with.

Each label is one of the samples with its medicine named anew, so that it is of a medicine of its own; one in ten comes
again from a second maker. The encoder is replaced by words hashed into 64 columns: what is measured is reading,
checking, joining, cutting, indexing and searching.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from evals.bench.corpus import Run, stamps, watched
from evals.bench.frame import Figure, figures_of, start_child
from evals.bench.made_up import HashEncoder
from prompts.errors import InputError
from tools.knowledge.labels import objects_of

DIMENSION = 64
FILE = 5_000  # ours: labels a file; openFDA's bulk files have some 20,000
AGAIN = 10  # every tenth label comes from a second maker too
SYLLABLES = "ba de fi go lu ma ne pi ro su ta ve xi zo".split()
ASKED = 100  # searches, each for a section of one label


def measure(
    samples: Annotated[Path, typer.Option("--from", help="A folder of openFDA labels as JSON, in either form.")],
    labels: Annotated[int, typer.Option(min=100, help="How many are made of them.")] = 5_000,
) -> list[Figure]:
    """The figures of one import, whose first process is killed when half of the parts are there."""
    files = sorted(samples.rglob("*.json"))
    rows = [row for file in files for row in objects_of(file) if name_of(row)]
    if not rows:
        raise InputError(f"There is no label with a name in {samples}.", "Give openFDA's records.")
    with tempfile.TemporaryDirectory(prefix="anamnesis-") as temporary:
        folder = Path(temporary)
        size = write(rows, labels, folder / "source")
        parts = folder / "home" / "corpora" / "knowledge-openfda" / "parts"
        half = labels // 50 // 2  # agent.knowledge.BLOCK records a part, most parts are a little smaller
        first = watched(_start(folder), until=lambda: len(stamps(parts)) >= half)
        before, began = stamps(parts), time.time()
        sys.stderr.write(f"killed with {len(before)} parts\n")
        second, after = watched(_start(folder)), stamps(parts)
        told, seconds = second.told, time.time() - began
    return figures_of(
        "knowledge.",
        labels,
        ("source", size / 1e6, "MB"),
        ("read", told["read"], "s"),
        ("index", told["index"], "s"),
        ("resumed", seconds, "s from the second start to the end"),
        ("processor", first.processor + second.processor, "s of both processes"),
        ("memory", max(_memory(first, second)), "MB of PSS"),
        ("documents", told["documents"], "documents"),
        ("joined", told["joined"], "labels"),
        ("passages", told["passages"], "passages"),
        ("killed_at", len(before), f"of {len(after)} parts"),
        ("made_twice", sum(after.get(name) != stamp for name, stamp in before.items()), "parts", "0"),
        ("search", told["search"], "ms, median"),
    )


def name_of(row: dict[str, Any]) -> str:
    """The generic name of a record, "" where it has none."""
    about = row.get("openfda") or row.get("openfda_meta") or {}
    names = about.get("generic_name") or [""]
    return str(names[0])


def medicine(number: int) -> str:
    """A made-up name, another for each number up to 28,561 (13 to the fourth)."""
    digits = [number // len(SYLLABLES) ** place % len(SYLLABLES) for place in range(4)]
    return "".join(SYLLABLES[digit] for digit in digits) + "nex"


def made(rows: Sequence[dict[str, Any]], count: int) -> Iterator[dict[str, Any]]:
    """So many labels; the tenth of each ten is the ninth again, of another maker and a year earlier."""
    for number in range(count):
        again = number % AGAIN == AGAIN - 1
        row, name = rows[(number - again) % len(rows)], medicine(number - again)
        old = re.compile(re.escape(name_of(row).split()[0]), re.IGNORECASE)  # "amlodipine" of its besylate
        fields = row.get("sections") if isinstance(row.get("sections"), dict) else row
        texts = {k: v if isinstance(v, list) else [v] for k, v in (fields or {}).items() if isinstance(v, str | list)}
        about = {**(row.get("openfda") or row["openfda_meta"]), "generic_name": [name], "brand_name": [name]}
        yield {
            **{field: [old.sub(name, str(v)) for v in values] for field, values in texts.items()},
            "openfda": {**about, "substance_name": [name], "manufacturer_name": ["B" if again else "A"]},
            "set_id": f"{number:036}",
            "effective_time": "20230101" if again else "20240101",
        }


def write(rows: Sequence[dict[str, Any]], count: int, folder: Path) -> int:
    """Write the labels as bulk files; returns their bytes."""
    folder.mkdir()
    labels = made(rows, count)
    for number, first in enumerate(range(0, count, FILE)):
        with (folder / f"drug-label-{number:04}.json").open("w") as file:
            file.write('{"meta": {}, "results": [\n')
            for place in range(min(FILE, count - first)):
                file.write((",\n" if place else "") + json.dumps(next(labels)))
            file.write("]}")
    return sum(path.stat().st_size for path in folder.iterdir())


def _start(folder: Path) -> Any:
    return start_child("evals.bench.knowledge:drive", str(folder))


def _memory(*runs: Run) -> list[float]:
    return [mb for run in runs for mb in run.memory] or [0.0]


def drive(folder: str) -> dict[str, Any]:
    """Import in this process, then search."""
    import agent.corpus
    from agent.knowledge import add
    from agent.settings import load_settings
    from tools.corpus.collection import Corpus

    agent.corpus.encoder_maker = lambda settings, threads: partial(HashEncoder, DIMENSION)  # noqa: ARG005
    times: dict[str, list[float]] = {}
    settings = load_settings(config="", home=Path(folder) / "home", corpora=None)
    report = add(
        settings, "openfda", [Path(folder) / "source"], lambda step, *_: times.setdefault(step, []).append(time.time())
    )
    indexed = time.time()
    corpus = Corpus(
        agent.corpus.corpora_folder(settings),
        "knowledge-openfda",
        HashEncoder(DIMENSION),
        agent.corpus.backend(settings),
    )
    took = []
    for number in range(0, ASKED * AGAIN, AGAIN):
        began = time.perf_counter()
        corpus.search(f"contraindications of {medicine(number)}", 5)
        took.append(time.perf_counter() - began)
    return {
        "read": times["read"][-1] - times["read"][0],
        "index": indexed - times["parts"][-1],
        "documents": report.records,
        "joined": report.joined,
        "passages": corpus.standing.counts.passages,
        "search": 1000 * sorted(took)[len(took) // 2],
    }
