"""`anamnesis bench backends`: one collection in the local index and in Milvus: the same results, and the time."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from pydantic import BaseModel

from agent.assembly import open_encoder
from agent.sessions.home import Home
from agent.settings import Settings, load_settings
from evals.bench.figures import Figure, print_figures
from evals.contract import TaskContext
from evals.datasets.literature import LiteratureDocument, read_abstracts
from evals.datasets.rows import read_jsonl
from evals.literature_collection import text_of, vectors_of
from evals.statistics import bootstrap_mean
from tools.encoders import Vectors
from tools.files import write_atomic
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
BACKENDS = ("local", "milvus")
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


class _Question(BaseModel):
    question: str


def bench_backends(data: Path, sample: int, questions: int, json_file: Path | None) -> None:
    """Build both, ask both, print the figures and write them where asked.

    The Milvus is the one whose address is set, else the embedded one; what is built lies in a temporary folder.

    Args:
        data: the folder with the data of the evaluations.
        sample: abstracts, drawn by a seed; 0 takes all. questions: of BioASQ, drawn by a seed.
    """
    settings = load_settings(config="")
    with tempfile.TemporaryDirectory(prefix="anamnesis-backends-") as folder:
        figures = measure(read(settings, data, sample, questions), settings, Path(folder))
    print_figures(figures)
    if json_file is not None:
        write_atomic(json_file, (json.dumps([f.model_dump() for f in figures], indent=2) + "\n").encode())


def read(settings: Settings, data: Path, sample: int, questions: int) -> Collection:
    """The abstracts and questions, with their vectors."""
    documents = read_abstracts(data)
    context = TaskContext(data=data, limit=sample or len(documents), seed=SEED, settings=settings)
    documents = context.sample(documents)
    texts = context.sample_of([row.question for row in read_jsonl(data / BIOASQ, _Question)], questions)
    encoder = open_encoder(settings, Home(settings.home).prepare())
    try:
        vectors, asked = vectors_of(documents, encoder, context), encoder.encode_queries(texts)
    finally:
        encoder.close()
    return Collection([_entry(d) for d in documents], vectors, texts, asked, encoder.name)


def measure(collection: Collection, settings: Settings, folder: Path) -> list[Figure]:
    """Build and ask both; how far their results agree."""
    with ExitStack() as stack:
        return _measure(collection, settings, folder, stack)


def _measure(collection: Collection, settings: Settings, folder: Path, stack: ExitStack) -> list[Figure]:
    figures: list[Figure] = []
    indexes: dict[str, CollectionIndex] = {}
    for name in BACKENDS:
        backend = backend_for(settings.index.model_copy(update={"backend": name}), folder)
        if isinstance(backend, MilvusBackend):
            stack.callback(backend.close)
            stack.callback(backend.delete, NAME)
        started = time.perf_counter()
        indexes[name] = backend.build(
            NAME,
            _parts(collection),
            encoder=collection.encoder,
            dimension=collection.vectors.shape[1],
            source=f"bench of {len(collection.entries)} at {time.time_ns()}",
        )
        seconds = time.perf_counter() - started
        figures.append(Figure(name=f"build.{name}", value=seconds, unit="s", n=len(collection.entries)))
    for way, ask in WAYS.items():
        for filtered, where in FILTERS.items():
            figures += _compared(f"{way}.{filtered}", collection, indexes, partial(_asked, ask, where))
    if not settings.index.address:
        indexes["milvus"] = _in_segments(collection, settings, folder, stack)
        words = partial(_asked, WAYS["words"], None)
        figures += _compared(f"words.{SEGMENTS}_segments", collection, indexes, words, asked="")
    return figures


def _in_segments(collection: Collection, settings: Settings, folder: Path, stack: ExitStack) -> MilvusIndex:
    """The same rows in the embedded engine, written to disk at several moments: it weighs words by segment."""
    connection = Connection.open(settings.index, folder / "engine")
    stack.callback(connection.close)
    index = MilvusIndex.create(connection, NAME, collection.encoder, collection.vectors.shape[1])
    size = -(-len(collection.entries) // SEGMENTS)
    for at in range(0, len(collection.entries), size):
        index.add(*_rows(collection, slice(at, at + size)))
        index.flush()
    return index


def _compared(
    name: str,
    collection: Collection,
    indexes: Mapping[str, CollectionIndex],
    ask: Callable[[CollectionIndex, str, Vectors], list[str]],
    asked: str = "at least 0.95",
) -> list[Figure]:
    """Overlap of the two, and the latency of each; the questions go to both in turn."""
    found: dict[str, list[list[str]]] = {backend: [] for backend in indexes}
    times: dict[str, list[float]] = {backend: [] for backend in indexes}
    pairs = list(zip(collection.questions, collection.asked, strict=True))
    for number, (question, vector) in enumerate([*pairs[:WARM], *pairs]):
        for backend, index in indexes.items():
            started = time.perf_counter()
            ids = ask(index, question, vector)
            if number >= min(WARM, len(pairs)):
                times[backend].append(1000 * (time.perf_counter() - started))
                found[backend].append(ids)
    shares = [overlap(a, b) for a, b in zip(found["local"], found["milvus"], strict=True)]
    low, high = bootstrap_mean(shares, SEED)
    n = len(shares)
    same = sum(a == b for a, b in zip(found["local"], found["milvus"], strict=True))
    return [
        Figure(
            name=f"{name}.overlap@{K}",
            value=float(np.mean(shares)),
            unit=f"({low:.4f} to {high:.4f})",
            n=n,
            asked=asked,
        ),
        Figure(name=f"{name}.same_order", value=100 * same / n, unit="%", n=n),
        *(
            Figure(name=f"{name}.{backend}.p{at}", value=float(np.percentile(values, at)), unit="ms", n=n)
            for backend, values in times.items()
            for at in (50, 95)
        ),
    ]


def overlap(first: Sequence[str], second: Sequence[str]) -> float:
    """The share of ids that both hold, of the longer list; 1 when both are empty."""
    longest = max(len(first), len(second))
    return len(set(first) & set(second)) / longest if longest else 1.0


def _asked(ask: Ask, where: Filter | None, index: CollectionIndex, question: str, vector: Vectors) -> list[str]:
    return [hit.id for hit in ask(index, question, vector, where)]


def _parts(collection: Collection) -> Iterator[Part]:
    for at in range(0, len(collection.entries), PART):
        rows = slice(at, at + PART)
        yield Part(name=f"rows-{at}", read=partial(_rows, collection, rows))


def _rows(collection: Collection, rows: slice) -> tuple[list[Entry], Vectors]:
    return collection.entries[rows], collection.vectors[rows]


def _entry(document: LiteratureDocument) -> Entry:
    date = f"{document.year}-01-01" if document.year else ""
    return Entry(
        id=f"pubmed:{document.pmid}", text=text_of(document), collection=NAME, kind="abstract", date=date, language="en"
    )
