"""The trained reader as the product uses it: its weights beside this file, loaded when first asked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from prompts.errors import DataError
from tools.encoders import give_back
from tools.files import Shared
from tools.passages.lexical import coverage, inverse_frequency
from tools.reading.contract import DIRECTIONS, ROLES, STANCES, Direction, Pair, Reader, Reading, Role, Stance
from tools.text.language import is_english
from tools.text.sentences import sentences
from tools.text.tokens import tokens
from tools.weights import checked

if TYPE_CHECKING:
    from tools.reading.model import PairModel, PairTokenizer


WEIGHTS = Path(__file__).parent / "weights.safetensors"
AGAIN = "Reinstall the package, or train it again: anamnesis dev reader train --data DATA."
BATCH = 16  # ours: pairs of like length read at once
KEPT = 500  # ours: readings that are remembered; a turn asks of the same sentences up to eight times
LONGEST = 2_000  # ours, characters: what is longer is no sentence (a table, a page), and is not read
WORD = re.compile(r"[A-Za-z]{2,}")
LEAST_WORDS = 3  # ours: a heading or a row of figures has fewer
LETTERS = 0.5  # ours: share of letters among the characters that are no space; tables have less
OPENED: Shared[tuple[PairModel, PairTokenizer]] = Shared(1)  # nothing changes them
UNREAD = Reading(
    tuple(float(s is Stance.UNRELATED) for s in STANCES),
    tuple(float(d is Direction.UNCLEAR) for d in DIRECTIONS),
    tuple(float(r is Role.BACKGROUND) for r in ROLES),
)


class TrainedReader:
    """Reads pairs by the shipped weights, in English only.

    Args:
        weights: another file of the same shape.

    Raises:
        DataError: on the first reading, when the file is missing, damaged or of another model.
    """

    def __init__(self, weights: Path = WEIGHTS) -> None:
        self._weights = weights
        self._loaded: tuple[PairModel, PairTokenizer] | None = None
        self._lock = Lock()
        self._before: dict[Pair, Reading] = {}

    def read(self, pairs: Sequence[Pair]) -> list[Reading]:
        """One reading a pair; what cannot be read is ``unrelated``, whatever it says."""
        known = {pair: self._before.get(pair) if can_read(pair) else UNREAD for pair in pairs}
        fresh = [pair for pair, reading in known.items() if reading is None]
        if fresh:
            read = self._fresh(fresh)
            known |= read
            with self._lock:
                self._before |= read
                for pair in list(self._before)[:-KEPT]:
                    del self._before[pair]
        return [reading for reading in map(known.get, pairs) if reading is not None]

    def _fresh(self, pairs: Sequence[Pair]) -> dict[Pair, Reading]:
        """The readings of pairs that were not read before."""
        model, tokenizer = self._open()
        rows = tokenizer.rows(pairs)
        order = sorted(range(len(rows)), key=lambda i: len(rows[i][0]))
        read: dict[Pair, Reading] = {}
        for start in range(0, len(order), BATCH):
            part = order[start : start + BATCH]
            read |= zip((pairs[i] for i in part), _read(model, [rows[i] for i in part]), strict=True)
        give_back()
        return read

    def _open(self) -> tuple[PairModel, PairTokenizer]:
        with self._lock:
            if self._loaded is None:
                files = [self._weights, self._weights.with_suffix(".sha256")]
                self._loaded = OPENED.get("reader", files, self._read_weights)
            return self._loaded

    def _read_weights(self) -> tuple[PairModel, PairTokenizer]:
        from safetensors import SafetensorError

        from tools.reading.model import PairTokenizer, load

        path = checked(self._weights, "the trained reader", AGAIN)
        try:
            return load(path), PairTokenizer()
        except (KeyError, RuntimeError, SafetensorError) as error:
            raise DataError("The trained reader's weights are of another model.", AGAIN) from error


def can_read(pair: Pair) -> bool:
    """Whether a question and a sentence are in English, not empty, not a table and not too long."""
    return all(
        len(text) <= LONGEST
        and len(WORD.findall(text)) >= LEAST_WORDS
        and _letters(text) >= LETTERS
        and is_english(text)
        for text in (pair.question, pair.sentence)
    )


def _letters(text: str) -> float:
    shown = [c for c in text if not c.isspace()]
    return sum(c.isalpha() for c in shown) / max(len(shown), 1)


def _read(model: PairModel, rows: Sequence[tuple[list[int], int, int]]) -> list[Reading]:
    import torch

    from tools.reading.model import padded, split

    with torch.inference_mode():
        parts = [part.float().softmax(-1).tolist() for part in split(model(padded(rows)))]
    return [Reading(tuple(s), tuple(d), tuple(r)) for s, d, r in zip(*parts, strict=True)]


# The reader's relevance head in a cross-encoder's place: a question read with the sentences of a document.

SENTENCES = 3  # ours: of a document that are read, those that share most with the question


class RelevanceReranker:
    """Orders documents by how surely one of their sentences speaks of the question's subject.

    It was trained on sentences of abstracts, and reads English alone; what it cannot read keeps its place (score 0).

    Args:
        reader: whose relevance is taken.
    """

    name = "the trained reader's relevance head"

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def rerank(self, query: str, articles: Sequence[str]) -> NDArray[np.float32]:
        """Array (len(articles),), 0..1: higher is more relevant."""
        chosen = [_telling(query, article) for article in articles]
        readings = iter(self._reader.read([Pair(query, sentence) for part in chosen for sentence in part]))
        best = [max((next(readings).relevance for _ in part), default=0.0) for part in chosen]
        return np.array(best, dtype=np.float32)


def _telling(query: str, article: str) -> list[str]:
    """The sentences of a text that share most with a question, in their order."""
    said = [span.of(article) for span in sentences(article)]
    bags = [frozenset(tokens(sentence)) for sentence in said]
    if not said:
        return []
    scores = coverage(tokens(query), bags, inverse_frequency(bags))
    return [said[n] for n in sorted(sorted(range(len(said)), key=lambda i: (-scores[i], i))[:SENTENCES])]
