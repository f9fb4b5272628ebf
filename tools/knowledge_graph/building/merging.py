"""Clusters of wordings that mean the same: complete linkage by cosine, with pairs that must never meet."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tools.encoders import Vectors
from tools.knowledge_graph.lexicon import characters, poles, qualities, words
from tools.text.language import HAN

CHUNK = 1024  # rows compared at once; ours: keeps the products small
# ours: words that make another disease or another finding of an otherwise equal name
_TELLING = frozenset(
    "acut chronic stabl unstabl primari secondari type i ii iii iv 1 2 3 4 viral bacteri fungal allerg benign malign "
    "upper lower anterior posterior intern extern left right gestat congenit recurr first second".split()
)


def telling(text: str) -> frozenset[str]:
    """The words of a name that may not differ between two names of one thing."""
    return frozenset(words(text)) & _TELLING


def may_meet(one: str, other: str) -> bool:
    """Whether two wordings may mean the same: no opposite ends, other qualities, or other telling words.

    The embedded encoder knows no Chinese: Chinese wordings are one only when their characters, letters and numbers
    are.
    """
    if HAN.search(one) or HAN.search(other):
        return characters(one) == characters(other) and set(words(one)) == set(words(other))
    first, second = words(one), words(other)
    if any(a * b < 0 for a, b in zip(poles(first), poles(second), strict=True)):
        return False
    for a, b in zip(qualities(first), qualities(second), strict=True):
        if any(a) and any(b) and not any(x and y for x, y in zip(a, b, strict=True)):
            return False
    return telling(one) == telling(other)


def near_pairs(vectors: Vectors, least: float) -> list[tuple[int, int, float]]:
    """Pairs (i < j, cosine) of rows of unit length with a cosine of at least ``least``, nearest first."""
    found: list[tuple[int, int, float]] = []
    for at in range(0, len(vectors), CHUNK):
        cosines = vectors[at : at + CHUNK] @ vectors.T
        for i, j in zip(*np.nonzero(cosines >= least), strict=True):
            if at + i < j:
                found.append((at + int(i), int(j), float(cosines[i, j])))
    return sorted(found, key=lambda p: (-p[2], p[0], p[1]))


def clusters(
    texts: Sequence[str],
    vectors: Vectors,
    least: float,
    allowed: Callable[[str, str], bool] = may_meet,
) -> list[list[int]]:
    """Positions of texts that are one, in order of first appearance.

    Nearest pairs are joined first, and two clusters only when every pair of them is near and allowed (complete
    linkage), so that no chain of half-likeness joins what is unlike.

    Args:
        texts: wordings, each once. vectors: array (len(texts), dimension), L2-normalised. least: cosine.
    """
    pairs = near_pairs(vectors, least)
    near = {(i, j) for i, j, _ in pairs}
    of = list(range(len(texts)))
    members = {i: [i] for i in of}
    for i, j, _ in pairs:
        a, b = of[i], of[j]
        if a == b or not _all_near(members[a], members[b], near, texts, allowed):
            continue
        for k in members[b]:
            of[k] = a
        members[a] += members.pop(b)
    return sorted((sorted(m) for m in members.values()), key=lambda m: m[0])


def _all_near(
    one: Sequence[int],
    other: Sequence[int],
    near: set[tuple[int, int]],
    texts: Sequence[str],
    allowed: Callable[[str, str], bool],
) -> bool:
    pairs = [(min(a, b), max(a, b)) for a in one for b in other]
    return all(p in near for p in pairs) and all(allowed(texts[a], texts[b]) for a, b in pairs)
