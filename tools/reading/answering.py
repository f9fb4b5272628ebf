"""Which sentences of some documents answer a question: a small trained head over the embedded encoder.

QB-RAG compares a question with questions written beforehand. This head compares it with every sentence of the documents
that may answer: both are brought into one space (a two-tower model; Karpukhin and others 2020, arXiv:2004.04906), and
beside that count the cosines, the words in common, the section and the place in it. Of the probabilities one is that
none of the sentences answers. Trained by `anamnesis dev reader answers` (`evals/training/answer_head.py`). Ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tools.encoders import Vectors
from tools.passages.lexical import coverage, inverse_frequency
from tools.reading.features import layers
from tools.remembered import Remembered
from tools.text.tokens import tokens
from tools.weights import stored

WEIGHTS = Path(__file__).with_name("answering.safetensors")
AGAIN = "Reinstall the package, or train it again: anamnesis dev reader answers."
SECTIONS = ("overview", "presentation", "diagnosis", "confused with", "treatment", "when to seek help")
PARTS = (
    *("what it is", "uses", "taking it", "who should not take it", "pregnancy and breastfeeding", "kidneys and liver"),
    *("children and older people", "side effects", "monitoring", "interactions"),
)
"""Sections of the pages of medicines: which of them answers a question is read by itself."""
SIDE = len(SECTIONS) + 3  # which section, or another; the first sentence of it, and how far down
CHEAP = 4  # cosines with the sentence alone and behind its title; words in common with both
PARTS_WEIGH = 2.0  # ours: of the part beside the sentences themselves
SURELY = 0.6  # ours: probability from which a part is what is asked for: its best sentence stands before all others
LEADS = 0.05  # ours: probability that such a sentence needs
BEHIND = 0.999  # how little the others stand behind it
FAINT = 1e-4  # ours: added to a probability before its logarithm is taken
LAST = slice(-384, None)  # of the layers' states, those that tell the meaning
REMEMBERED = 4_096  # ours: sentences whose states are kept, 19 MB

_known = Remembered[str, NDArray[np.float16]](2 * REMEMBERED)


class Told(NamedTuple):
    """A sentence of a document: its text, the document's title, its section, and its place in that, from 0."""

    text: str
    title: str
    section: str
    place: int

    @property
    def titled(self) -> str:
        """The sentence behind its title and heading."""
        return f"{self.title}. {self.section}. {self.text}"


class Head(NamedTuple):
    """The weights: of the question's tower and the sentence's, of sections by question, of the cheap features, of none
    of them, and of `PARTS` by question."""

    question: NDArray[np.float32]
    question_bias: NDArray[np.float32]
    sentence: NDArray[np.float32]
    sentence_bias: NDArray[np.float32]
    side: NDArray[np.float32]
    side_bias: NDArray[np.float32]
    none: NDArray[np.float32]
    none_bias: NDArray[np.float32]
    cheap: NDArray[np.float32]
    scale: NDArray[np.float32]
    part: NDArray[np.float32]
    part_bias: NDArray[np.float32]


def answering(question: str, told: Sequence[Told]) -> NDArray[np.float32]:
    """Array (len(told) + 1,): how probably each sentence is the one that answers, and last that none does."""
    if not told:
        return np.ones(1, dtype=np.float32)
    head = _head()
    (asked,), said = states([question]), states_of(told)
    tower = _unit(head.sentence @ np.hstack([said, side(told)]).T + head.sentence_bias[:, None], axis=0)
    near = _unit(head.question @ asked + head.question_bias, axis=0) @ tower
    by_section = side(told) @ (head.side @ asked + head.side_bias)
    logits = head.scale[0] * near + by_section + cheap(question, told, asked, said) @ head.cheap
    none, (*parts, nowhere) = _softmax(np.append(logits, head.none @ asked + head.none_bias[0]))[-1], _parts(asked)
    if any(t.section.lower() in PARTS for t in told):
        none = max(none, nowhere)
    some = (1 - none) * _softmax(logits + _by_part(told, parts))
    inside = np.array([max(parts) >= SURELY and t.section.lower() == PARTS[int(np.argmax(parts))] for t in told])
    if some[inside].max(initial=0.0) >= LEADS:  # it takes the place of the likeliest one
        first, most = int(np.argmax(np.where(inside, some, -1.0))), float(some.max())
        some = np.minimum(some, BEHIND * most)
        some[first] = most
    return np.append(some, none).astype(np.float32)


def part_asked(question: str) -> str:
    """Which of `PARTS` of a medicine's page a question most probably asks for; "" where none tells it."""
    return (*PARTS, "")[int(_parts(states([question])[0]).argmax())]


def _parts(asked: NDArray[np.float32]) -> NDArray[np.float32]:
    """Array (len(PARTS) + 1,): how probably a question asks for each part, and last for what no part tells."""
    return _softmax(_head().part @ asked + _head().part_bias)


def _by_part(told: Sequence[Told], parts: Sequence[float]) -> NDArray[np.float32]:
    """Array (len(told),): the logarithm of how probably the part of each sentence is asked for; of a sentence that
    is of no such part that of the likeliest."""
    shares = dict(zip(PARTS, parts, strict=True))
    return PARTS_WEIGH * np.log([shares.get(t.section.lower(), max(parts)) + FAINT for t in told]).astype(np.float32)


def nearness(question: str, told: Sequence[Told]) -> NDArray[np.float32]:
    """Array (len(told),): the cosine of the question with each sentence alone."""
    if not told:
        return np.zeros(0, dtype=np.float32)
    asked, *said = states([question, *(t.text for t in told)])
    near: NDArray[np.float32] = np.stack(said)[:, LAST] @ asked[LAST]
    return near


def states(texts: Sequence[str]) -> Vectors:
    """Array (texts, 1152): the encoder's states of texts. The last ones are remembered."""
    known = _known.read({text: text for text in texts}, lambda new: layers(new).astype(np.float16))
    return np.stack([known[text] for text in texts]).astype(np.float32)


def states_of(told: Sequence[Told]) -> Vectors:
    """Array (told, 2304): the states of each sentence alone and behind its title."""
    both = states([*(t.text for t in told), *(t.titled for t in told)])
    return np.hstack([both[: len(told)], both[len(told) :]])


def side(told: Sequence[Told]) -> NDArray[np.float32]:
    """Array (told, SIDE): the section and the place of each sentence."""
    out = np.zeros((len(told), SIDE), dtype=np.float32)
    for row, sentence in zip(out, told, strict=True):
        section = sentence.section.lower()
        row[SECTIONS.index(section) if section in SECTIONS else len(SECTIONS)] = 1.0
        row[-2:] = float(sentence.place == 0), 1 / (1 + sentence.place)
    return out


def cheap(question: str, told: Sequence[Told], asked: Vectors, said: Vectors) -> NDArray[np.float32]:
    """Array (told, CHEAP)."""
    half = said.shape[1] // 2
    out = [said[:, :half][:, LAST] @ asked[LAST], said[:, LAST] @ asked[LAST]]
    wanted = tokens(question)
    for texts in ([t.text for t in told], [t.titled for t in told]):
        bags = [_bag(text) for text in texts]
        out.append(coverage(wanted, bags, inverse_frequency(bags)))
    return np.stack(out, axis=1).astype(np.float32)


@lru_cache(maxsize=4 * REMEMBERED)
def _bag(text: str) -> frozenset[str]:
    return frozenset(tokens(text))


def _softmax(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    shares: NDArray[np.float32] = np.exp(logits - logits.max())
    unit: NDArray[np.float32] = shares / shares.sum()
    return unit


def _unit(vectors: Vectors, axis: int) -> Vectors:
    unit: Vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=axis, keepdims=True), 1e-9)
    return unit


@lru_cache(maxsize=1)
def _head() -> Head:
    held = stored(WEIGHTS, "the head of answering sentences", AGAIN).arrays
    return Head(**{name: held[name] for name in Head._fields})
