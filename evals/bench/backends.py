"""`anamnesis dev bench backends`: one collection in the local index and in Milvus: the same results, and the time."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import typer
from pydantic import BaseModel

from agent.assembly import open_encoder
from agent.sessions.home import Home
from agent.settings import Settings, load_settings
from evals.bench.frame import Figure, Row, figures_of, spent
from evals.commands import DataOption
from evals.contract import TaskContext
from evals.datasets.literature import read_abstracts
from evals.datasets.rows import read_jsonl
from evals.statistics import bootstrap_mean
from evals.tasks.literature import text_of, vectors_of
from tools.encoders import Vectors
from tools.fusion import RRF_K
from tools.indexes.backends import backend_for
from tools.indexes.contract import CollectionIndex, Entry, Filter, Hit, Part
from tools.indexes.milvus.backend import MilvusBackend
from tools.indexes.milvus.connection import Connection
from tools.indexes.milvus.index import MilvusIndex
from tools.reading.corpus import BIOASQ

NAME = "literature"
K, POOL = 10, 100  # ours: as asked; as many of each stream as the evaluation of the literature fuses
PART = 2000  # ours: rows a part
SEGMENTS = 3  # ours: from four on Milvus Lite puts them together
SEED = 0
WARM = 5  # ours: questions asked before the clock counts
FILTERS = {"all": None, "dates": Filter(since="2005-01-01", until="2014-12-31")}  # ours: admits about a third
Ask = Callable[[CollectionIndex, str, Vectors, Filter | None], list[Hit]]
WAYS: Mapping[str, Ask] = {
    "words": lambda index, text, _, where: index.search_text(text, K, where),
    "vector": lambda index, _, vector, where: index.search_vectors(vector[None], K, where)[0],
    "hybrid": lambda index, text, vector, where: index.search_hybrid(text, vector, K, where, pool=POOL, rrf_k=RRF_K),
}


class Collection(NamedTuple):
    """Rows, their vectors (n, dimension), questions, their vectors, and the encoder's name."""

    entries: list[Entry]
    vectors: Vectors
    questions: list[str]
    asked: Vectors
    encoder: str

    def rows(self, at: int, count: int) -> tuple[list[Entry], Vectors]:
        """So many rows from one on."""
        return self.entries[at : at + count], self.vectors[at : at + count]

    def parts(self) -> Iterator[Part]:
        """All rows."""
        for at in range(0, len(self.entries), PART):
            yield Part(name=f"rows-{at}", read=partial(self.rows, at, PART))


class _Question(BaseModel):
    question: str


def measure(
    data: DataOption,
    sample: Annotated[int, typer.Option(min=0, help="How many abstracts; 0 takes all.")] = 0,
    questions: Annotated[int, typer.Option(min=1, help="How many of BioASQ's questions.")] = 200,
) -> list[Figure]:
    """Build both, ask both. Milvus is at the address that is set, else embedded; what is built goes again."""
    settings = load_settings(config="")
    with tempfile.TemporaryDirectory(prefix="anamnesis-backends-") as folder:
        return compare(read(settings, data, sample, questions), settings, Path(folder))


def read(settings: Settings, data: Path, sample: int, questions: int) -> Collection:
    """Abstracts and questions, drawn by a seed, with their vectors."""
    documents = read_abstracts(data)
    context = TaskContext(data=data, limit=sample or len(documents), seed=SEED, settings=settings)
    documents = context.sample(documents)
    texts = context.sample_of([row.question for row in read_jsonl(data / BIOASQ, _Question)], questions)
    encoder = open_encoder(settings, Home(settings.home).prepare())
    try:
        vectors = vectors_of([text_of(d) for d in documents], encoder, context, "vectors")
        asked = encoder.encode_queries(texts)
    finally:
        encoder.close()
    entries = [
        Entry(
            id=f"pubmed:{d.pmid}",
            text=text_of(d),
            collection=NAME,
            kind="abstract",
            date=f"{d.year}-01-01" if d.year else "",
            language="en",
        )
        for d in documents
    ]
    return Collection(entries, vectors, texts, asked, encoder.name)


def compare(collection: Collection, settings: Settings, folder: Path) -> list[Figure]:
    """Build and ask both: how far their results agree, and the time."""
    figures: list[Figure] = []
    indexes: dict[str, CollectionIndex] = {}
    n, dimension = collection.vectors.shape
    with ExitStack() as stack:
        for name in ("local", "milvus"):
            backend = backend_for(settings.index.model_copy(update={"backend": name}), folder)
            if isinstance(backend, MilvusBackend):
                stack.callback(backend.close)
                stack.callback(backend.delete, NAME)
            given = {"encoder": collection.encoder, "dimension": dimension, "source": f"bench at {time.time_ns()}"}
            started = time.perf_counter()
            indexes[name] = backend.build(NAME, collection.parts(), **given)
            figures += figures_of("build.", n, (name, time.perf_counter() - started, "s"))
        for way, ask in WAYS.items():
            for admitted, where in FILTERS.items():
                figures += asked_of_both(f"{way}.{admitted}", collection, indexes, ask, where)
        if not settings.index.address:  # the embedded engine weighs words by segment, which is written at each flush
            connection = Connection.open(settings.index, folder / "engine")
            stack.callback(connection.close)
            index = MilvusIndex.create(connection, NAME, collection.encoder, dimension)
            for at in range(0, n, -(-n // SEGMENTS)):
                index.add(*collection.rows(at, -(-n // SEGMENTS)))
                index.flush()
            both = {**indexes, "milvus": index}
            figures += asked_of_both(f"words.{SEGMENTS}_segments", collection, both, WAYS["words"], None, asked="")
    return figures


def asked_of_both(
    name: str,
    collection: Collection,
    indexes: Mapping[str, CollectionIndex],
    ask: Ask,
    where: Filter | None,
    asked: str = "at least 0.95",
) -> list[Figure]:
    """Overlap of the two, and the latency of each; the questions go to both in turn."""
    found: dict[str, list[list[str]]] = {backend: [] for backend in indexes}
    times: dict[str, list[float]] = {backend: [] for backend in indexes}
    pairs = list(zip(collection.questions, collection.asked, strict=True))
    warm = min(WARM, len(pairs))
    for question, vector in [*pairs[:warm], *pairs]:
        for backend, index in indexes.items():
            took = spent(
                lambda: found[backend].append([hit.id for hit in ask(index, question, vector, where)])  # noqa: B023
            )
            times[backend].append(1000 * took.clock)
    both = list(zip(found["local"][warm:], found["milvus"][warm:], strict=True))
    shares = [overlap(a, b) for a, b in both]
    low, high = bootstrap_mean(shares, SEED)
    rows: list[Row] = [
        (f"overlap@{K}", float(np.mean(shares)), f"({low:.4f} to {high:.4f})", asked),
        ("same_order", 100 * sum(a == b for a, b in both) / len(both), "%"),
    ]
    for backend, values in times.items():
        rows += [(f"{backend}.p{at}", float(np.percentile(values[warm:], at)), "ms") for at in (50, 95)]
    return figures_of(f"{name}.", len(both), *rows)


def overlap(first: Sequence[str], second: Sequence[str]) -> float:
    """The share of ids that both hold, of the longer list; 1 when both are empty."""
    longest = max(len(first), len(second))
    return len(set(first) & set(second)) / longest if longest else 1.0
