"""The dense stream of CoMeta: the imported vectors of PubMed, searched by a question; its PMIDs join Adapt-E's."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from prompts.errors import DataError
from tools.encoders import MINILM, Encoder, Vectors, load_encoder
from tools.evidence import Frozen
from tools.fusion import RRF_K, Fused, reciprocal_rank_fusion
from tools.indexes.contract import Filter, Hit
from tools.indexes.generations import MANIFEST
from tools.indexes.large import LargeIndex, read_large_manifest
from tools.text.within_tokens import within_tokens

SPECIAL = 2  # code: BERT's [CLS] and [SEP]
Search = Callable[[Vectors, int], Sequence[Sequence[Hit]]]


@runtime_checkable
class CutsItsQueries(Protocol):
    """An encoder whose queries have a limit of their own."""

    def query_parts(self, text: str) -> list[str]:
        """The parts that the encoder reads whole."""


class DenseSearch(Frozen):
    """What a dense search did.

    Attributes:
        parts: the queries asked, in the order of the text; one when the encoder reads it whole.
        hits: ids best first. ``ranks`` of each says in which part's list it stood where (``part 1``, ...).
    """

    parts: tuple[str, ...]
    hits: tuple[Fused, ...]


def query_parts(encoder: Encoder, text: str) -> list[str]:
    """The text as parts that the encoder reads whole: MedCPT's query encoder 64 tokens, any other its limit."""
    if isinstance(encoder, CutsItsQueries):
        return encoder.query_parts(text)
    return [span.of(text) for span in within_tokens(text, encoder.limit - SPECIAL, encoder.count_tokens)] or [text]


def dense_search(encoder: Encoder, search: Search, text: str, k: int, rrf_k: int = RRF_K) -> DenseSearch:
    """The k nearest documents of a text, every part of it asked.

    Args:
        search: takes vectors (n, dimension) and k, gives k hits a row (an index's ``search_vectors``).
        rrf_k: constant of the fusion.
    """
    parts = query_parts(encoder, text)
    found = search(encoder.encode_queries(parts), k)
    streams = {f"part {n}": [hit.id for hit in hits] for n, hits in enumerate(found, 1)}
    return DenseSearch(parts=tuple(parts), hits=tuple(reciprocal_rank_fusion(streams, rrf_k)[:k]))


FOLDER = "pubmed-vectors"  # below the indexes of a data folder
MEDCPT_NAME = "MedCPT-"  # how `tools.encoders_on_disk.MedCPTEncoder` begins its name


class Vectored(Frozen):
    """Which vectors were searched: their encoder, how many there are, and the day the index was built."""

    encoder: str
    count: int
    built: str


class Nearest(Frozen):
    """What is near a question: PMIDs best first, and the vectors that were searched."""

    ids: tuple[str, ...]
    vectors: Vectored


class _Open(NamedTuple):
    vectors: LargeIndex
    encoder: Encoder


class ByMeaning:
    """The imported vectors with the encoder that made them. Both are opened at the first search; safe in threads.

    Args:
        folder: of the index that `anamnesis index embeddings import` writes.
        encoder: the encoder in use; it asks the questions when it made the vectors. Else the embedded one or MedCPT
            from the hub cache does, whichever made them.
    """

    def __init__(self, folder: Path, encoder: Encoder) -> None:
        self._folder, self._encoder = folder, encoder
        self._lock = threading.Lock()
        self._opened: _Open | None = None

    def nearest(self, question: str, k: int, rrf_k: int) -> Nearest:
        """The k nearest PMIDs; a question of several parts is asked part by part and the lists are fused.

        Raises:
            DataError: the index is damaged, or its encoder is not on this machine.
        """
        index, encoder = self._open()
        found = dense_search(encoder, index.search_vectors, question, k, rrf_k)
        made = Vectored(encoder=index.manifest.encoder, count=len(index), built=index.manifest.built[:10])
        return Nearest(ids=tuple(hit.id for hit in found.hits), vectors=made)

    def similarities(self, question: str, texts: dict[str, str]) -> dict[str, float]:
        """Cosine of the question's best part to each article, by PMID.

        Args:
            texts: title, line break and abstract by PMID; only those without an imported vector are encoded.
        """
        index, encoder = self._open()
        queries = encoder.encode_queries(query_parts(encoder, question))
        known: dict[str, float] = {}
        for hits in index.search_vectors(queries, len(texts), Filter(ids=tuple(texts))) if texts else []:
            known |= {hit.id: max(hit.score, known.get(hit.id, hit.score)) for hit in hits}
        missing = [pmid for pmid in texts if pmid not in known]
        vectors = encoder.encode_documents([texts[p] for p in missing]) if missing else None
        return known if vectors is None else known | dict(zip(missing, best_parts(vectors, queries), strict=True))

    def _open(self) -> _Open:
        with self._lock:
            if self._opened is None:
                manifest = read_large_manifest(self._folder, (self._folder / MANIFEST).read_bytes())
                encoder = _maker(manifest.encoder, self._encoder)
                index = LargeIndex.open(self._folder, manifest.encoder, encoder.dimension)
                self._opened = _Open(index, encoder)
            return self._opened


def imported(folder: Path, encoder: Encoder) -> ByMeaning | None:
    """The imported vectors of a folder, None where none were imported."""
    return ByMeaning(folder, encoder) if (folder / MANIFEST).is_file() else None


def question_similarities(encoder: Encoder, question: str, texts: dict[str, str]) -> dict[str, float]:
    """Cosine of the question's best part to each text, by key, with one encoder for both."""
    if not texts:
        return {}
    queries = encoder.encode_queries(query_parts(encoder, question))
    return dict(zip(texts, best_parts(encoder.encode_documents(list(texts.values())), queries), strict=True))


def best_parts(vectors: Vectors, queries: Vectors) -> Sequence[float]:
    """For each row of ``vectors`` (n, dimension) its highest cosine to a row of ``queries`` (parts, dimension)."""
    scores: Sequence[float] = np.asarray(vectors @ queries.T).max(axis=1).tolist()
    return scores


def _maker(name: str, encoder: Encoder) -> Encoder:
    """The encoder that made the vectors; raises DataError when it is not on this machine."""
    if encoder.name == name:
        return encoder
    found: Encoder | None = None
    if name == MINILM:
        found = load_encoder(MINILM)
    elif name.startswith(MEDCPT_NAME):
        found = load_encoder("medcpt")
    if found is None or found.name != name:
        raise DataError(
            f"The imported vectors of PubMed were made with {name}, which is not on this machine.",
            "Set ANAMNESIS_ENCODER to it, or import the vectors of an encoder that is here.",
        )
    return found
