"""How probable it is that a sentence of the library answers a closed question so, whatever its words: a small network.

The reader alone takes a near question for the one that was asked ("first choice" for "useful", "in children" for all).
So beside what it makes of the sentence, and of the closed questions that the sentence is known to answer
(`tools.reading.answered`), it counts how each word of the question is met by the sentence and its title, how each word
of the known question is met by the question, and what the other sentences say. Trained by
`anamnesis dev reader verdicts` (`evals/training/verdict_head.py`) on questions by others. Ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from graphs.verdicts.studies import OPPOSITE, SHORT_ANSWER, words_held
from tools.encoders import Encoder, Vectors
from tools.reading.answered import STRENGTH, Answered, content_words, likeness
from tools.reading.contract import ANSWERS, Reading, Stance
from tools.remembered import Remembered
from tools.text.tokens import WORD
from tools.weights import stored

WEIGHTS = Path(__file__).with_name("warrant.safetensors")
AGAIN = "Reinstall the package, or train it again: anamnesis dev reader verdicts."
LEAST = 0.3  # ours: probability by the reader from which an answer is weighed at all
HEARD = 0.6  # ours: from which another sentence counts as saying something
FAINT = 1e-4  # ours: added to a probability before its logarithm is taken
FARTHEST = 3.0  # ours: standard deviations by which a feature counts at most
KEPT = 4_096  # ours: words whose vectors are kept, 6 MB
DENIALS = frozenset(("not", "no", "never", "without", "cannot", "nor", "n't"))
# ours: words that ask for more than that a thing is so, and of a part of the people
MORE = ("always", "only", "first", "best", "alone", "every", "all ", "cure", "prevent")
SOME = (
    "pregnan",
    "child",
    "elder",
    "older",
    "breast",
    "kidney",
    "renal",
    "liver",
    "baby",
    "babies",
    "infant",
    "women",
    "men ",
)
Matrix = NDArray[np.floating]

_words = Remembered[str, Vectors](KEPT)


class Known(NamedTuple):
    """A closed question that the sentence is known to answer: its cosine with the user's, what the reader makes of it
    with its answer, and whether it asks the same almost word for word."""

    answered: Answered
    near: float
    reading: Reading
    same: bool


class Candidate(NamedTuple):
    """A sentence that may answer.

    Attributes:
        around: its title, the sentence before and itself. rank: of its document among those found, from 0.
        near: cosine with the question.
    """

    text: str
    title: str
    around: str
    section: str
    rank: int
    near: float
    reading: Reading
    known: tuple[Known, ...] = ()

    def most(self, stance: Stance) -> float:
        """The highest probability of an answer, by itself or with a known question."""
        return max(r.stance(stance) for r in (self.reading, *(k.reading for k in self.known)))


def warrants(question: str, candidates: Sequence[Candidate], encoder: Encoder) -> list[dict[Stance, float]]:
    """Of each candidate how probable each answer is that the reader holds possible, 0..1."""
    out: list[dict[Stance, float]] = [{} for _ in candidates]
    places, rows = features(question, candidates, encoder)
    if places:
        for (at, stance), p in zip(places, _probable(rows), strict=True):
            out[at][stance] = float(p)
    return out


def features(
    question: str, candidates: Sequence[Candidate], encoder: Encoder
) -> tuple[list[tuple[int, Stance]], Matrix]:
    """The candidates with the answers that are weighed, and a row of features for each."""
    places = [(at, a) for at, c in enumerate(candidates) for a in ANSWERS if c.most(a) >= LEAST]
    if not places:
        return [], np.zeros((0, 0))
    low = question.lower()
    words = WORD.findall(low)
    asked = [len(low.split()), bool(DENIALS & set(words)), any(w in low for w in MORE), any(w in low for w in SOME)]
    met = {at: _met(question, candidates[at].around, encoder) for at in {at for at, _ in places}}
    rows = [
        [
            *_sentence(question, candidates[at], stance),
            *met[at],
            *_known(question, candidates[at], stance, encoder),
            *_others(candidates, at, stance),
            *asked,
            *(stance is a for a in ANSWERS),
        ]
        for at, stance in places
    ]
    return places, np.array(rows, dtype=np.float64)


def _sentence(question: str, own: Candidate, stance: Stance) -> list[float]:
    """What the reader makes of the sentence, and how near it is."""
    return [
        *_read(own.reading, stance),
        own.reading.telling,
        own.near,
        words_held(question, own.text),
        words_held(question, own.around),
        words_held(own.title, question),
        float(np.log1p(own.rank)),
        float(own.section.lower() == SHORT_ANSWER),
    ]


def _known(question: str, own: Candidate, stance: Stance, encoder: Encoder) -> list[float]:
    """Of the known question that speaks most for the answer what the reader makes of it, and how alike both are."""
    if not own.known:
        return [0.0] * 16
    best = max(own.known, key=lambda k: k.reading.stance(stance) * (0.5 + k.near))
    other = best.answered.question
    mine, theirs = set(WORD.findall(question.lower())), set(WORD.findall(other.lower()))
    return [
        1.0,
        *_read(best.reading, stance),
        best.near,
        *_met(question, other, encoder),
        *_met(other, question, encoder),
        *_met(question, f"{other} {own.around}", encoder),
        float(best.same),
        float(bool(STRENGTH & (mine ^ theirs))),
        float(bool(DENIALS & (mine ^ theirs))),
        float(best.answered.answer is stance),
    ]


def _others(candidates: Sequence[Candidate], at: int, stance: Stance) -> list[float]:
    """How surely other sentences say the same, and otherwise, and how many do."""
    otherwise = OPPOSITE.get(stance, Stance.SUPPORTS)
    same = [c.most(stance) for n, c in enumerate(candidates) if n != at]
    against = [c.most(otherwise) for n, c in enumerate(candidates) if n != at]
    counts = [float(sum(p > HEARD for p in side)) for side in (same, against)]
    return [_logit(max(same, default=0.0)), _logit(max(against, default=0.0)), *counts]


def _read(reading: Reading, stance: Stance) -> list[float]:
    """Logits of the answer, the likeliest other one, of the subject without an answer, and of another subject."""
    other = max(reading.stance(a) for a in ANSWERS if a is not stance)
    return [_logit(p) for p in (reading.stance(stance), other, *reading.stances[len(ANSWERS) :])]


def _logit(p: float) -> float:
    return float(np.log((p + FAINT) / (1 - p + FAINT)))


def _met(one: str, other: str, encoder: Encoder) -> tuple[float, float]:
    """How the content words of a text are met by those of another: the worst met one, and on average, 0..1."""
    sides = content_words(one), content_words(other)
    if not all(sides):
        return 0.0, 0.0
    best = likeness(*sides, [_vectors(side, encoder) for side in sides]).max(1)
    return float(best.min()), float(best.mean())


def _vectors(words: Sequence[str], encoder: Encoder) -> Vectors:
    """The vectors of single words; the last ones are kept."""
    known = _words.read({w: w for w in words}, encoder.encode_queries)
    return np.stack([known[w] for w in words])


class Network(NamedTuple):
    """Several networks of one hidden layer, whose probabilities are averaged: what features are brought to, and both
    layers, (networks, ...)."""

    mean: Matrix
    scale: Matrix
    first: Matrix
    shift: Matrix
    second: Matrix
    bias: Matrix


def scaled(rows: Matrix, mean: Matrix, scale: Matrix) -> Matrix:
    """The features as the networks see them."""
    return cast(Matrix, np.clip((rows - mean) / scale, -FARTHEST, FARTHEST))


def _probable(rows: Matrix) -> Matrix:
    net = trained()
    hidden = np.maximum(np.einsum("rf,nfh->nrh", scaled(rows, net.mean, net.scale), net.first) + net.shift[:, None], 0)
    logits = np.einsum("nrh,nh->nr", hidden, net.second) + net.bias[:, None]
    return cast(Matrix, (1 / (1 + np.exp(-logits))).mean(0))


@lru_cache(maxsize=1)
def trained(path: Path = WEIGHTS) -> Network:
    """The shipped weights; raises DataError when they are missing or damaged."""
    return Network(**stored(path, "what warrants a verdict", AGAIN).arrays)
