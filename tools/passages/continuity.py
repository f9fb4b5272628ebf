"""The continuity curve of SEOS, and what a break costs at each gap (CoMeta)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tools.encoders import Encoder, Vectors
from tools.passages.units import Unit

WIDTH = 1.5  # ours: average passages that a window holds; see `windows_of`
NEAREST = 2  # ours: the narrowest window, in sentences; one sentence alone makes a jagged curve
NEW_PARAGRAPH = re.compile(r"\n")
TABLE_ROW = re.compile(r" \| ")


def windows_of(units: Sequence[Sequence[Unit]], partitions: Sequence[int], window: int | None) -> list[int]:
    """Sentences on each side of a gap, for each section: what is set, else one and a half average passages.

    The rule is ours: a narrow window sees changes within a passage, a very wide one blurs its ends. docs/passages.md
    has what was measured.
    """
    if window is not None:
        return [window] * len(units)
    return [max(NEAREST, round(WIDTH * len(part) / n)) for part, n in zip(units, partitions, strict=True)]


def continuity_curves(
    text: str, sections_units: Sequence[Sequence[Unit]], window: int | Sequence[int], encoder: Encoder
) -> list[Curve]:
    """The continuity curve of each section: cosine between the windows left and right of each gap.

    Args:
        sections_units: the units of each section; windows stay within their section.
        window: sentences on each side of a gap, for all sections or for each.

    Returns:
        One array (n - 1,) a section of n units, all sentences of the document encoded in one call. A window's vector
        is the mean of its sentences' vectors (ours): on the starter library it finds topic changes as well as windows
        that are encoded whole, at half the work, and the sentence vectors serve the quotes too.
    """
    flat = [text[u.start : u.end] for units in sections_units for u in units]
    if not flat:
        return [np.empty(0) for _ in sections_units]
    windows = [window] * len(sections_units) if isinstance(window, int) else window
    vectors = encoder.encode_documents(flat)
    cuts = np.cumsum([len(units) for units in sections_units])[:-1]
    return [continuity(part, wide) for part, wide in zip(np.split(vectors, cuts), windows, strict=True)]


def continuity(vectors: Vectors, window: int) -> Curve:
    """Cosine between the mean vectors left and right of each gap; (n, dimension) -> (max(0, n - 1),)."""
    n = len(vectors)
    if n < 2:
        return np.empty(0)
    totals = np.concatenate((np.zeros((1, vectors.shape[1])), np.cumsum(vectors, axis=0, dtype=np.float64)))
    gaps = np.arange(1, n)
    left = totals[gaps] - totals[np.maximum(0, gaps - window)]
    right = totals[np.minimum(n, gaps + window)] - totals[gaps]
    lengths = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    curve: Curve = np.einsum("ij,ij->i", left, right) / np.maximum(lengths, np.finfo(np.float64).tiny)
    return curve


def prices(text: str, units: Sequence[Unit], curve: Curve, *, paragraph: float, leaning: float) -> Curve:
    """What `seos` pays for a break at each gap (ours): continuity, less at a new paragraph, more before a sentence
    that leans on the one before it ("They should ...", "However, ...").

    Args:
        units: n units of a section. curve: (n - 1,) its continuity.
        paragraph, leaning: how much less and more, in units of the curve.
    """
    spread = float(curve.std()) if len(curve) else 0.0
    own = np.array([_paragraph(text, a, b) for a, b in pairwise(units)], dtype=np.float64)
    leans = np.array([leans_back(text[u.start : u.end]) for u in units[1:]], dtype=np.float64)
    return curve + spread * (leaning * leans - paragraph * own)


def _paragraph(text: str, before: Unit, after: Unit) -> bool:
    """Whether a paragraph begins at a gap; the rows of a table and the items of a list are no paragraphs."""
    if not NEW_PARAGRAPH.search(text, before.end, after.start) or LIST_ITEM.match(text, after.start):
        return False
    return not (TABLE_ROW.search(text, before.start, before.end) and TABLE_ROW.search(text, after.start, after.end))


# Recovering the passage that another one leans on: a pronoun without its noun, a contrast without its first half.

LEANS_BACK = re.compile(
    r"""(?:this|these|those|they|it|its|their|such|both|he|she|however|therefore|thus|hence|moreover|furthermore
    |instead|otherwise|nevertheless|similarly|conversely|also|but|in\ contrast|by\ contrast|as\ a\ result
    |in\ addition|on\ the\ other\ hand|the\ (?:former|latter|same|above)|as\ such|if\ (?:so|not)|thereafter
    |(?:in|for|of|among|with|after|from|under|by|during|without)\ (?:this|these|those|such|them|both))\b
    |这|该|此|其|它|他们|她们|然而|但|因此|所以|此外|同时|另外|相反|否则|上述|对此|对这|在这|对于[这此]""",
    re.IGNORECASE | re.VERBOSE,
)
LIST_ITEM = re.compile(r"(?:[-*•·]|\(?\d{1,2}[.)、]|\(?[a-z][.)])\s*\S")
LIST_START = re.compile(r"\(?[1a][.)、]", re.IGNORECASE)
BROKEN_OFF = re.compile(r"[:：,，;；]\s*$")


def leans_back(text: str) -> bool:
    """Whether a passage begins with a reference to what came before it, or in the middle of a list or sentence."""
    return bool(LEANS_BACK.match(text)) or continues(text)


def continues(text: str) -> bool:
    """Whether a passage begins in the middle of a list or of a sentence."""
    return (bool(LIST_ITEM.match(text)) and not LIST_START.match(text)) or text[:1].islower()


def leans_on_next(text: str) -> bool:
    """Whether a passage ends in the middle: with a colon before a list, or a clause that goes on."""
    return bool(BROKEN_OFF.search(text))


# Where SEOS breaks a text: the top minima of the continuity curve, or the same curve solved exactly under sizes.
# Source: CoMeta, section on semantic segmentation with overlap (SEOS). The paper gives the number of partitions N
# and takes the top semantic minima as the N - 1 breakpoints; the exact solution is ours.

Curve = NDArray[np.float64]  # (n - 1,): continuity across the gap after each unit but the last
Sizes = NDArray[np.int64]  # (n,): tokens of each unit


def top_minima(curve: Curve, count: int) -> list[int]:
    """The N - 1 lowest local minima as breakpoints (``seos_paper``), in order of place.

    Args:
        curve: (n - 1,) continuity of each gap; gap g lies before unit g + 1.
        count: N, the number of partitions wanted.

    Returns:
        Breakpoints b, each the index of the first unit of a partition. Where there are fewer local minima than
        N - 1, the lowest other gaps follow (ours).
    """
    padded = np.concatenate(([np.inf], curve, [np.inf]))
    minimum = (curve <= padded[:-2]) & (curve <= padded[2:])
    order = np.lexsort((np.arange(len(curve)), curve, ~minimum))
    return sorted(int(gap) + 1 for gap in order[: max(0, count - 1)])


def exact(curve: Curve, sizes: Sizes, count: int, smallest: int, largest: int) -> list[int]:
    """Breakpoints with the least total continuity, every partition within its sizes (``seos``).

    Args:
        curve: (n - 1,) continuity of each gap.
        sizes: (n,) tokens of each unit, none above ``largest``.
        count: N; more partitions are taken only when N cannot be had within the sizes.
        smallest, largest: tokens of a partition. ``smallest`` is halved, then given up, when no solution keeps it.
    """
    for least in (smallest, smallest // 2, 0):
        breaks = _solve(curve, sizes, count, least, largest)
        if breaks is not None:
            return breaks
    raise ValueError("a unit is larger than the largest partition")


def _solve(curve: Curve, sizes: Sizes, count: int, smallest: int, largest: int) -> list[int] | None:
    """Dynamic programming over (partitions, units), one vectorised step a partition; None when nothing fits."""
    n = len(sizes)
    totals = np.concatenate(([0], np.cumsum(sizes)))
    ends = np.arange(1, n + 1)
    low = np.searchsorted(totals, totals[ends] - largest, side="left")
    high = np.minimum(np.searchsorted(totals, totals[ends] - smallest, side="right") - 1, ends - 1)
    width = int((high - low).max()) + 1
    if width <= 0:
        return None
    starts = low[:, None] + np.arange(width)  # (n, width): candidate first units of the partition that ends here
    allowed = starts <= high[:, None]
    starts = np.where(allowed, starts, 0)
    price = np.concatenate(([0.0], curve))  # cost of a partition that starts at this unit
    best = np.full(n + 1, np.inf)
    best[0] = 0.0
    chosen: list[NDArray[np.int64]] = []
    for made in range(1, n + 1):
        options = np.where(allowed, (best[:-1] + price)[starts], np.inf)
        pick = options.argmin(axis=1)
        best = np.concatenate(([np.inf], options[np.arange(n), pick]))
        chosen.append(starts[np.arange(n), pick])
        if made >= count and np.isfinite(best[n]):
            return _trace(chosen, n)
        if not np.isfinite(best).any():
            return None
    return None


def _trace(chosen: list[NDArray[np.int64]], n: int) -> list[int]:
    breaks: list[int] = []
    end = n
    for step in reversed(chosen):
        end = int(step[end - 1])
        breaks.append(end)
    return breaks[-2::-1]
