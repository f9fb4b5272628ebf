"""Several indexes of answered questions searched as one: their words weigh alike, and each document comes once."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from tools.encoders import Encoder
from tools.indexes.lexical import Lexicon
from tools.library.search import lexical, wordings
from tools.questions.contract import IndexedHit
from tools.questions.index import AnsweredQuestions
from tools.text.tokens import tokens


class FoundIn(NamedTuple):
    """A hit, and the index that it is from."""

    source: AnsweredQuestions
    hit: IndexedHit


def search_together(indexes: Sequence[AnsweredQuestions], encoder: Encoder, question: str, k: int) -> list[FoundIn]:
    """At most k hits of each index, best first; of equal ones the newer, then the one that answers more questions.

    A document comes once, with its best hit. BM25 counts a word as rare as it is in all indexes together, and is a
    share of the best question of them all, so that scores of a small index and of a large one can be compared.

    Args:
        encoder: that of the indexes.
    """
    if not question.strip() or not indexes:
        return []
    vectors = encoder.encode_queries(wordings(question))
    asked = Counter(tokens(lexical(question)))
    every = [index.lexicon for index in indexes]
    words = [own.weighted(_weights(asked, own, every)) for own in every]
    most = max(float(of.max(initial=0.0)) for of in words)
    pairs = zip(indexes, words, strict=True)
    near = [index.candidates(vectors, of, most, k) for index, of in pairs]
    least = max((part.least for part in near if len(part.score)), default=0.0)
    found = [
        FoundIn(index, hit)
        for index, part in zip(indexes, near, strict=True)
        for hit in index.documents(part, k, least)
    ]
    found.sort(key=_order, reverse=True)  # stable: equal in all of it, they stay in the order of the indexes
    once: dict[str, FoundIn] = {}
    for each in found:
        once.setdefault(each.hit.document, each)
    return list(once.values())


def _order(found: FoundIn) -> tuple[float, str, int]:
    document = found.hit.document
    return found.hit.score, found.source.date_of(document), found.source.answered(document)


def _weights(asked: Counter[str], own: Lexicon, every: Sequence[Lexicon]) -> dict[str, float]:
    """For each token the factor by which its BM25 in one index becomes that of all of them."""
    count = sum(map(len, every))
    out = {}
    for token, times in asked.items():
        held = own.holding(token)
        if held:
            together = _rarity(sum(lexicon.holding(token) for lexicon in every), count)
            out[token] = times * together / _rarity(held, len(own))
    return out


def _rarity(held: int, count: int) -> float:
    """The weight of a token in BM25 (Robertson; Lucene's form, as `Lexicon` has it)."""
    return math.log(1 + (count - held + 0.5) / (held + 0.5))
