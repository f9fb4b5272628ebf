"""Which findings a clause tells of in whatever words: a trained head over `tools/reading/features.py` (ours).

A clause's features are brought to few dimensions and compared with one direction a finding, and one for none. Trained
by `evals/finding_head.py` on wordings and marked texts by several writers (`starter/wordings/`), lay, clinical and
Chinese. It knows the starter graph's findings by their ids; another graph's are read by their own wordings alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tools.knowledge_graph.schema import FindingNode
from tools.knowledge_graph.units import Unit
from tools.knowledge_graph.wordings import Agreement
from tools.reading.features import Features
from tools.text.negation import NORMAL
from tools.weights import stored

WEIGHTS = Path(__file__).parent / "spoken.safetensors"
AGAIN = "Reinstall the package, or train it again: anamnesis dev reader findings --out FILE."
KNOWN = 0.5  # ours: share of a graph's findings that the head must know to be asked
COUNTED = 0.25  # ours: probability from which a finding counts in the ranking, by its square root
SHOWN = 0.45  # ours: probability from which a finding may be shown
SOMETHING = 0.5  # ours: what all findings together must reach where a wording's own is not heard
HEARD = 0.01  # ours: the same of one whose wording stands in the text
OTHERS = 0.7  # ours: how much less a finding that only its wordings tell counts where the head is sure of another
LESS = 0.5  # ours: of a denied clause, what the head hears without its negation, against with it, where it tells a lack
Matrix = NDArray[np.float32]


class Weights(NamedTuple):
    """From features to few dimensions (dense, grams, shift), and from these to the findings and none (out, bias)."""

    dense: Matrix
    grams: Matrix
    shift: Matrix
    out: Matrix
    bias: Matrix
    ids: tuple[str, ...]


class Spoken:
    """The head over the findings of one graph."""

    def __init__(self, findings: Sequence[FindingNode]) -> None:
        at = {name: i for i, name in enumerate(weights().ids)}
        self._places = np.array([at.get(f.id, -1) for f in findings])

    @property
    def knows(self) -> bool:
        """Whether the head knows enough of the graph's findings."""
        return float(np.mean(self._places >= 0)) >= KNOWN

    def joined(self, units: Sequence[Unit], read: Sequence[Agreement], seen: Mapping[str, Features]) -> list[Agreement]:
        """What wordings say of each unit, and what the head hears in it. ``seen``: the features of their texts."""
        chances = dict(zip(seen, self.read(list(seen.values())), strict=True))
        deaf = np.zeros(
            len(self._places), np.float32
        )  # "TSH normal": what is as it should be is no finding to be heard
        heard = [deaf if u.negated and NORMAL.search(u.text) else chances[u.text] for u in units]
        return [
            self._heard(found, chance, chances.get(u.bare)) for u, found, chance in zip(units, read, heard, strict=True)
        ]

    def _heard(self, found: Agreement, chance: Matrix, bare: Matrix | None) -> Agreement:
        """Agreement with the nearer of wordings and head; what neither hears counts less the surer the head is. Of a
        finding that the head lacks the wordings decide."""
        if bare is not None:  # a finding that only the negation makes: "no energy"
            chance = np.where(bare < LESS * chance, chance, np.float32(0.0))
        best = max(float(chance.max()), 0.0)
        kept = np.where(found.assured, 1.0, 1 - OTHERS * np.clip(best - chance, 0, 1)).astype(np.float32)
        score = np.maximum(found.score * kept, np.where(chance >= COUNTED, np.sqrt(chance), np.float32(0.0)))
        said = found.assured & ((self._places < 0) | (chance >= HEARD) | (chance.sum() >= SOMETHING))
        return Agreement(score, found.similarity, said | (chance >= SHOWN))

    def read(self, seen: Sequence[Features]) -> Matrix:
        """Array (texts, findings): the probability that a text tells of a finding, 0 of one that the head lacks."""
        chances = probabilities(seen)
        found: Matrix = np.where(self._places >= 0, chances[:, self._places], np.float32(0.0))
        return found


def probabilities(read: Sequence[Features]) -> Matrix:
    """Array (texts, ids): how probably each text tells of each finding of the head; a row sums to 1 less "none"."""
    w = weights()
    few = np.stack([w.dense @ r.dense + w.grams[r.buckets].T @ r.values + w.shift for r in read])
    logits = few @ w.out.T + w.bias
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    found: Matrix = (shares / shares.sum(axis=1, keepdims=True))[:, :-1]
    return found


@lru_cache(maxsize=1)
def weights(path: Path = WEIGHTS) -> Weights:
    """The shipped weights; raises DataError when they are missing or damaged."""
    arrays, about = stored(path, "the finding head", AGAIN)
    arrays["grams"] *= arrays.pop("scale")[:, None]
    return Weights(**arrays, ids=tuple(about["ids"].split()))
