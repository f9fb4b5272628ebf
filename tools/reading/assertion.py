"""How a clause states what it tells: present, absent, possible, past, or of somebody else; a trained head (ours).

A logistic regression over the embedded encoder's layers of the clause, of its sentence and of the sentence before
(means over their clauses, which are embedded anyway), the words around it, and what the rules of
`tools/text/clauses.py` say (as ConText, Harkema et al. 2009, has triggers and scopes). Trained by
`evals/assertion_head.py`. Where it is sure the clause is taken its way.
"""

from __future__ import annotations

import re
import zlib
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tools.reading.features import features
from tools.text.body_sites import is_only_a_part
from tools.text.clauses import Clause, patient_in, tells_of_oneself
from tools.text.negation import is_other_person, says_no
from tools.text.sentences import Span, sentences
from tools.weights import stored

WEIGHTS = Path(__file__).parent / "assertions.safetensors"
AGAIN = "Reinstall the package, or train it again: anamnesis dev reader assertions --out FILE."
BUCKETS, RULES = 1 << 14, 64  # ours: of hashed words, and of what the rules say
BEFORE, NEAR, AFTER, PREVIOUS = 14, 4, 8, 6  # ours: words before, just before, after, and of the sentence before
WIDE = 400  # characters; ours: how far around a clause these words are looked for
WEIGHT = 3.0  # ours: of the words beside the rules and the encoder
UNSURE = 0.5  # ours: probability from which a clause is unsure
TURNED = 0.7  # ours: from which it is denied, stated, of the past or of somebody else against the rules
UNLIKELY = 0.1  # ours: below which it is not of the past or of somebody else, whatever the rules say
WORD = re.compile(r"[a-z]+(?:'[a-z]+)?|[\u4e00-\u9fff]|\d+|[^\w\s]")
_PRONOUN = re.compile(r"\W*s?he\b", re.IGNORECASE)
Matrix = NDArray[np.float32]


class Assertion(StrEnum):
    """How a finding is stated; the classes of the i2b2/VA 2010 task, less the hypothetical."""

    PRESENT = "present"
    ABSENT = "absent"
    POSSIBLE = "possible"
    PAST = "past"
    OTHER = "other"


ASSERTIONS = tuple(Assertion)


class Context(NamedTuple):
    """What the head sees of a clause: hashed words and rules (buckets, values), and the texts of the clause, of those
    of its sentence and of the sentence before."""

    buckets: NDArray[np.int64]
    values: Matrix
    clause: str
    sentence: tuple[str, ...]
    before: tuple[str, ...]


class Head(NamedTuple):
    """Weights of the encoder's part (assertions, 3 * DENSE), of buckets (assertions, BUCKETS + RULES), and a bias."""

    dense: Matrix
    words: Matrix
    bias: Matrix


def asserted(text: str, told: Sequence[Clause]) -> list[Clause]:
    """The clauses of a text, taken as the head reads them where it is sure; readings of numbers stay as they are."""
    worded = [at for at, clause in enumerate(told) if not clause.reading]
    out = list(told)
    if not worded:
        return out
    chances = assertions(contexts(text, [told[at] for at in worded]))
    patient, third = patient_in(text), not tells_of_oneself(text)
    for at, row in zip(worded, chances, strict=True):
        out[at] = _taken(told[at], dict(zip(ASSERTIONS, row.tolist(), strict=True)), patient, third)
    return out


def _taken(clause: Clause, chance: dict[Assertion, float], patient: str, third: bool) -> Clause:
    """``patient``: the word by which the teller names the patient; of my daughter, nobody else but a third is meant.

    ``third``: nobody tells of himself, so that "she" who is introduced by no word is the patient.
    """
    if clause.allergy or clause.heading or is_only_a_part(clause.text):
        return clause
    past = chance[Assertion.PAST] >= (UNLIKELY if clause.past else TURNED) or (clause.past and clause.background)
    other = chance[Assertion.OTHER] >= (UNLIKELY if clause.other else TURNED) or (clause.other and clause.background)
    if (patient or (third and _PRONOUN.match(clause.text))) and not clause.other:
        other = other and is_other_person(clause.told, patient)
    present = clause.present
    if present and chance[Assertion.POSSIBLE] >= UNSURE:
        present = None
    elif present and chance[Assertion.ABSENT] >= TURNED and not (says_no(clause.told) or says_no(clause.text)):
        present = False  # of a clause that itself says no, the rules know whether it states a lack
    elif present is False and chance[Assertion.PRESENT] >= TURNED and clause.told == clause.plain:
        present = True  # nothing in it denies: the scope of a denial before it reached too far
    return replace(clause, past=past, other=other, present=present)


def assertions(seen: Sequence[Context]) -> Matrix:
    """Array (clauses, assertions): how probably each clause is stated in each way; a row sums to 1."""
    head = weights()
    words = np.stack([head.words[:, one.buckets] @ one.values for one in seen])
    logits = meant(seen) @ head.dense.T + words + head.bias
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    found: Matrix = shares / shares.sum(axis=1, keepdims=True)
    return found


def meant(seen: Sequence[Context]) -> Matrix:
    """Array (clauses, 3 * DENSE): the encoder's layers of the clause, of its sentence, and of the one before."""
    groups = {id(some): some for one in seen for some in (one.sentence, one.before)}  # clauses share their sentence's
    texts = list(dict.fromkeys([*(one.clause for one in seen), *(text for some in groups.values() for text in some)]))
    dense = dict(zip(texts, (read.dense for read in features(texts)), strict=True))

    def mean(some: Sequence[str]) -> Matrix:
        share = np.array([len(text) for text in some], dtype=np.float32)
        found: Matrix = (share / share.sum()) @ np.stack([dense[text] for text in some])
        return found

    means = {at: mean(some) for at, some in groups.items()}
    return np.stack(
        [np.concatenate([dense[one.clause], means[id(one.sentence)], means[id(one.before)]]) for one in seen]
    )


def contexts(text: str, told: Sequence[Clause]) -> list[Context]:
    """What the head sees of the clauses of a text, in order."""
    spans = sentences(text)
    starts = [s.start for s in spans]
    places = [max(bisect_right(starts, clause.start) - 1, 0) for clause in told]
    mates: dict[int, list[str]] = {}
    for clause, at in zip(told, places, strict=True):
        mates.setdefault(at, []).append(clause.told)
    within = {at: tuple(some) for at, some in mates.items()}
    out = []
    for clause, at in zip(told, places, strict=True):
        buckets, values = _worded(text, clause, spans[at], spans[at - 1].of(text) if at else "")
        out.append(Context(buckets, values, clause.told, within[at], within.get(at - 1) or (clause.told,)))
    return out


def _worded(text: str, clause: Clause, sentence: Span, previous: str) -> tuple[NDArray[np.int64], Matrix]:
    counts: Counter[int] = Counter()
    for gram, count in Counter(_grams(text, clause, sentence, previous)).items():
        counts[zlib.crc32(gram.encode()) % BUCKETS] += min(count, 2)
    rules = (f"{clause.present}", f"past {clause.past}", f"other {clause.other}", f"normal {clause.normal}")
    whole = f"{clause.present} {clause.past} {clause.other}"
    places = sorted(BUCKETS + zlib.crc32(rule.encode()) % RULES for rule in (*rules, whole))
    found = sorted(counts)
    values = np.array([counts[b] for b in found], dtype=np.float32)
    values *= WEIGHT / max(float(np.linalg.norm(values)), 1.0)
    ones = np.ones(len(places), dtype=np.float32)
    return np.array([*found, *places], dtype=np.int64), np.concatenate([values, ones])


def _grams(text: str, clause: Clause, sentence: Span, previous: str) -> Iterator[str]:
    """The words of the clause and those around it, each with where it stands."""
    before = _words(text[max(sentence.start, clause.start - WIDE) : clause.start])[-BEFORE:]
    first, last = _words(previous[:WIDE])[:PREVIOUS], _words(previous[-WIDE:])[-NEAR:]
    yield from _joined("m", ["^", *_words(clause.text), "$"], 3)
    yield from _joined("b", before, 2)
    yield from _joined("n", before[-NEAR:], 3)
    yield from _joined("a", _words(text[clause.end : min(sentence.end, clause.end + WIDE)])[:AFTER], 2)
    yield from _joined("p", first + last, 2)


def _joined(where: str, words: Sequence[str], longest: int) -> Iterator[str]:
    for size in range(1, longest + 1):
        yield from (where + "_".join(words[at : at + size]) for at in range(len(words) - size + 1))


def _words(text: str) -> list[str]:
    return WORD.findall(text.lower().replace("’", "'"))


@lru_cache(maxsize=1)
def weights(path: Path = WEIGHTS) -> Head:
    """The shipped weights; raises DataError when they are missing or damaged."""
    arrays: dict[str, Any] = stored(path, "the assertion head", AGAIN).arrays
    return Head(**arrays)
