"""`anamnesis bench shelf`: what a question costs over thousands of a user's own documents, against one over none.

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

import yaml

from agent.agent import Agent
from agent.assembly import open_encoder
from agent.cli.bars import Advance, bars
from agent.sessions import Home
from evals.bench.figures import Figure, print_figures
from evals.bench.overhead import spent
from evals.bench.run import QUESTIONS
from evals.bench.server.part import Bench, Sizes, folders
from evals.datasets.literature import ABSTRACTS
from prompts.errors import InputError
from tools.files import write_atomic
from tools.library.adding import add
from tools.library.shelf import Shelf

WARM = 5  # ours: questions asked of both before any is measured


def bench_shelf(data: Path, documents: int, json_file: Path | None) -> None:
    """Put abstracts on a shelf, ask, print the figures, and write them where asked.

    Raises:
        InputError: the abstracts are not there, or nothing is built yet.
    """
    if not (data / ABSTRACTS).is_file():
        raise InputError(f"{data / ABSTRACTS} is not there.", "Name the folder of the evaluation data with --data.")
    with folders(Sizes(), "") as bench:
        with (data / ABSTRACTS).open(encoding="utf-8") as rows:
            file = own_file(bench.home, list(islice(rows, documents)))
        figures = [*_added(bench, file, documents), *_asked(bench)]
    print_figures(figures)
    if json_file is not None:
        write_atomic(json_file, (json.dumps([f.model_dump() for f in figures], indent=1) + "\n").encode())


def own_file(folder: Path, lines: list[str]) -> Path:
    """A file of own documents with the titles and texts of some abstracts."""
    file = folder / "abstracts.jsonl"
    told = enumerate(map(json.loads, lines))
    own = [{"id": f"d{n}", "title": row["title"], "text": row["abstract"]} for n, row in told]
    write_atomic(file, "".join(json.dumps(row) + "\n" for row in own).encode())
    return file


def _added(bench: Bench, file: Path, documents: int) -> list[Figure]:
    """What it takes to put the documents of a file on the shelf of the first folder."""
    home = Home(bench.home).prepare()
    with contextlib.closing(Shelf(home.library, open_encoder(bench.settings(), home))) as shelf, bars() as advance:
        took = spent(lambda: _put(shelf, file, advance))
        return [
            Figure(name="shelf.documents", value=len(shelf), unit="documents", n=documents),
            Figure(name="shelf.adding", value=1000 * took.processor / documents, unit="ms each", n=documents),
        ]


def _put(shelf: Shelf, file: Path, advance: Advance) -> None:
    def told(done: int, of: int, documents: int) -> None:
        advance("files", done, of, note=f"{documents:,} documents")

    add(shelf, [file], told)


def _asked(bench: Bench) -> list[Figure]:
    """Every question beside an empty shelf and beside the full one, in processor time."""
    questions = [row["text"] for row in yaml.safe_load(QUESTIONS.read_text(encoding="utf-8"))]
    full = bench.settings().model_copy(update={"home": bench.home})
    with Agent(bench.settings()) as none, Agent(full) as own:
        for question in questions[:WARM]:
            for agent in (none, own):
                agent.ask(question)
        first, again = (
            [tuple(spent(partial(agent.ask, q)).processor for agent in (none, own)) for q in questions]
            for _ in range(2)
        )
    return [*_compared("", first), *_compared("_again", again)]


def _compared(name: str, pairs: Sequence[tuple[float, ...]]) -> list[Figure]:
    plain, over = (sorted(pair[at] for pair in pairs) for at in (0, 1))
    n, ratio = len(pairs), statistics.median(b / a for a, b in pairs)
    return [
        Figure(name=f"shelf.question_ratio{name}", value=ratio, unit="times, median", n=n, asked="at most 1.5"),
        Figure(name=f"shelf.questions_ratio{name}", value=sum(over) / sum(plain), unit="times, all together", n=n),
        Figure(name=f"shelf.question_without{name}", value=1000 * statistics.median(plain), unit="ms", n=n),
        Figure(name=f"shelf.question_with{name}", value=1000 * statistics.median(over), unit="ms", n=n),
    ]
