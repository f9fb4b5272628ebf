"""How probable it is that a document is about what a closed question asks: a regression over nearness and its products.

The reader takes a result for an answer whatever it is a result of: of a study that shares half of the question's words
(the medicine, not the outcome) it makes a verdict. So a study speaks only where it meets the question's words, the rare
ones most, and its meaning. Trained by `anamnesis dev reader topical` (`evals/training/topical.py`) on questions beside
the article that each was asked of, and beside others that a search for it finds. Ours.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphs.verdicts.stated import people_of
from graphs.verdicts.studies import PLAIN, Document, parts_of
from tools.encoders import Encoder
from tools.literature.vocabulary import published
from tools.medicines.names import medicines_in
from tools.reading.answered import content_words
from tools.text.tokens import tokens
from tools.weights import stored

WEIGHTS = Path(__file__).with_name("topical.safetensors")
AGAIN = "Reinstall the package, or train it again: anamnesis dev reader topical --data DATA."
NEAREST = 3  # ours: sentences of a document whose nearness is averaged
FEATURES = 7
Matrix = NDArray[np.float64]


class Weights(NamedTuple):
    """What features are brought to, (`FEATURES`,) each, the regression over them and over the products of every two,
    and its bias, (1,)."""

    mean: Matrix
    scale: Matrix
    weight: Matrix
    bias: Matrix


def topical(question: str, documents: Sequence[Document], encoder: Encoder) -> list[float]:
    """Of each document the probability, 0..1, that it is about what the question asks."""
    if not documents:
        return []
    w = weights()
    logits = with_products((features(question, documents, encoder) - w.mean) / w.scale) @ w.weight + w.bias
    found: list[float] = (1 / (1 + np.exp(-logits))).tolist()
    return found


def features(question: str, documents: Sequence[Document], encoder: Encoder) -> Matrix:
    """Array (documents, `FEATURES`): the share of the question's words, weighed by how rare each is, that the document
    holds, and its best sentence; the cosine of the question with the nearest sentence, and with the nearest three on
    average, and with the title; those of its subject and of its outcome with the nearest."""
    asked, wanted = parts_of(question), _wanted(question)
    parts = encoder.encode_queries([question, asked.subject, asked.outcome])
    rows = []
    for document in documents:
        told = [document.opening, *document.sentences]
        near = encoder.encode_documents(told) @ parts.T
        whole = np.sort(near[:, 0])
        shares = [_share(wanted, document.text), max(_share(wanted, text) for text in told)]
        most = [whole[-1], whole[-NEAREST:].mean(), near[0, 0], near[:, 1].max(), near[:, 2].max()]
        rows.append([*shares, *most])
    return np.array(rows, dtype=np.float64)


def with_products(rows: Matrix) -> Matrix:
    """Rows of features, each with the products of every two of them."""
    one, other = np.triu_indices(rows.shape[1])
    return np.hstack([rows, rows[:, one] * rows[:, other]])


def _wanted(question: str) -> list[tuple[frozenset[str], float]]:
    """The stems of each word of a question that names something, with how rare it is in published prose."""
    words = [(frozenset(tokens(w)), published().weight(w)) for w in content_words(question) if len(w) > 1]
    return [(stems, weight) for stems, weight in words if stems - PLAIN]


def _share(wanted: Sequence[tuple[frozenset[str], float]], text: str) -> float:
    held, total = set(tokens(text)), sum(weight for _, weight in wanted)
    return sum(weight for stems, weight in wanted if stems & held) / total if total else 1.0


@lru_cache(maxsize=1)
def weights(path: Path = WEIGHTS) -> Weights:
    """The shipped weights; raises DataError when they are missing or damaged."""
    return Weights(**stored(path, "what tells what a study is about", AGAIN).arrays)


# Whether a sentence speaks of what a closed question asks, where its words show it plainly: of an effect, of harm, of
# how groups were before treatment, of another comparison, or only of the research that is to come.
#
# The trained reader takes "both were well tolerated" for an answer to "is it more effective". In doubt it counts.


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


# All ours.
BEFORE = _words(
    r"\bat (?:baseline|entry|enrol+ment|inclusion|study entry|the (?:start|outset|beginning) of the (?:study|trial))\b"
    r"|\bbaseline\s(?!to\b)|\b(?:demographics?|(?:demographic|clinical|patient) characteristics)\b"
    r"|\bgroups (?:were|was) (?:\w+ ){0,2}(?:matched|balanced)\b"
)
ALIKE = _words(
    r"\b(?:similar\w*|comparable|balanced|matched|equal|alike|homogeneous"
    r"|no (?:\w+ ){0,2}differences?"
    r"|not (?:\w+ ){0,1}differ\w*|non-?inferior\w*|equivalent|as (?:effective|well|good) as)\b"
)
SINCE = _words(
    r"\b(?:from|to|versus|over|above|below) baseline\b|\bcompared (?:with|to) baseline\b|\bchang\w+|\bafter\b"
    r"|\bfollow-?up\b|\bat (?:the end|\d+|week|month|day|discharge)\b|\b(?:but|whereas|however|although|while)\b"
    r"|\b(?:reduc|improv|adjust|decreas|increas)\w*"
)
ASKS_BENEFIT = _words(
    r"\b(?:effective|efficac|better|superior|help|work|reliev|improv|treat|cur(?:e|ing)\b|prevent|reduc|lower|shorten|speed"
    r"|useful|benefi|eas(?:e|es|ing)\b|heal|prolong|slow)"
)
ASKS_HARM = _words(
    r"\b(?:unsafe|safe|side[- ]effect|adverse|tolera|toxic|harm|danger|hurt|damag|injur|caus|worsen"
    r"|discontinu|withdraw)"
)
ASKS_SAFETY = _words(r"\b(?:unsafe|safe|side[- ]effects?|adverse|tolera|toxic|harm)")
TOLERATED = _words(r"\b(?:tolerated|tolerab\w+|safe(?:ty|ly|r)?)\b")
EVENTS = _words(r"\badverse\b|\bside[- ]effects?\b|\btoxicit\w+|\b(?:withdr|discontinu)\w+ (?:due|because|owing)\b")
HARMS = _words(
    r"\b(?:risks?|harm\w*|deaths?|died|mortality|bleed\w*|bled|injur\w*|damage|complication\w*|malformation\w*)\b"
)
EFFICACY = _words(
    r"\b(?:effective\w*|efficac\w*|reliev\w*|relief|respon[sd]\w*|remission|cur(?:e|es|ed)|heal(?:ed|ing)|surviv\w*"
    r"|mortality|recover\w*|benefi\w*|improv\w*|superior\w*|inferior\w*|pain\w*|symptom\w*|recurr\w*|relaps\w*)\b"
)
WORKED = _words(
    r"\b(?:effective\w*|efficac\w*|superior\w*|reliev\w*|relief|response rates?|remission|cur(?:e|es|ed))\b"
)
IN_BRACKETS = re.compile(r"\s?\([^()]{0,60}\)")
MORE = re.compile(r"\w")
CAVEAT = _words(
    r"\b(?:further|more|larger?|additional|future|longer|well-designed|confirmatory)\b[^.;]{0,60}"
    r"\b(?:stud(?:y|ies)|trials?|research|data|evidence|investigations?|work)\b[^.;]{0,40}"
    r"\b(?:needed|required|warranted|necessary|recommended|justified|awaited)\b"
    r"|\b(?:needs?|requires?|warrants?|deserves?|merits?) (?:further|more|larger|additional)\b"
    r"|\b(?:should|needs? to|must) be confirmed\b"
)
OPEN = _words(
    r"\b(?:insufficient|no evidence|not enough|uncertain\w*|unclear|inconclusive|limited|lack of|not settled|unknown"
    r"|cannot|unproven|whether)\b"
)


def of_another_matter(question: str, text: str) -> bool:
    """Whether a sentence plainly speaks of something else than a question asks: only of who was studied; of groups
    before treatment; of harm where an effect is asked for; of an effect where safety is."""
    if not MORE.search(IN_BRACKETS.sub("", text).replace(people_of([text]) or " ", "", 1)):
        return True
    if BEFORE.search(text) and ALIKE.search(text) and not SINCE.search(text):
        return BEFORE.search(question) is None
    benefit, harm = ASKS_BENEFIT.search(question) is not None, ASKS_HARM.search(question) is not None
    if benefit and not harm:
        tolerated = TOLERATED.search(text) is not None
        if EFFICACY.search(text) or not (tolerated or EVENTS.search(text)):
            return False
        return tolerated or not _shared(parts_of(question).outcome, text)
    if ASKS_SAFETY.search(question) and not benefit:
        told = any(harms.search(text) for harms in (TOLERATED, EVENTS, HARMS))
        return WORKED.search(text) is not None and not told
    return False


def likens_to_another(question: str, text: str) -> bool:
    """Whether a sentence says that a medicine of the question is like one not asked about: it denies nothing."""
    asked = {name for m in medicines_in(question) for name in (m.generic, "" if m.generic else m.family) if name}
    told = [{name for name in (m.generic, m.family) if name} for m in medicines_in(text)]
    of_it = [bool(names & asked) for names in told]
    return ALIKE.search(text) is not None and any(of_it) and not all(of_it)


def is_caveat(text: str) -> bool:
    """Whether a sentence only asks for more research, and does not say that the matter itself is open."""
    return CAVEAT.search(text) is not None and OPEN.search(text) is None


def _shared(outcome: str, text: str) -> bool:
    return bool((set(tokens(outcome)) - PLAIN) & set(tokens(text)))
