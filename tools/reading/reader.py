"""The trained reader as the product uses it: its weights beside this file, loaded when first asked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from prompts.errors import DataError
from tools.encoders import give_back
from tools.reading.contract import DIRECTIONS, ROLES, STANCES, Direction, Pair, Reading, Role, Stance
from tools.text.language import is_english
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
                from safetensors import SafetensorError

                from tools.reading.model import PairTokenizer, load

                path = checked(self._weights, "the trained reader", AGAIN)
                try:
                    self._loaded = load(path), PairTokenizer()
                except (KeyError, RuntimeError, SafetensorError) as error:
                    raise DataError("The trained reader's weights are of another model.", AGAIN) from error
            return self._loaded


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
