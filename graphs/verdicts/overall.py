"""What one study answers in all: a regression over what the reader makes of each of its sentences.

The sentence that the reader is surest of is often not the one that answers: it says what was not known before the
study, how alike the groups were at the start, or that a further outcome did not differ. So all results of a study are
weighed together, by how near each is to the question and in which order they stand. Trained by
`anamnesis dev reader overall` (`evals/training/overall.py`) on questions beside the abstract that answers them. Ours.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphs.verdicts.studies import parts_of, significances
from tools.encoders import Encoder
from tools.reading.contract import ROLES, STANCES, Reading, Role, Stance, role_of
from tools.weights import stored

WEIGHTS = Path(__file__).with_name("overall.safetensors")
AGAIN = "Reinstall the package, or train it again: anamnesis dev reader overall --data DATA."
OUTCOMES = (Stance.SUPPORTS, Stance.REFUTES, Stance.MIXED)
SAID = STANCES[:4]  # the stances that answer
BEFORE = (Role.BACKGROUND, Role.AIM, Role.METHOD, Role.TITLE, Role.QUESTION)  # what is told before the results
HEADING = re.compile(r"([A-Z][A-Za-z /&,'’()-]{2,60}):\s")
SHARP = 4.0  # ours: how much more a sentence weighs that is nearer to the question
FLOOR = 0.03  # ours: added to probabilities before their ratio is taken
HALF = 0.5  # of the probability of a role
FORMS = (  # ours: what a closed question asks for decides what a result says to it
    re.compile(r"\b(?:affect|influenc|impact|chang|alter|role|relat|associat|correlat|predict|effect)", re.I),
    re.compile(
        r"\b(?:improv|reduc|increas|benefi|prevent|effective|better|superior|useful|reliable|feasible|safe)", re.I
    ),
    re.compile(r"\b(?:necessary|need|justified|should|mandatory|required|really|always)\b", re.I),
    re.compile(r"\b(?:differ\w*|same)\b", re.I),
)
Matrix = NDArray[np.float64]


class Part(NamedTuple):
    """A sentence of a study: its text, the line that it stands in, and what the reader makes of it."""

    text: str
    line: str
    reading: Reading


class Overall(NamedTuple):
    """How probable it is that a study answers yes, no, or that it depends or stays open; how near each of its results
    is to the question, by its place."""

    chances: Mapping[Stance, float]
    near: Mapping[int, float]


class Weights(NamedTuple):
    """What features are brought to, (features,) each, the regression over them, (features, outcomes), and its bias."""

    mean: Matrix
    scale: Matrix
    weight: Matrix
    bias: Matrix


def overall(question: str, parts: Sequence[Part], encoder: Encoder) -> Overall:
    """What a study answers, all its sentences in their order; they are one at least."""
    w = weights()
    results = results_of(parts)
    logits = ((features(question, parts, results, encoder) - w.mean) / w.scale) @ w.weight + w.bias
    shares = np.exp(logits - logits.max())
    near = dict(zip(results, nearness(question, [parts[at].text for at in results], encoder).tolist(), strict=True))
    return Overall(dict(zip(OUTCOMES, (shares / shares.sum()).tolist(), strict=True)), near)


def results_of(parts: Sequence[Part]) -> tuple[int, ...]:
    """The places of a study's results: what stands under a heading of results, else behind its last aim or method.

    Where that leaves none, what the reader takes for results; where it takes none, all.
    """
    headed = [_role(part.line) for part in parts]
    telling = [part.reading.telling >= HALF for part in parts]
    if any(role is not None and role not in BEFORE for role in headed):
        held = [role not in BEFORE for role in headed]
    else:
        silent = [sum(p.reading.roles[ROLES.index(r)] for r in (Role.AIM, Role.METHOD)) > HALF for p in parts]
        last = max((at for at, may in enumerate(silent) if may), default=-1)
        held = [at > last or last == len(parts) - 1 for at in range(len(parts))]
    found = tuple(at for at in range(len(parts)) if held[at] and telling[at])
    return found or tuple(at for at, may in enumerate(telling) if may) or tuple(range(len(parts)))


def features(question: str, parts: Sequence[Part], results: Sequence[int], encoder: Encoder) -> Matrix:
    """What is weighed of a study's results, (features,).

    Their stances on average, near ones first, and at their highest; the log odds of yes against no on average, of the
    first with a test of significance, the first, the last, and the nearest; what their tests show; the question's form.
    """
    asked = parts_of(question)
    told = [parts[at] for at in results]
    near = nearness(question, [p.text for p in told], encoder)
    stances = np.array([[p.reading.stance(s) for s in SAID] for p in told])
    weight = np.exp(SHARP * (near - near.max())) * [p.reading.telling for p in told]
    weight /= weight.sum() or 1.0
    odds = np.log((stances[:, 0] + FLOOR) / (stances[:, 1] + FLOOR))
    tests = [significances([p.text for p in parts])[at] for at in results]
    first = next((at for at, test in enumerate(tests) if test is not None), 0)
    shown = [np.mean([test is told for test in tests]) for told in (True, False)]
    return np.array(
        [
            *(weight @ stances),
            *stances.max(axis=0),
            weight @ odds,
            odds[first],
            odds[0],
            odds[-1],
            odds[near.argmax()],
            *shown,
            float(tests[first] is True) - float(tests[first] is False),
            near.max(),
            float(asked.sameness),
            *(float(form.search(question) is not None) for form in FORMS),
        ],
        dtype=np.float64,
    )


def nearness(question: str, texts: Sequence[str], encoder: Encoder) -> Matrix:
    """Array (texts,): the mean of the cosines with the question and with its outcome."""
    wanted = encoder.encode_queries([question, parts_of(question).outcome])
    near: Matrix = (encoder.encode_documents(texts) @ wanted.T).mean(axis=1)
    return near


def _role(line: str) -> Role | None:
    """What the heading that a line begins with says of it."""
    headed = HEADING.match(line)
    return role_of(headed[1]) if headed else None


@lru_cache(maxsize=1)
def weights(path: Path = WEIGHTS) -> Weights:
    """The shipped weights; raises DataError when they are missing or damaged."""
    return Weights(**stored(path, "what a study answers in all", AGAIN).arrays)
