"""What sort of message a text is, and whether it tells of an emergency: two trained heads over the embedded encoder.

Logistic regressions over `tools/reading/features.py`, trained by `evals/message_heads.py` on `examples/` and on the
*fit* part of BioASQ's and PubMedQA's questions; a third names the emergency.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tools.encoders import Vectors
from tools.reading.features import features
from tools.weights import stored

WEIGHTS = Path(__file__).parent / "heads.safetensors"
AGAIN = "Reinstall the package, or train it again: anamnesis reader heads --data DATA --out FILE."
# ours: probability from which a message is surely of another field; held out, 0.9 % of other writers' medical messages
# in training reach it before the library is asked, and 87 % of other fields
SURELY = 0.5
LONG = 50  # ours: words, or pairs of Chinese characters, of a long history
WORDS = re.compile(r"[A-Za-z\d'-]+|[\u4e00-\u9fff]{1,2}")
NAMED = 0.5  # ours: probability from which an emergency is named


class Sort(StrEnum):
    """Sorts of message, whatever was said before."""

    CASE = "case"
    QUESTION = "question"
    PATIENT_QUESTION = "patient_question"
    ASSISTANT = "assistant"
    COURTESY = "courtesy"
    OTHER = "other"


SORTS = tuple(Sort)
PATIENT = (Sort.CASE, Sort.PATIENT_QUESTION)  # a patient is described


class Sorted(NamedTuple):
    """Probabilities of each sort, in the order of `SORTS`."""

    sorts: tuple[float, ...]

    def of(self, *sorts: Sort) -> float:
        """Probability of any of these sorts."""
        return sum(self.sorts[SORTS.index(s)] for s in sorts)

    @property
    def best(self) -> Sort:
        """The likeliest sort."""
        return SORTS[max(range(len(SORTS)), key=self.sorts.__getitem__)]

    @property
    def other_field(self) -> bool:
        """Whether the message is surely of another field."""
        return self.of(Sort.OTHER) >= SURELY

    @property
    def patient(self) -> bool:
        """Whether it rather describes a patient than not."""
        return self.of(*PATIENT) >= 0.5


class Emergency(NamedTuple):
    """How surely a text tells of an emergency of now, and its kind where that is sure, else ""."""

    probability: float
    kind: str


class Heads(NamedTuple):
    """The weights: of sorts (6) and of an emergency (1), of its kinds, and from which probability a short text tells
    of one, and a long one."""

    dense: NDArray[np.float32]
    grams: NDArray[np.float32]
    bias: NDArray[np.float32]
    named: NDArray[np.float32]
    named_bias: NDArray[np.float32]
    kinds: tuple[str, ...]
    emergency: tuple[float, ...]


def sorted_as(text: str) -> Sorted:
    """The probabilities of each sort of message."""
    return Sorted(tuple(_softmax(_logits(text)[: len(SORTS)]).tolist()))


def emergency_in(text: str) -> Emergency | None:
    """The emergency that a text surely enough tells of; None when it tells of none."""
    chance = emergency_chance(text)
    if chance < heads().emergency[is_long(text)]:
        return None
    shares = _softmax(heads().named @ features([text])[0].dense + heads().named_bias)
    best = int(shares.argmax())
    return Emergency(chance, heads().kinds[best] if shares[best] >= NAMED else "")


def may_be_emergency(text: str) -> bool:
    """Whether rules may show an emergency: a long history holds their words far apart, so the head must
    see one too."""
    return not is_long(text) or emergency_chance(text) >= heads().emergency[True]


def is_long(text: str) -> bool:
    """Whether a text is a whole history, which names much that sounds alarming by itself."""
    return len(WORDS.findall(text)) >= LONG


def emergency_chance(text: str) -> float:
    """How surely a text tells of an emergency, 0..1."""
    return float(1 / (1 + np.exp(-_logits(text)[-1])))


@lru_cache(maxsize=1)
def heads(path: Path = WEIGHTS) -> Heads:
    """The shipped weights; raises DataError when they are missing or damaged."""
    arrays, about = stored(path, "the message heads", AGAIN)
    least = tuple(arrays.pop("emergency").tolist())
    return Heads(**arrays, kinds=tuple(about["kinds"].split()), emergency=least)


def _logits(text: str) -> Vectors:
    model, read = heads(), features([text])[0]
    logits: Vectors = model.dense @ read.dense + model.grams[:, read.buckets] @ read.values + model.bias
    return logits


def _softmax(logits: Vectors) -> Vectors:
    shares = np.exp(logits - logits.max())
    total: Vectors = shares / shares.sum()
    return total
