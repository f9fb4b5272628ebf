"""What sort of message a text is, and whether it tells of an emergency: two trained heads over the embedded encoder.

Both are logistic regressions over `tools/reading/features.py`, trained by `evals/message_heads.py` on `examples/` and on
the *fit* part of BioASQ's and PubMedQA's questions.
"""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prompts.errors import DataError
from tools.encoders import Vectors
from tools.reading.features import LAST, Features, features

WEIGHTS = Path(__file__).parent / "heads.safetensors"
AGAIN = "Reinstall the package, or train it again: anamnesis reader heads --data DATA --out FILE."
# ours: probability from which a message is surely of another field; held out, 1.0 % of other writers' medical messages
# in training reach it before the library is asked, and 80 % of other fields
SURELY = 0.4
NEAREST, AGREED = 5, 3  # ours: exemplars that name an emergency, and how many of them must agree (71 % are right then)


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
    """How surely a text tells of an emergency of now, and the kind on which the nearest exemplars agree, else ""."""

    probability: float
    kind: str


class Heads(NamedTuple):
    """The weights: of sorts (6) and of an emergency (1), the exemplars' vectors, and what counts as sure."""

    dense: NDArray[np.float32]
    grams: NDArray[np.float32]
    bias: NDArray[np.float32]
    exemplars: NDArray[np.float32]
    kinds: tuple[str, ...]
    emergency: float


def sorted_as(text: str) -> Sorted:
    """The probabilities of each sort of message."""
    logits = _logits(text)[: len(SORTS)]
    shares = np.exp(logits - logits.max())
    return Sorted(tuple(float(s) for s in shares / shares.sum()))


def emergency_in(text: str) -> Emergency | None:
    """The emergency that a text surely enough tells of; None when it tells of none."""
    chance = emergency_chance(text)
    if chance < heads().emergency:
        return None
    near = heads().exemplars @ _read(text).dense[-LAST:]
    kind, votes = Counter(heads().kinds[at] for at in np.argsort(-near)[:NEAREST]).most_common(1)[0]
    return Emergency(chance, kind if votes >= AGREED else "")


def emergency_chance(text: str) -> float:
    """How surely a text tells of an emergency, 0..1."""
    return float(1 / (1 + np.exp(-_logits(text)[-1])))


@lru_cache(maxsize=1)
def heads(path: Path = WEIGHTS) -> Heads:
    """The shipped weights; raises DataError when they are missing or damaged."""
    from safetensors import safe_open

    from tools.files import sha256_of

    if not path.is_file():
        raise DataError("The weights of the message heads are missing.", AGAIN)
    recorded = path.with_suffix(".sha256")
    if recorded.is_file() and recorded.read_text().strip() != sha256_of(path):
        raise DataError("The weights of the message heads are damaged.", AGAIN)
    with safe_open(str(path), framework="numpy") as file:
        about: dict[str, str] = file.metadata()
        stored: dict[str, Any] = {name: file.get_tensor(name).astype(np.float32) for name in file.keys()}  # noqa: SIM118
    exemplars = stored["exemplars"] / np.linalg.norm(stored["exemplars"], axis=1, keepdims=True)
    parts = (stored["dense"], stored["grams"], stored["bias"])
    return Heads(*parts, exemplars, tuple(about["kinds"].split()), float(stored["emergency"][0]))


@lru_cache(maxsize=256)
def _read(text: str) -> Features:
    return features([text])[0]


def _logits(text: str) -> Vectors:
    model, read = heads(), _read(text)
    logits: Vectors = model.dense @ read.dense + model.grams[:, read.buckets] @ read.values + model.bias
    return logits
