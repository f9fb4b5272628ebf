"""TextTiling (Hearst 1997) as nltk has it, with stop words and paragraph breaks given; nothing is downloaded.

nltk cuts at paragraph breaks only. Every sentence end is offered as one, so that its units are those of SEOS.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from evals.baselines.contract import between, checked_count
from tools.encoders import Encoder
from tools.text.sentences import Span, sentences
from tools.text.tokens import STOP

BREAK = "\n\n"
APART = 4  # code: nltk lets no two boundaries be less than this many gaps apart
WORDS_LEAST = 2 * 20 * 2  # ours: texts below twice two blocks of nltk's 20 words have no gap to score


def by_texttiling(text: str, title: str, encoder: Encoder, count: int | None = None) -> list[Span]:
    """Tiles; at a given number of parts, cut at the deepest gaps."""
    del title, encoder
    checked_count(count)
    units = list(sentences(text))
    if not units or count == 1:
        return between(text, [units[0].start]) if units else []
    given = BREAK.join(unit.of(text) for unit in units)
    tiles = _tiles(given, count)
    starts, at = [0], 0
    ends = np.cumsum([len(unit.of(text)) + len(BREAK) for unit in units])
    for tile in tiles[:-1]:
        at += len(tile)
        nearest = int(np.abs(ends - at).argmin()) + 1  # a tile ends at a sentence end: before or after the break
        if nearest < len(units):
            starts.append(units[nearest].start)
    return between(text, sorted(set(starts)))


def _tiles(text: str, count: int | None) -> list[str]:
    if len(text.split()) < WORDS_LEAST or BREAK not in text:
        return [text]
    tiler = _tiler()
    tiler.wanted = None if count is None else count - 1
    try:
        tiles: list[str] = tiler.tokenize(text)
    except ValueError:  # nltk: no paragraph break far enough from the start, or too few words for its smoothing
        return [text]
    return tiles


@lru_cache(maxsize=1)
def _tiler() -> Any:
    from nltk.tokenize.texttiling import TextTilingTokenizer

    class Tiler(TextTilingTokenizer):  # type: ignore[misc]
        """nltk's, with its block comparison in one matrix product, and the deepest gaps where a number is wanted."""

        wanted: int | None = None

        def _block_comparison(self, tokseqs: Any, token_table: Any) -> list[float]:
            return block_scores(token_table, len(tokseqs), self.k)

        def _identify_boundaries(self, depth_scores: Any) -> list[int]:
            if self.wanted is None:
                found: list[int] = super()._identify_boundaries(depth_scores)
                return found
            return deepest(depth_scores, self.wanted)

    return Tiler(stopwords=STOP)


def block_scores(token_table: Any, blocks: int, k: int) -> list[float]:
    """The scores of nltk's block comparison: cosine of word counts of at most ``k`` blocks on each side of a gap."""
    counts = np.zeros((blocks + 1, len(token_table)))
    for column, field in enumerate(token_table.values()):
        for block, times in field.ts_occurences:
            counts[int(block) + 1, column] += times
    totals = counts.cumsum(axis=0)
    scores: list[float] = []
    gaps = blocks - 1
    for gap in range(gaps):
        size = gap + 1 if gap < k - 1 else gaps - gap if gap > gaps - k else k
        left = totals[gap + 1] - totals[gap + 1 - size]
        right = totals[min(blocks, gap + 1 + size)] - totals[gap + 1]
        length = float(np.sqrt((left @ left) * (right @ right)))
        scores.append(float(left @ right) / length if length else 0.0)
    return scores


def deepest(depth_scores: Any, wanted: int) -> list[int]:
    """The deepest gaps at least `APART` apart; 1 for a boundary."""
    chosen: list[int] = []
    for gap in sorted(range(len(depth_scores)), key=lambda g: (-depth_scores[g], g)):
        if len(chosen) == wanted:
            break
        if all(abs(gap - other) >= APART for other in chosen):
            chosen.append(gap)
    return [int(gap in chosen) for gap in range(len(depth_scores))]
