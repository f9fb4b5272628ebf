"""Pieces of one document side by side, as a model is shown them: they overlap, and a sentence is shown once."""

from __future__ import annotations

from collections.abc import Sequence

from tools.evidence import Evidence, EvidenceId
from tools.text.sentences import sentences


def without_repeats(documents: Sequence[Evidence]) -> list[Evidence]:
    """The documents, without those all of whose sentences stand in ones before."""
    fresh = each_once(documents, [range(1, len(sentences(d.text)) + 1) for d in documents])
    return [d for d, own in zip(documents, fresh, strict=True) if own]


def each_once(documents: Sequence[Evidence], numbers: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """Of each document those of its sentences, by number from 1, that no document before it shows."""
    known: set[tuple[str, int, int]] = set()
    out: list[tuple[int, ...]] = []
    for document, own in zip(documents, numbers, strict=True):
        spans, begin = sentences(document.text), EvidenceId.parse(document.id).start or 0
        places = {n: (document.document_id, begin + spans[n - 1].start, begin + spans[n - 1].end) for n in own}
        out.append(tuple(n for n in own if places[n] not in known))
        known.update(places.values())
    return out
