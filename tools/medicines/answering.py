"""What a record's advice answers to the question that was asked: what is asked, and whether its words answer that.

"Avoid both together" answers "may I take both?" with no, "should one be stopped?" with yes, and "does one raise the
other's level?" with neither. A regression over the embedded encoder's layers reads what is asked, the medicines' names
left out (`ASKS`); a second one joins that with the kind of advice and with what the trained reader makes of the
record's words (`tools.reading`), and says how probable each answer is. A warning of the rules (`Checked.answer`) needs
less to be told than anything else, least where a patient is told of. Trained by `anamnesis dev reader medicines`
(`evals/training/medicine_head.py`). Ours.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from tools.medicines.checks import ORDER, Answer, Checked
from tools.medicines.constraints import asked_of, named_in
from tools.medicines.records import Advice
from tools.reading.contract import Pair, Reader
from tools.reading.features import layers
from tools.spelling import mended
from tools.text.language import language_of
from tools.text.questions import AUXILIARY
from tools.text.sentences import sentences
from tools.weights import stored

WEIGHTS = Path(__file__).with_name("answering.safetensors")
AGAIN = "Reinstall the package, or train it again: anamnesis dev reader medicines."
ASKS = ("may", "harm", "interacts", "other")  # whether it may be taken, is dangerous, affects another; anything else
SAID: tuple[Answer, ...] = ("yes", "no", "depends", "")  # "": the record's words do not answer
READ = 4  # ours: checks whose words are read, the gravest first
VERB = re.compile(rf"\b{AUXILIARY}\b", re.IGNORECASE)
WEIGH = 4.0  # ours: of the layers beside what is counted
FAINT = 1e-4  # ours: added to a probability before its logarithm is taken
Floats = NDArray[np.float32]


class Bars(NamedTuple):
    """Probabilities from which an answer is told: any, one that the rules give too, a warning by the rules; and where a
    patient is told of, a danger by the rules, a caution, and that one or the other warning holds. All ours, chosen on
    our own development questions (`evals/data/dev`): the last ones so that as many dangers are found there as by the
    rules alone."""

    any: float = 0.9
    agreed: float = 0.8
    warning: float = 0.6
    danger: float = 0.2
    caution: float = 0.4
    either: float = 0.8


class Head(NamedTuple):
    """The weights: of what is asked, and of the answer (what is counted, brought to mean and scale, and the layers by
    the advice)."""

    asks: Floats
    asks_bias: Floats
    mean: Floats
    scale: Floats
    counted: Floats
    layers: Floats
    bias: Floats


class Seen(NamedTuple):
    """A question and its checks as the head sees them: the layers of what is asked, (DENSE,), and what the reader makes
    of the record's words, (2 * stances,)."""

    found: Checked
    asking: Floats
    read: Floats
    bare: bool
    told: bool


def answer_of(question: str, told: str, found: Checked, reader: Reader, bars: Bars | None = None) -> Answer:
    """What the gravest check answers to a question; "" where that is not sure.

    Args:
        told: what is told of the patient beside it. reader: reads English; to other languages the rules answer.
    """
    if not found.decides:
        return ""
    if language_of(question) != "en":
        return found.answer(found.checks[0])
    (seen,) = see([(question, told, found)], reader)
    return decided(found, probabilities(seen), bars or Bars())


def decided(found: Checked, said: Sequence[float], bars: Bars) -> Answer:
    """The answer by how probable each of `SAID` is: the likeliest; else the rules' warning, which needs less."""
    best, answer = max((p, a) for p, a in zip(said, SAID, strict=True) if a)
    rule = found.answer(found.checks[0])
    if found.warns and found.asks in ("harm", "interacts") and answer == "no":
        # "is that a problem?", "does it matter?": no is never read into a danger
        return rule
    if best >= (bars.agreed if answer == rule else bars.any):
        return answer
    advice, p = found.checks[0].advice, dict(zip(SAID, said, strict=True))
    if not rule or advice is Advice.USUAL:
        return ""
    least = bars.warning if found.general else bars.danger if advice is Advice.AVOID else bars.caution
    if p[rule] >= least:
        return rule
    bad: Answer = "no" if found.asks == "may" else "yes"
    warned = not found.general and p[bad] + p["depends"] >= bars.either
    return (bad if p[bad] >= p["depends"] else "depends") if warned else ""


def see(rows: Sequence[tuple[str, str, Checked]], reader: Reader) -> list[Seen]:
    """Questions, each with what is told beside it and its checks, as the head sees them."""
    asked = [asked_of(mended(question)) for question, _, _ in rows]
    asking = WEIGH * layers([unnamed(text) for text in asked])
    pairs = [_pairs(f"{told} {question}".strip(), found) for question, told, found in rows]
    readings = iter(reader.read([pair for own in pairs for pair in own]))
    out = []
    for (_, told, found), text, own, vector in zip(rows, asked, pairs, asking, strict=True):
        stances = np.array([next(readings).stances for _ in own])
        logits = np.log((stances + FAINT) / (1 - stances + FAINT))
        read = np.concatenate([logits[0], logits[1:].max(0)])
        out.append(Seen(found, vector, read, VERB.search(text) is None, bool(told)))
    return out


def unnamed(text: str) -> str:
    """A text with one word in place of each medicine's name."""
    for medicine in sorted(named_in(text), key=lambda m: -m.start):
        text = f"{text[: medicine.start]}drug{text[medicine.start + len(medicine.written) :]}"
    return text


def _pairs(question: str, found: Checked) -> list[Pair]:
    """The question with the gravest check's words as a whole, then with each sentence of the first checks."""
    first = found.checks[0]
    said = [(s.of(c.says), c.page) for c in found.checks[:READ] for s in sentences(c.says)]
    return [Pair(question, text, page.replace("-", " ")) for text, page in [(first.says, first.page), *said]]


def counted(seen: Seen, asks: NDArray[np.floating]) -> NDArray[np.floating]:
    """What is counted of a question and its checks, beside the layers."""
    first, checks = seen.found.checks[0], seen.found.checks
    advice, together = one_hot(first.advice), float(first.together)
    beside = [float(any(c.advice is a for c in checks)) for a in ORDER]
    rest = [
        together,
        float(seen.found.general),
        min(len(checks), READ) / READ,
        *beside,
        float(seen.bare),
        float(seen.told),
    ]
    crossed = np.outer(advice, asks).ravel()
    return np.concatenate([asks, crossed, together * crossed, advice, rest, seen.read])


def one_hot(advice: Advice) -> NDArray[np.floating]:
    """1 at the place of an advice in `ORDER`."""
    return np.array([float(advice is a) for a in ORDER])


def by_advice(seen: Seen) -> NDArray[np.floating]:
    """The layers, and once more in the place of the advice."""
    return np.concatenate([seen.asking, np.outer(one_hot(seen.found.checks[0].advice), seen.asking).ravel()])


def probabilities(seen: Seen) -> list[float]:
    """How probable each of `SAID` is."""
    head = trained()
    asks = _softmax(head.asks @ seen.asking + head.asks_bias)
    x = (counted(seen, asks) - head.mean) / head.scale
    said = _softmax(head.counted @ x + head.layers @ by_advice(seen) + head.bias)
    return cast(list[float], said.tolist())


def _softmax(logits: NDArray[np.floating]) -> NDArray[np.floating]:
    weighed = np.exp(logits - logits.max())
    return cast(NDArray[np.floating], weighed / weighed.sum())


@lru_cache(maxsize=1)
def trained(path: Path = WEIGHTS) -> Head:
    """The shipped weights; raises DataError when they are missing or damaged."""
    return Head(**stored(path, "what medicines' records answer", AGAIN).arrays)
