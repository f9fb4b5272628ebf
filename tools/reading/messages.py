"""What a message is: trained heads over the embedded encoder.

Logistic regressions over `tools/reading/features.py`, trained by `evals/message_heads.py` on `graphs/triage/examples/`
and on the *fit* part of BioASQ's and PubMedQA's questions: what sort of message a text is, whether it tells of an
emergency, which, what it asks of what was said before, and which section of a text about a disease would answer it. The
first and the third are read from how medical the words are, too: genes and rare terms are no words that the encoder
knows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tools.encoders import Vectors
from tools.literature.vocabulary import asks, chinese_terms, folded, known_words, published
from tools.reading.features import BUCKETS, READ, Features, features, is_cut
from tools.spelling import corrected
from tools.text.questions import is_question, parts
from tools.weights import stored

WEIGHTS = Path(__file__).parent / "messages.safetensors"
AGAIN = "Reinstall the package, or train it again: anamnesis dev reader heads --data DATA --out FILE."
# ours: probability from which a message is surely of another field, and from which one with a term of medicine is; held
# out, 2.1 % of other writers' medical messages in training reach the first before the library is asked, and 87 % of
# other fields
SURELY, SURELY_WITH_TERM = 0.5, 0.9
PLAINLY = 0.9  # ours: probability from which a question, or what stands beside one, tells of an emergency
FEWEST = 5  # ours: words, or pairs of Chinese characters, below which a message says little by itself
IN_FEW_WORDS = 0.91  # ours: probability from which such a message tells of an emergency
# ours: the same of a message within a conversation, and what it must reach for the case to be heard with it; held out,
# 74 % of replies that tell an emergency reach the first, and 3.4 % of the others
IN_CONVERSATION, ADDS = 0.8, 0.3
# ours: who a Chinese message is about, before what it tells: the head hears less behind "72岁男性，"
PERSON_ZH = re.compile(
    r"^\W*(?:患者|病人)?[，,、\s]*(?:[男女](?:性|孩|童|婴|士)?[，,、\s]*)?(?:\d{1,3}|[一二三四五六七八九十]+)(?:岁|个?月|周|天)大?的?"
    r"[，,、\s]*(?:[男女](?:性|孩|童|婴|士)?|老人|患者|病人|儿童|孩子)?[，,、。\s]+"
)
CLAUSE_ZH = re.compile(r"(?<=[\u4e00-\u9fff])[,，。；！!](?=[\u4e00-\u9fff])")
MOST_CLAUSES = 8  # ours: of a Chinese message, which may be one long sentence, that are read by themselves
MOST_SENTENCES = 12  # ours: of a message that is read without each in turn; a longer one is a history
QUIET = 0.3  # ours: probability up to which a sentence without a term may be beside the point
AGE_ALONE = re.compile(r"(?:\w+(?:'s|'m)? ){1,3}\d+(?: years? old)?(?:,? not \d+)?\W*", re.ASCII)  # "He is 63, not 36."
LONG = 50  # ours: words, or pairs of Chinese characters, of a long history
WORDS = re.compile(r"[A-Za-z\d'-]+|[\u4e00-\u9fff]{1,2}")
TERM = re.compile(r"[A-Za-z][\w'/-]*[A-Za-z0-9]", re.ASCII)  # a word that may be a term, a gene or a name
MEDICAL = 13  # numbers that tell how medical a text's words are
NAMED_TERMS = (0, 7, 9)  # those that are above 0 for a term of a list, or a code
MEDICAL_WEIGH = 0.6  # ours: of these beside the features
FURTHEST, MANY = 3.0, 4  # ours: bounds of a word's technicality either way, and of a count
TECHNICAL, TALK = 0.5, -1.0  # ours: technicality from which a word is a term, and up to which it is talk


class Sort(StrEnum):
    """Sorts of message, whatever was said before."""

    CASE = "case"
    QUESTION = "question"
    PATIENT_QUESTION = "patient_question"
    ASSISTANT = "assistant"
    COURTESY = "courtesy"
    OTHER = "other"


class Meaning(StrEnum):
    """What a message asks of what was said before it."""

    WHY = "why"
    NAMED = "named"
    ELSE = "else"
    SURE = "sure"
    AGAINST = "against"
    APART = "apart"
    ASK = "ask"
    QUESTION = "question"
    SUMMARY = "summary"
    SOURCES = "sources"
    TESTS = "tests"
    TREATMENT = "treatment"
    URGENT = "urgent"
    PROGNOSIS = "prognosis"
    DOSE = "dose"
    DISEASE = "disease"
    LEANS = "leans"
    PATIENT = "patient"
    ALONE = "alone"
    TELLS = "tells"


class Section(StrEnum):
    """What a whole section of a text about a disease is for, and what none is."""

    TREATMENT = "treatment"
    DIAGNOSIS = "diagnosis"
    PRESENTATION = "presentation"
    OVERVIEW = "overview"
    SEEK_HELP = "seek_help"
    CONFUSED_WITH = "confused_with"
    OTHER = "other"


SORTS = tuple(Sort)
MEANINGS = tuple(Meaning)
SECTIONS = tuple(Section)
PATIENT = (Sort.CASE, Sort.PATIENT_QUESTION)  # a patient is described
BESIDE = (Sort.OTHER, Sort.COURTESY, Sort.ASSISTANT)  # beside the point of a patient's story


class Sorted(NamedTuple):
    """Probabilities of each sort, in the order of `SORTS`, and whether a term of medicine is among the words."""

    sorts: tuple[float, ...]
    term: bool = False

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
        return self.of(Sort.OTHER) >= (SURELY_WITH_TERM if self.term else SURELY)

    @property
    def patient(self) -> bool:
        """Whether it rather describes a patient than not."""
        return self.of(*PATIENT) >= 0.5


class Heard(NamedTuple):
    """How surely a text tells of an emergency of now, and how likely each kind of it is."""

    probability: float
    kinds: dict[str, float]


class Term(NamedTuple):
    """A word: how technical it is, and whether a list of medicine, a list of codes or any list holds it."""

    technical: float
    listed: bool
    code: bool
    known: bool


class Heads(NamedTuple):
    """The weights: of sorts (6) and of an emergency (1), of sorts by how medical the words are; of an emergency within
    a conversation; of kinds of emergency, of meanings within a conversation and of sections asked for (of the n-grams
    those in some buckets, meanings by how medical the words are and by what was said before, too); and from which
    probability a short text tells of an emergency, and a long one."""

    dense: NDArray[np.float32]
    grams: NDArray[np.float32]
    bias: NDArray[np.float32]
    medical: NDArray[np.float32]
    replied: NDArray[np.float32]
    replied_grams: NDArray[np.float32]
    replied_bias: NDArray[np.float32]
    named: NDArray[np.float32]
    named_grams: NDArray[np.float32]
    named_buckets: NDArray[np.int64]
    named_bias: NDArray[np.float32]
    meant: NDArray[np.float32]
    meant_grams: NDArray[np.float32]
    meant_buckets: NDArray[np.int64]
    meant_beside: NDArray[np.float32]
    meant_bias: NDArray[np.float32]
    section: NDArray[np.float32]
    section_grams: NDArray[np.float32]
    section_buckets: NDArray[np.int64]
    section_bias: NDArray[np.float32]
    kinds: tuple[str, ...]
    emergency: tuple[float, ...]


def sorted_as(text: str) -> Sorted:
    """The probabilities of each sort of message."""
    return _sorted(text, features([text])[0])


def _sorted(text: str, read: Features) -> Sorted:
    words = medical(text)
    logits = _logits(read)[: len(SORTS)] + heads().medical @ words
    return Sorted(tuple(_softmax(logits).tolist()), bool(words[list(NAMED_TERMS)].any()))


def medical(text: str) -> Vectors:
    """Array (`MEDICAL`,): how medical a text's words are, those of asking left out; of Chinese, how many names of
    illnesses and medicines there are."""
    told = np.zeros(MEDICAL, dtype=np.float32)
    told[0] = min(len(chinese_terms(text)), MANY) / MANY
    words = [word for found in TERM.findall(text) if (word := _term(found)) is not None]
    if not words:
        told[1] = 1.0
        return MEDICAL_WEIGH * told
    technical = np.sort([word.technical for word in words])
    listed = [word.listed for word in words]
    told[2:6] = technical.mean(), technical[-1], technical[-3:].mean(), technical[:3].mean()
    told[6:9] = np.mean(listed), any(listed), min(sum(listed), MANY) / MANY
    told[9:11] = any(w.code for w in words), np.mean([not w.known for w in words])
    told[11:] = (technical >= TECHNICAL).mean(), (technical <= TALK).mean()
    return MEDICAL_WEIGH * told


@lru_cache(maxsize=20_000)
def _term(word: str) -> Term | None:
    """What is known of a word; None for a word of asking."""
    known, low = known_words(), folded(word.lower())
    code = known.code(word)
    if asks(low) or (len(low) < 3 and not code):
        return None
    technical = min(max(published().technical(word), -FURTHEST), FURTHEST)
    return Term(technical, known.listed(low), code, known.any(word))


def meant(text: str, *, of_case: bool) -> dict[Meaning, float]:
    """How probably a message asks each thing of what was said before: of a patient's case, or of an answer."""
    model, read = heads(), features([text])[0]
    logits = model.meant @ read.dense + model.meant_grams @ _held(read, model.meant_buckets) + model.meant_bias
    return dict(zip(MEANINGS, _softmax(logits + model.meant_beside @ beside(text, of_case)).tolist(), strict=True))


def section_asked(text: str) -> dict[Section, float]:
    """How probably each section of a text about a disease answers a question about that disease."""
    model, read = heads(), features([text])[0]
    logits = model.section @ read.dense + model.section_grams @ _held(read, model.section_buckets) + model.section_bias
    return dict(zip(SECTIONS, _softmax(logits).tolist(), strict=True))


def beside(text: str, of_case: bool) -> Vectors:
    """Array (`MEDICAL` + 3,): how medical the words are, what was said before, the length, whether it ends asking."""
    rest = [float(of_case), np.log1p(len(WORDS.findall(text))) / 2, float(text.rstrip().endswith(("?", "？")))]
    return np.concatenate([medical(text), np.array(rest, dtype=np.float32)])


def emergency_in(text: str, *, alone: bool = True, beside: float = 0.0, plainly: bool = False) -> Heard | None:
    """The emergency that a text surely enough tells of, whatever it asks besides; None when it tells of none.

    It is read as written, with misspelt words put right, and without what is beside the point: what is said besides may
    add an emergency and takes none away. ``alone``: nothing was said before; a message within a conversation, a few
    words, and a question must tell of it plainly. ``beside``: log-odds that something else adds to a text that asks
    nothing. ``plainly``: it must, whatever the text is.
    """
    chance_of, model = emergency_chance if alone else reply_chance, heads()
    text = max((text, corrected(text)[0], PERSON_ZH.sub("", text) or text), key=chance_of)
    chance = chance_of(text)
    least = IN_FEW_WORDS if alone and len(WORDS.findall(text)) < FEWEST else 0.0 if alone else IN_CONVERSATION
    if chance < least:
        return None
    told = " ".join(part for part in parts(text) if not is_question(part))
    asks = not told and sorted_as(text).of(Sort.QUESTION, Sort.PATIENT_QUESTION) >= 0.5
    raised = chance if asks or not beside else float(1 / (1 + (1 / chance - 1) * np.exp(-beside)))
    plainly = plainly or asks
    if raised < (PLAINLY if plainly else model.emergency[is_long(text)]):
        point = to_the_point(text)
        some = [(t, PLAINLY) for t in (told, *CLAUSE_ZH.split(text)[:MOST_CLAUSES], *_without_one(text)) if t]
        some += (
            [(point, model.emergency[is_long(point)])] if len(WORDS.findall(point)) >= FEWEST and not plainly else []
        )
        chance, text = max(((c, t) for t, least in some if (c := chance_of(t)) >= least), default=(0.0, ""))
        if not text:
            return None
    read = features([text])[0]
    logits = model.named @ read.dense + model.named_grams @ _held(read, model.named_buckets) + model.named_bias
    return Heard(chance, dict(zip(model.kinds, _softmax(logits).tolist(), strict=True)))


def to_the_point(text: str) -> str:
    """A message without the sentences that tell nothing of illness and ask nothing: no term is in them, and they
    are of another sort or tell an age alone. Of a long one as much of its beginning and of its end as the heads read.
    """
    said = parts(text)
    first = _pointed(said, of_long=is_cut(text))
    last = _pointed(said[: first[-1] : -1], of_long=is_cut(text)) if first else []
    kept = [said[n] for n in first] + [said[len(said) - 1 - n] for n in reversed(last)]
    return " ".join(kept or said)


def _pointed(said: Sequence[str], *, of_long: bool) -> list[int]:
    """The places of the sentences that are to the point, until they are as much as is read of a beginning."""
    kept: list[int] = []
    at, wanted = 0, READ
    while at < len(said) and wanted >= 0:
        ends = accumulate(len(part) + 1 for part in said[at:])
        some = said[at : at + 1 + sum(end <= wanted for end in ends)]  # at least these are needed
        for n, (part, seen) in enumerate(zip(some, features(some, of_long=of_long), strict=True), start=at):
            if _chance(seen) > QUIET or not _is_aside(part, seen):
                kept.append(n)
                wanted -= len(part) + 1
        at += len(some)
    return kept


def _is_aside(part: str, seen: Features) -> bool:
    read = _sorted(part, seen)
    aside = read.best in BESIDE or AGE_ALONE.fullmatch(part.strip()) is not None
    return aside and not read.term and not is_question(part)


def _without_one(text: str) -> list[str]:
    """A message without each of its sentences in turn."""
    said = parts(text)
    some = [" ".join(said[:n] + said[n + 1 :]) for n in range(len(said))] if 1 < len(said) <= MOST_SENTENCES else []
    features(some)
    return some


def is_long(text: str) -> bool:
    """Whether a text is a whole history, which names much that sounds alarming by itself."""
    return len(WORDS.findall(text)) >= LONG


def emergency_chance(text: str) -> float:
    """How surely a text tells of an emergency, 0..1."""
    return _chance(features([text])[0])


def reply_chance(text: str) -> float:
    """How surely a message within a conversation tells of an emergency that is new, 0..1."""
    model, read = heads(), features([text])[0]
    logit = model.replied @ read.dense + model.replied_grams[read.buckets] @ read.values + model.replied_bias[0]
    return float(1 / (1 + np.exp(-logit)))


def _chance(read: Features) -> float:
    return float(1 / (1 + np.exp(-_logits(read)[-1])))


@lru_cache(maxsize=1)
def heads(path: Path = WEIGHTS) -> Heads:
    """The shipped weights; raises DataError when they are missing or damaged."""
    arrays, about = stored(path, "the message heads", AGAIN)
    least = tuple(arrays.pop("emergency").tolist())
    for name in ("named_buckets", "meant_buckets", "section_buckets"):
        arrays[name] = arrays[name].astype(np.int64)
    return Heads(**arrays, kinds=tuple(about["kinds"].split()), emergency=least)


def _logits(read: Features) -> Vectors:
    model = heads()
    logits: Vectors = model.dense @ read.dense + model.grams[:, read.buckets] @ read.values + model.bias
    return logits


def _held(read: Features, buckets: NDArray[np.int64]) -> Vectors:
    """The values of a text's n-grams in some buckets."""
    held = np.zeros(BUCKETS, dtype=np.float32)
    held[read.buckets] = read.values
    return held[buckets]


def _softmax(logits: Vectors) -> Vectors:
    shares = np.exp(logits - logits.max())
    total: Vectors = shares / shares.sum()
    return total
