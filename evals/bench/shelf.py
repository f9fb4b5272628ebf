"""`anamnesis dev bench shelf`: what a question costs over thousands of a user's own documents, against one over none.

Both agents live in this process, and each of the shipped questions is asked of both, one after the other, twice: at
first the sentences of what is found are embedded, which are remembered then, as those of the shipped library are
beforehand. The shelf's search by meaning looks at every vector: what it finds is what an exhaustive search finds.
"""

from __future__ import annotations

import contextlib
import json
import statistics
from collections.abc import Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from agent.agent import Agent
from agent.assembly import open_encoder
from agent.cli.bars import bars
from agent.sessions import Home
from evals.bench.frame import Figure, built_homes, figures_of, local_settings, mixed_questions, spent
from evals.commands import DataOption
from evals.datasets.literature import ABSTRACTS
from prompts.errors import InputError
from tools.files import write_atomic
from tools.library.adding import add
from tools.library.shelf import Shelf

WARM = 5  # ours: questions asked of both before any is measured


def measure(
    data: DataOption,
    documents: Annotated[int, typer.Option(min=1, help="How many abstracts.")] = 5000,
) -> list[Figure]:
    """Put abstracts on a shelf, and ask.

    Raises:
        InputError: the abstracts are not there, or nothing is built yet.
    """
    if not (data / ABSTRACTS).is_file():
        raise InputError(f"{data / ABSTRACTS} is not there.", "Name the folder of the evaluation data with --data.")
    with built_homes(2) as (full, none):
        with (data / ABSTRACTS).open(encoding="utf-8") as rows:
            file = own_file(full, list(islice(rows, documents)))
        return [*added(full, file, documents), *asked(full, none)]


def own_file(folder: Path, lines: list[str]) -> Path:
    """A file of own documents with the titles and texts of some abstracts."""
    file = folder / "abstracts.jsonl"
    rows = enumerate(map(json.loads, lines))
    own = [{"id": f"d{n}", "title": row["title"], "text": row["abstract"]} for n, row in rows]
    write_atomic(file, "".join(json.dumps(row) + "\n" for row in own).encode())
    return file


def added(folder: Path, file: Path, documents: int) -> list[Figure]:
    """What it takes to put the documents of a file on the shelf of a data folder."""
    home = Home(folder).prepare()
    encoder = open_encoder(local_settings(home=folder), home)
    with contextlib.closing(Shelf(home.library, encoder)) as shelf, bars() as advance:

        def told(done: int, of: int, documents: int) -> None:
            advance("files", done, of, note=f"{documents:,} documents")

        took = spent(lambda: add(shelf, [file], told))
        rows = ("documents", len(shelf), "documents"), ("adding", 1000 * took.processor / documents, "ms each")
        return figures_of("shelf.", documents, *rows)


def asked(full: Path, none: Path) -> list[Figure]:
    """Every question beside an empty shelf and beside the full one, in processor time."""
    texts = [row["text"] for row in mixed_questions()]
    given = {"database": None}
    with Agent(local_settings(home=none, **given)) as without, Agent(local_settings(home=full, **given)) as own:
        for text in texts[:WARM]:
            for agent in (without, own):
                agent.ask(text)
        first, again = (
            [tuple(spent(partial(agent.ask, text)).processor for agent in (without, own)) for text in texts]
            for _ in range(2)
        )
    return [*compare("", first), *compare("_again", again)]


def compare(name: str, pairs: Sequence[tuple[float, ...]]) -> list[Figure]:
    """Of the pairs without and with the documents, the median of ratios, and the ratio of sums."""
    plain, over = zip(*pairs, strict=True)
    return figures_of(
        "shelf.",
        len(pairs),
        (f"question_ratio{name}", statistics.median(b / a for a, b in pairs), "times, median", "at most 1.5"),
        (f"questions_ratio{name}", sum(over) / sum(plain), "times, all together"),
        (f"question_without{name}", 1000 * statistics.median(plain), "ms"),
        (f"question_with{name}", 1000 * statistics.median(over), "ms"),
    )
