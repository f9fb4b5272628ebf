"""SEOS and the segmenters beside it, behind one contract: spans of a text with exact offsets.

Each cuts at its own size, or into a given number of parts. `Ruler` measures a text in the encoder's tokens.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from prompts.errors import DataError, InputError
from tools.encoders import Encoder, Vectors
from tools.passages.contract import Passage, StoredDocument
from tools.passages.seos import BUDGET, SeosSettings, segment
from tools.text.sentences import Span, sentences
from tools.text.tokens import STOP

SPECIAL = 2  # code: a BERT encoder adds one token before and one after a text
WORD = re.compile(r"\S+")
BLANK = re.compile(r"\n[^\S\n]*\n\s*")
ROUNDS = 24  # ours: halvings of the size while a number of parts is looked for
THRESHOLD = 0.8  # code: chonkie's own default
LEAST, MOST = 0.01, 0.99  # code: chonkie takes thresholds between 0 and 1, the ends left out
HALVINGS = 12  # ours: halvings of the threshold while a number of parts is looked for
BREAK = "\n\n"
APART = 4  # code: nltk lets no two boundaries be less than this many gaps apart
WORDS_LEAST = 2 * 20 * 2  # ours: texts below twice two blocks of nltk's 20 words have no gap to score


class Segmenter(Protocol):
    """Cuts a text."""

    def __call__(self, text: str, title: str, encoder: Encoder, count: int | None = None) -> list[Span]:
        """Spans in order, none empty: ``text[span.start:span.end]`` is the passage, exactly.

        Args:
            title: put before each passage when it is embedded; it counts towards what the encoder reads.
            encoder: its tokens and vectors are used.
            count: parts wanted instead of the segmenter's own size; without overlap. A text with fewer places to
                cut gives fewer.
        """


@runtime_checkable
class Leading(Protocol):
    """A segmenter that puts a sentence of the text before some of its passages when they are searched."""

    def led(self, text: str, title: str, encoder: Encoder) -> list[tuple[Span, Span | None]]:
        """The passages that a call gives, each with the sentence before it, or None."""


def pieces(segmenter: Segmenter, text: str, title: str, encoder: Encoder) -> list[tuple[Span, Span | None]]:
    """The passages of a text, each with the sentence that is read before it, or None."""
    if isinstance(segmenter, Leading):
        return segmenter.led(text, title, encoder)
    return [(span, None) for span in segmenter(text, title, encoder)]


def between(text: str, starts: list[int]) -> list[Span]:
    """The spans that begin at these places and end at the next, without white space at their ends; none empty."""
    found = []
    for start, end in pairwise([*starts, len(text)]):
        piece = text[start:end]
        if piece.strip():
            found.append(Span(start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())))
    return found


def checked_count(count: int | None) -> None:
    """Raise InputError for a number of parts below one."""
    if count is not None and count < 1:
        raise InputError(f"A text cannot be cut into {count} parts.", "Ask for one part or more.")


class Measured(NamedTuple):
    """The words of a text. Word pieces never span white space, so its tokens are the sum over its words.

    Attributes:
        starts, ends: (n,) characters of each word.
        totals: (n + 1,) tokens before each word, and of them all.
    """

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    totals: NDArray[np.int64]

    def tokens(self, start: int, end: int) -> int:
        """Tokens of the words that begin in ``start`` to ``end``."""
        first, after = np.searchsorted(self.starts, [start, end])
        return int(self.totals[after] - self.totals[first])

    def cut(self, start: int, end: int, room: int) -> tuple[int, int]:
        """The longest beginning of a span with at most ``room`` tokens, in whole words: (its end, its tokens)."""
        first, after = np.searchsorted(self.starts, [start, end])
        last = min(int(after), int(np.searchsorted(self.totals, self.totals[first] + room, side="right")) - 1)
        if last <= first:
            return start, 0
        return min(end, int(self.ends[last - 1])), int(self.totals[last] - self.totals[first])


class Ruler:
    """Measures texts in the tokens of one encoder; each word is counted once."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._known: dict[str, int] = {}

    def measure(self, text: str) -> Measured:
        """The words of a text with their tokens."""
        found = list(WORD.finditer(text))
        counts = np.array([0, *self._counts([match[0] for match in found])], dtype=np.int64)
        starts, ends = (np.array([m.span()[side] for m in found], dtype=np.int64) for side in (0, 1))
        return Measured(starts, ends, np.cumsum(counts))

    def count(self, text: str) -> int:
        """Tokens of a text, special ones left out."""
        return sum(self._counts(WORD.findall(text)))

    def _counts(self, words: list[str]) -> list[int]:
        missing = [word for word in dict.fromkeys(words) if word not in self._known]
        if missing:
            self._known.update(zip(missing, self._encoder.count_tokens(missing), strict=True))
        return [self._known[word] for word in words]


@lru_cache(maxsize=4)
def _ruler_of(encoder: Any) -> Ruler:
    return Ruler(encoder)


def ruler_of(encoder: Encoder) -> Ruler:
    """The ruler of an encoder, so that a word is counted once a run."""
    known: Any = encoder  # an encoder is hashed by identity; its protocol does not say so
    return _ruler_of(known)


@dataclass(frozen=True)
class Seos:
    """`tools.passages.seos` with these settings."""

    settings: SeosSettings

    def __call__(self, text: str, title: str, encoder: Encoder, count: int | None = None) -> list[Span]:
        """Passages with their overlap; at a given number of parts, the text as one section and no overlap."""
        checked_count(count)
        if count is None:
            return [span for span, _ in self.led(text, title, encoder)]
        return [Span(p.core_start, p.core_end) for p in self._cut(text, title, encoder, count)]

    def led(self, text: str, title: str, encoder: Encoder) -> list[tuple[Span, Span | None]]:
        """Passages with their overlap, and the sentence that opens their block before those that are a later part."""
        cut = self._cut(text, title, encoder, None)
        return [(Span(p.start, p.end), Span(*p.lead) if p.lead else None) for p in cut]

    def _cut(self, text: str, title: str, encoder: Encoder, count: int | None) -> tuple[Passage, ...]:
        document = StoredDocument(id="evaluation", title=title, text=text)
        return segment(document, encoder, replace(self.settings, partitions=count))


def by_sentence(text: str, title: str, encoder: Encoder, count: int | None = None) -> list[Span]:
    """Every sentence; at a given number of parts, runs of equally many sentences."""
    del title, encoder
    checked_count(count)
    units = list(sentences(text))
    if count is None or not units:
        return units
    firsts = sorted({round(k * len(units) / count) for k in range(min(count, len(units)))})
    return between(text, [units[i].start for i in firsts])


def by_paragraph(text: str, title: str, encoder: Encoder, count: int | None = None) -> list[Span]:
    """What stands between blank lines; at a given number of parts, runs of about equally many characters."""
    del title, encoder
    checked_count(count)
    starts = [0, *(match.end() for match in BLANK.finditer(text))]
    if count is None:
        return between(text, starts)
    marks = (len(text) * k / count for k in range(1, count))
    chosen = {min(starts, key=lambda start: abs(start - mark)) for mark in marks}
    return between(text, sorted({0, *chosen}))


@dataclass(frozen=True)
class Fixed:
    """As many whole words as fit in ``size`` tokens; the next window begins ``overlap`` tokens before the end."""

    size: int
    overlap: int = 0

    def __call__(self, text: str, title: str, encoder: Encoder, count: int | None = None) -> list[Span]:
        """Windows; at a given number of parts, parts of as nearly equal tokens as whole words allow."""
        del title
        checked_count(count)
        words = ruler_of(encoder).measure(text)
        n = len(words.starts)
        if not n:
            return []
        if count is not None:
            marks = words.totals[-1] * np.arange(1, count) / count
            firsts = np.unique(np.concatenate(([0], np.searchsorted(words.totals, marks, side="left"))))
            return between(text, [int(words.starts[i]) for i in firsts if i < n])
        spans: list[Span] = []
        first = 0
        while True:
            after = int(np.searchsorted(words.totals, words.totals[first] + self.size, side="right")) - 1
            after = min(n, max(first + 1, after))
            spans.append(Span(int(words.starts[first]), int(words.ends[after - 1])))
            if after == n:
                return spans
            back = int(np.searchsorted(words.totals, words.totals[after] - self.overlap, side="left"))
            first = max(first + 1, min(after, back))


@dataclass(frozen=True)
class Recursive:
    """LangChain's RecursiveCharacterTextSplitter with separators in its own order: blank line, line, word, character.

    ``size``: most tokens of a chunk; what the encoder reads where that is less.
    """

    size: int

    def __call__(self, text: str, title: str, encoder: Encoder, count: int | None = None) -> list[Span]:
        """Chunks; for a number of parts, the size that gives the nearest number (the smaller size of two)."""
        checked_count(count)
        ruler = ruler_of(encoder)
        if count is None:
            return _split(text, ruler, min(self.size, encoder.limit - SPECIAL - ruler.count(title)))
        low, high = 1, max(1, ruler.count(text))
        best = _split(text, ruler, high)
        for _ in range(ROUNDS):
            if low > high or len(best) == count:
                break
            size = (low + high) // 2
            found = _split(text, ruler, size)
            if abs(len(found) - count) <= abs(len(best) - count):
                best = found
            low, high = (size + 1, high) if len(found) > count else (low, size - 1)
        return best


def _split(text: str, ruler: Ruler, size: int) -> list[Span]:
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    splitter = RecursiveCharacterTextSplitter(chunk_size=size, chunk_overlap=0, length_function=ruler.count)
    spans: list[Span] = []
    at = 0
    for piece in splitter.split_text(text):  # where they lie, which come in order
        wanted = piece.strip()
        if wanted:
            start = text.find(wanted, at)
            if start < 0:
                raise DataError("The library changed the text that it cut.", "Install the version in constraints.txt.")
            at = start + len(wanted)
            spans.append(Span(start, at))
    return spans


@dataclass(frozen=True)
class Semantic:
    """chonkie's SemanticChunker with the encoder in use: at most ``size`` tokens, or what the encoder reads.

    It compares each sentence with the window before it and cuts at the minima of the smoothed similarities. A window's
    vector is the mean of its sentences' vectors, as for SEOS: both see the same and differ in what they do with it.
    """

    size: int

    def __call__(self, text: str, title: str, encoder: Encoder, count: int | None = None) -> list[Span]:
        """Chunks; for a number of parts, no greatest size and the threshold that gives the nearest number."""
        checked_count(count)
        if not text.strip():
            return []
        ruler = ruler_of(encoder)
        if count is None:
            room = min(self.size, encoder.limit - SPECIAL - ruler.count(title))
            return _chunks(text, encoder, ruler, THRESHOLD, room)
        whole = ruler.count(text) + 1
        low, high = LEAST, MOST
        best = _chunks(text, encoder, ruler, THRESHOLD, whole)
        for _ in range(HALVINGS):  # a higher threshold gives more chunks
            if len(best) == count:
                break
            middle = (low + high) / 2
            found = _chunks(text, encoder, ruler, middle, whole)
            if abs(len(found) - count) < abs(len(best) - count):
                best = found
            low, high = (middle, high) if len(found) < count else (low, middle)
        return best


def _chunks(text: str, encoder: Encoder, ruler: Ruler, threshold: float, size: int) -> list[Span]:
    from chonkie import SemanticChunker

    chunker = SemanticChunker(_embeddings(encoder, ruler), threshold=threshold, chunk_size=max(1, size))
    found = chunker.chunk(text)
    if any(text[chunk.start_index : chunk.end_index] != chunk.text for chunk in found):
        raise DataError("The library changed the text that it cut.", "Install the version in constraints.txt.")
    return between(text, [chunk.start_index for chunk in found])


def _embeddings(encoder: Encoder, ruler: Ruler) -> Any:
    """The encoder as the library wants it."""
    from chonkie.embeddings.base import BaseEmbeddings

    class Embeddings(BaseEmbeddings):
        """Mean vectors of sentences."""

        @property
        def dimension(self) -> int:
            return encoder.dimension

        def embed(self, text: str) -> Vectors:
            return self.embed_batch([text])[0]

        def embed_batch(self, texts: list[str]) -> list[Vectors]:
            return mean_vectors(texts, encoder)

        def get_tokenizer(self) -> Callable[[str], int]:
            return ruler.count

    return Embeddings()


def mean_vectors(texts: Sequence[str], encoder: Encoder) -> list[Vectors]:
    """For each text the mean of its sentences' vectors, of unit length; all sentences are encoded in one call."""
    parts = [[span.of(text) for span in sentences(text)] or [text] for text in texts]
    wanted = list(dict.fromkeys(piece for part in parts for piece in part))
    known = dict(zip(wanted, encoder.encode_documents(wanted), strict=True)) if wanted else {}
    totals: list[Vectors] = [np.sum([known[piece] for piece in part], axis=0) for part in parts]
    return [(total / max(float(np.linalg.norm(total)), 1e-12)).astype(np.float32) for total in totals]


def by_texttiling(text: str, title: str, encoder: Encoder, count: int | None = None) -> list[Span]:
    """TextTiling (Hearst 1997) as nltk has it, with stop words given; at a number of parts, cut at the deepest gaps.

    nltk cuts at paragraph breaks only. Every sentence end is offered as one, so that its units are those of SEOS.
    """
    del title, encoder
    checked_count(count)
    units = list(sentences(text))
    if not units or count == 1:
        return between(text, [units[0].start]) if units else []
    tiles = _tiles(BREAK.join(unit.of(text) for unit in units), count)
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
        if len(chosen) < wanted and all(abs(gap - other) >= APART for other in chosen):
            chosen.append(gap)
    return [int(gap in chosen) for gap in range(len(depth_scores))]


WIDE = 512  # paper: CoMeta's fixed baselines have 512 tokens
SEOS = ("seos", "seos_paper")
FIXED = ("fixed512_0", "fixed512_32", "fixed512_128", "fixed_budget")
# By the name that the figures carry, in the order in which their passages are embedded: what is asked for first.
SEGMENTERS: dict[str, Segmenter] = {
    "seos": Seos(SeosSettings(method="seos")),
    "fixed512_0": Fixed(WIDE, 0),
    "fixed512_32": Fixed(WIDE, 32),  # paper: overlaps of CoMeta's fixed baselines
    "fixed512_128": Fixed(WIDE, 128),
    "fixed_budget": Fixed(BUDGET),
    "recursive": Recursive(BUDGET),
    "paragraph": by_paragraph,
    "seos_paper": Seos(SeosSettings(method="seos_paper")),
    "sentence": by_sentence,
    "semantic": Semantic(BUDGET),
    "texttiling": by_texttiling,
}
BASELINES = tuple(name for name in SEGMENTERS if name not in SEOS)
