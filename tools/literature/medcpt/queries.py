"""A narrative of any length as a dense search: one query a part, the lists fused by reciprocal rank."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

from tools.encoders import Encoder, Vectors
from tools.evidence import Frozen
from tools.fusion import RRF_K, Fused, reciprocal_rank_fusion
from tools.indexes.contract import Hit
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
