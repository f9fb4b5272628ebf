"""`anamnesis bench passages`: SEOS over every full text and abstract, its time and memory, and ICA-RAG's search."""

from __future__ import annotations

import json
import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from evals.bench.figures import Figure, print_figures
from evals.bench.serving import memory
from evals.datasets.literature import ABSTRACTS
from evals.datasets.medquad import read_pages
from evals.datasets.rows import read_jsonl
from prompts.errors import DataError
from tools.encoders import Encoder, MiniLMEncoder, Vectors
from tools.files import write_atomic
from tools.passages.chunk_counted import ChunkIndex
from tools.passages.contract import Passage, StoredDocument
from tools.passages.seos import SPECIAL, segment
from tools.passages.units import HEADING
from tools.readers.contract import Record
from tools.readers.reading import read
from tools.text.sentences import split_sentences

# ICA-RAG's search of a case of 30 sentences over all passages of MedQuAD, against a BM25 pass of the same queries.
UNITS = 30  # sentences of the case, as the figure is asked for
ROUNDS = 31  # of each search, in turn; the median counts
LENGTHS = range(40, 300)  # characters of a sentence that may stand in the case


def counted(data: Path, encoder: Encoder) -> list[Figure]:
    """The ratio, and both times; warm, with the sentences' words stemmed once before.

    One pass is `BatchedBM25.scores` of the same queries, their words included, without choosing the best: the least
    that any search must do.
    """
    pages = [StoredDocument(id=f"medquad:{n}", title=p.focus, text=p.text) for n, p in enumerate(read_pages(data))]
    index = ChunkIndex.of(pages, encoder)
    queries = _case(pages)
    units = [(query, "AB"[n % 2]) for n, query in enumerate(queries)]
    text = " ".join(queries)
    whole, one_pass = _medians(
        lambda: index.search(units, text), lambda: index.bm25.scores(index.query_tokens(queries))
    )
    n = len(index.chunks)
    return [
        Figure(name="chunk_counted.over_one_pass", value=whole / one_pass, unit="times", n=ROUNDS, asked="at most 2"),
        Figure(name="chunk_counted.search", value=whole * 1000, unit="ms", n=ROUNDS),
        Figure(name="chunk_counted.one_pass", value=one_pass * 1000, unit="ms", n=ROUNDS),
        Figure(name="chunk_counted.chunks", value=n, unit="chunks", n=len(pages)),
    ]


def _case(pages: list[StoredDocument]) -> list[str]:
    """Sentences of as many pages, drawn by a seed."""
    drawn = random.Random(0).sample(pages, len(pages))  # noqa: S311 (a sample, not a secret)
    sentences: list[str] = []
    for page in drawn:
        own = [s.of(page.text) for s in split_sentences(page.text) if s.end - s.start in LENGTHS]
        sentences += own[:1]
        if len(sentences) == UNITS:
            return sentences
    raise DataError(f"The pages have fewer than {UNITS} sentences for a case.", "Restore medquad/pages.jsonl.")


def _medians(*searches: Callable[[], object]) -> list[float]:
    """Median seconds of each search, the rounds taken in turn so that a busy machine touches all alike."""
    seconds: list[list[float]] = [[] for _ in searches]
    for _ in range(ROUNDS + 1):
        for search, own in zip(searches, seconds, strict=True):
            started = time.perf_counter()
            search()
            own.append(time.perf_counter() - started)
    return [statistics.median(own[1:]) for own in seconds]


FULL_TEXTS = "fulltext/nxml"


def bench_passages(data: Path, sample: int, json_file: Path | None) -> None:
    """Measure, print the figures and write them where asked.

    Args:
        data: the folder with the data of the evaluations.
        sample: full texts that are cut with the real encoder.
    """
    encoder = MiniLMEncoder(bf16=None)
    figures = [*_every_text(data, encoder), *_time(data, encoder, sample), *counted(data, encoder)]
    print_figures(figures)
    if json_file is not None:
        write_atomic(json_file, (json.dumps([f.model_dump() for f in figures], indent=2) + "\n").encode())


class _Row(BaseModel):
    pmid: str
    title: str | None
    abstract: str


class HashedVectors:
    """The tokens of a real encoder with vectors from a text's bytes: all that offsets and sizes depend on, quickly."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self.name, self.dimension, self.limit = "hashed", 8, encoder.limit

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Array (len(texts), 8)."""
        return self.encode_documents(texts)

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Array (len(texts), 8)."""
        rows = [np.random.default_rng(len(t)).standard_normal(self.dimension) for t in texts]
        out = np.array(rows, dtype=np.float32).reshape(len(texts), self.dimension)
        vectors: Vectors = out / np.linalg.norm(out, axis=1, keepdims=True)
        return vectors

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """The real encoder's count."""
        return self._encoder.count_tokens(texts)


def full_texts(data: Path) -> Iterator[StoredDocument]:
    """The full texts that can be read, one at a time. Raises DataError when the folder is not there."""
    folder = data / FULL_TEXTS
    if not folder.is_dir():
        raise DataError(f"{FULL_TEXTS} is not in {data}.", "Give the folder with the data as --data.")
    for path in sorted(folder.iterdir()):
        for record in read(path):
            if isinstance(record, Record):
                yield StoredDocument(id=record.id, title=record.title, text=record.text)


def abstracts(data: Path) -> Iterator[StoredDocument]:
    """The abstracts; a record without one is passed over."""
    for row in read_jsonl(data / ABSTRACTS, _Row):
        if row.abstract:
            yield StoredDocument(id=f"pubmed:{row.pmid}", title=row.title or "", text=row.abstract)


def is_exact(document: StoredDocument, passages: Sequence[Passage], encoder: Encoder) -> bool:
    """Whether the passages hold every character but headings and white space once, in order, within the limit."""
    text = document.text
    cores = "".join(text[p.core_start : p.core_end] for p in passages)
    tiled = "".join(cores.split()) == "".join(HEADING.sub("", text).split())
    ordered = all(a.core_end <= b.core_start and a.core_start <= b.start <= b.core_start for a, b in pairwise(passages))
    trimmed = all(text[p.start : p.end] == text[p.start : p.end].strip() != "" for p in passages)
    counts = encoder.count_tokens([p.embedded_text(text) for p in passages]) if passages else []
    return tiled and ordered and trimmed and max(counts, default=0) <= encoder.limit - SPECIAL


def _every_text(data: Path, encoder: Encoder) -> list[Figure]:
    """Offsets of every document, and memory after a quarter of them and at the end."""
    from tqdm import tqdm

    counting = HashedVectors(encoder)
    figures: list[Figure] = []
    marks: list[tuple[int, float]] = []
    done = 0
    for name, documents in (("abstracts", abstracts(data)), ("full_texts", full_texts(data))):
        exact = total = 0
        for document in tqdm(documents, desc=name, unit=" documents"):
            exact += is_exact(document, segment(document, counting), counting)
            total += 1
            done += 1
            if done % 1000 == 0:
                marks.append((done, memory("RssAnon")))
        if not total:
            raise DataError(f"No {name} in {data} can be read.", "Restore the files, or give another folder as --data.")
        figures.append(Figure(name=f"offsets.{name}", value=100 * exact / total, unit="%", n=total, asked="100"))
    return [*figures, *_growth(marks)]


def _growth(marks: Sequence[tuple[int, float]]) -> list[Figure]:
    """Memory over the documents cut: the slope after the first quarter, when caches are full."""
    kept = list(marks[len(marks) // 4 :])
    if len(kept) < 2 or not kept[-1][1]:
        return []
    slope = float(np.polyfit([n for n, _ in kept], [mb for _, mb in kept], 1)[0])
    n = kept[-1][0]
    return [
        Figure(name="memory.growth", value=1000 * slope, unit="MB/1,000 documents", n=n, asked="flat"),
        Figure(name="memory.end", value=kept[-1][1], unit="MB", n=n),
    ]


class Metered:
    """An encoder that adds up its own seconds: of the clock, and of all processors together."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self.name, self.dimension, self.limit = encoder.name, encoder.dimension, encoder.limit
        self.encoding: NDArray[np.float64] = np.zeros(2)
        self.counting: NDArray[np.float64] = np.zeros(2)

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Array (len(texts), dimension); not measured."""
        return self._encoder.encode_queries(texts)

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Array (len(texts), dimension)."""
        started = _clocks()
        vectors = self._encoder.encode_documents(texts)
        self.encoding = self.encoding + _clocks() - started
        return vectors

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text."""
        started = _clocks()
        counts = self._encoder.count_tokens(texts)
        self.counting = self.counting + _clocks() - started
        return counts


def _time(data: Path, encoder: Encoder, sample: int) -> list[Figure]:
    """`segment` with the real encoder: encoding the sentences, counting tokens, and all beyond encoding."""
    documents = list(full_texts(data))
    chosen = random.Random(0).sample(documents, min(sample, len(documents)))  # noqa: S311 (a sample, not a secret)
    del documents
    segment(chosen[0], encoder)
    metered = Metered(encoder)
    started = _clocks()
    cuts = [segment(document, metered) for document in chosen]
    whole = _clocks() - started
    exact = sum(is_exact(d, cut, encoder) for d, cut in zip(chosen, cuts, strict=True))
    beyond = 100 * (whole - metered.encoding) / metered.encoding
    counting = 100 * metered.counting / metered.encoding
    n = len(chosen)
    return [
        Figure(name="offsets.real_encoder", value=100 * exact / n, unit="%", n=n, asked="100"),
        Figure(name="seos.encoding", value=metered.encoding[0] / n, unit="s/document", n=n),
        Figure(name="seos.beyond_encoding", value=beyond[0], unit="%", n=n, asked="at most 10"),
        Figure(name="seos.beyond_encoding.processors", value=beyond[1], unit="%", n=n),
        Figure(name="seos.counting_tokens", value=counting[0], unit="%", n=n),
    ]


def _clocks() -> NDArray[np.float64]:
    """Seconds of the clock, and of all processors."""
    return np.array([time.perf_counter(), time.process_time()])
