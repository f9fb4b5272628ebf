"""`anamnesis dev bench passages`: SEOS over every full text and abstract, its time and memory."""

from __future__ import annotations

import random
import statistics
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated

import typer
from pydantic import BaseModel

from evals.bench.commands import Data
from evals.bench.frame import Figure, Spent, figures_of, memory
from evals.bench.made_up import HashEncoder
from evals.datasets.literature import ABSTRACTS
from evals.datasets.rows import read_jsonl
from prompts.errors import DataError
from tools.encoders import Encoder, MiniLMEncoder, Vectors
from tools.passages.contract import Passage, StoredDocument
from tools.passages.seos import SPECIAL, segment
from tools.passages.units import HEADING
from tools.readers.contract import Record
from tools.readers.reading import read

FULL_TEXTS = "fulltext/nxml"


class _Row(BaseModel):
    pmid: str
    title: str | None
    abstract: str


class Metered(HashEncoder):
    """An encoder that adds up what its own work takes.

    Args:
        encoder: counts the tokens. quick: vectors are hashed, which is all that offsets and sizes depend on.
    """

    def __init__(self, encoder: Encoder, *, quick: bool = False) -> None:
        super().__init__(8 if quick else encoder.dimension)
        self.limit, self._encoder, self._quick = encoder.limit, encoder, quick
        self.encoding, self.counting = Spent(), Spent()

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Array (len(texts), dimension)."""
        with self.encoding.more():
            return super().encode_documents(texts) if self._quick else self._encoder.encode_documents(texts)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text."""
        with self.counting.more():
            return self._encoder.count_tokens(texts)


def measure(
    data: Data,
    sample: Annotated[int, typer.Option(min=1, help="Full texts that are cut with the real encoder.")] = 20,
) -> list[Figure]:
    """All figures."""
    encoder = MiniLMEncoder(bf16=None)
    return [*every_text(data, encoder), *times(data, encoder, sample)]


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


def every_text(data: Path, encoder: Encoder) -> list[Figure]:
    """Offsets of every document, and memory over the documents: its slope after a quarter, when caches are full."""
    from tqdm import tqdm

    counting = Metered(encoder, quick=True)
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
        figures += figures_of("offsets.", total, (name, 100 * exact / total, "%", "100"))
    kept = marks[len(marks) // 4 :]
    if len(kept) > 1 and kept[-1][1]:
        slope = 1000 * statistics.linear_regression(*zip(*kept, strict=True)).slope
        rows = ("growth", slope, "MB/1,000 documents", "flat"), ("end", kept[-1][1], "MB")
        figures += figures_of("memory.", kept[-1][0], *rows)
    return figures


def times(data: Path, encoder: Encoder, sample: int) -> list[Figure]:
    """`segment` with the real encoder: encoding the sentences, counting tokens, and all beyond encoding."""
    documents = list(full_texts(data))
    chosen = random.Random(0).sample(documents, min(sample, len(documents)))  # noqa: S311 (a sample, not a secret)
    del documents
    segment(chosen[0], encoder)
    metered = Metered(encoder)
    whole, own = Spent(), metered.encoding
    with whole.more():
        cuts = [segment(document, metered) for document in chosen]
    n = len(chosen)
    exact = sum(is_exact(d, cut, encoder) for d, cut in zip(chosen, cuts, strict=True))
    return [
        *figures_of("offsets.", n, ("real_encoder", 100 * exact / n, "%", "100")),
        *figures_of(
            "seos.",
            n,
            ("encoding", own.clock / n, "s/document"),
            ("beyond_encoding", 100 * (whole.clock / own.clock - 1), "%", "at most 10"),
            ("beyond_encoding.processors", 100 * (whole.processor / own.processor - 1), "%"),
            ("counting_tokens", 100 * metered.counting.clock / own.clock, "%"),
        ),
    ]
