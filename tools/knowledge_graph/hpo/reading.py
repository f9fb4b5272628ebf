"""Phenotype terms in free text (English): by their words, then by the meaning of the clauses that words do not explain.

What a clause denies is read as excluded; what is about somebody else is left out. A clause read by its meaning gives up
to `CANDIDATES` terms with weights, because a lay wording often fits several.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tools.encoders import Encoder, Vectors
from tools.knowledge_graph.hpo.ontology import Ontology
from tools.text import negation
from tools.text.clauses import Clause, clauses
from tools.text.demographics import Person, read_person
from tools.text.tokens import stem

# Words of phenotype terms in text: names and synonyms, plural or not, in their order or another.
WORD = re.compile(r"[A-Za-z0-9]+")
# ours: words that tell no phenotype from another
EMPTY = frozenset("a an the of in to by due and with or on at is are has have s".split())
LONGEST = 10  # ours: words of the longest phrase looked for; longer names are found by their meaning
BREAKS = re.compile(r"[.;:!?\n]")
COMMA = re.compile(r"[,()/]|\b(?:and|or|but|with)\b")
NAME_PARTS = re.compile(r"[;,/]| with | and | or ", re.IGNORECASE)


@dataclass(frozen=True)
class Word:
    """A word of a text: its stem, "" for an empty one, and its characters."""

    stem: str
    start: int
    end: int


@dataclass(frozen=True)
class Hit:
    """A term found in a text by its words: characters ``start`` to ``end``."""

    term: int
    start: int
    end: int


def fold(word: str) -> str:
    """The stem of a word, British and American spelling alike."""
    word = word.lower()
    for british, american in (("ae", "e"), ("oe", "e"), ("our", "or")):
        word = word.replace(british, american)
    return stem(word)


def words(text: str) -> list[Word]:
    """The words of a text in order."""
    found = []
    for m in WORD.finditer(text):
        empty = m[0].lower() in EMPTY
        found.append(Word("" if empty else fold(m[0]), m.start(), m.end()))
    return found


def keys(phrases: Iterable[tuple[str, int]]) -> tuple[dict[str, int], dict[str, int]]:
    """Phrases with their terms -> (words in order -> term, words sorted -> term); of equal keys the first is held."""
    ordered: dict[str, int] = {}
    unordered: dict[str, int] = {}
    for phrase, term in phrases:
        stems = [w.stem for w in words(phrase) if w.stem]
        if stems and len(stems) <= LONGEST and not (len(stems) == 1 and len(stems[0]) < 3):
            ordered.setdefault(" ".join(stems), term)
            unordered.setdefault(" ".join(sorted(stems)), term)
    return ordered, unordered


class Lexicon:
    """Finds terms by their words, the longest phrase first.

    Args:
        ordered, unordered: as `keys` makes them.
    """

    def __init__(self, ordered: Mapping[str, int], unordered: Mapping[str, int]) -> None:
        self._ordered, self._unordered = ordered, unordered

    def find(self, text: str) -> list[Hit]:
        """The terms of a text in order, none overlapping another.

        Within a part of a sentence the order of words is free ("loss of hearing", "hearing loss"); across a comma or a
        conjunction a phrase must stand as it is written ("intellectual disability, moderate").
        """
        found = words(text)
        hits: list[Hit] = []
        at = 0
        while at < len(found):
            hit, at = self._longest(text, found, at)
            if hit is not None:
                hits.append(hit)
        return hits

    def _longest(self, text: str, found: Sequence[Word], at: int) -> tuple[Hit | None, int]:
        if not found[at].stem:
            return None, at + 1
        for end in range(self._reach(text, found, at), at, -1):
            window = found[at:end]
            if not window[-1].stem:
                continue
            term = self._term(text[window[0].start : window[-1].end], [w.stem for w in window if w.stem])
            if term is not None:
                return Hit(term, window[0].start, window[-1].end), end
        return None, at + 1

    def _reach(self, text: str, found: Sequence[Word], at: int) -> int:
        """The position after the last word that may belong to a phrase that begins here."""
        end = at + 1
        while (
            end < len(found)
            and end - at < 2 * LONGEST
            and not BREAKS.search(text, found[end - 1].end, found[end].start)
        ):
            end += 1
        return end

    def _term(self, text: str, stems: list[str]) -> int | None:
        if len(stems) > LONGEST:
            return None
        term = self._ordered.get(" ".join(stems))
        if term is None and not COMMA.search(text):
            term = self._unordered.get(" ".join(sorted(stems)))
        return term

    def in_name(self, name: str) -> list[int]:
        """The terms that the name of a disease holds ("Ataxia, sensory, with deafness")."""
        return list(dict.fromkeys(h.term for part in [name, *NAME_PARTS.split(name)] for h in self.find(part)))


# What a clause tells beside its frame: who says it of whom, ages, and denials that tell of a deficit (English).
# Who tells, of whom, that there is or was something.
FRAME = re.compile(
    r"^\W*(?:(?:and|but|so|also|then|now|as a baby|strangely|sometimes|often)\b\W*)*"
    r"(?:(?:the )?(?:doctors?|eye doctor|scan|they|tests?|x-ray)(?: \w+)?"
    r" (?:says?|said|found|sees|saw|showed|shows|told us)(?: that| us)?\b\W*)?"
    r"(?:(?:i|he|she|it|they|we|my|his|her|their|our|the|there)\b\W*)?"
    r"(?:(?:\w+[- ])?(?:son|daughter|boy|girl|baby|child|brother|sister|wife|husband)(?: of \w+)?\b\W*)?"
    r"(?:(?:am|is|are|was|were|has|have|had|been|gets?|got|became|becomes|suffers from|keeps?|a|an|very)\b\W*)*",
    re.IGNORECASE,
)
AGE = re.compile(
    r"\W*(?:(?:nearly|almost|about|not yet) )?(?:\d+|\w+)(?: (?:and a half|months?|years?|weeks?|days?|old))*\W*"
)
# A denied verb of what people do when well tells of a deficit, and "than normal" of a difference.
DEFICIT = re.compile(
    r"\b(?:cannot|can['’]?t|could(?: not|n['’]t)|never|barely|hardly|do(?:es)?(?: not|n['’]t)|did(?: not|n['’]t)|"
    r"has(?: not|n['’]t))\b(?! (?:ever )?(?:have|had|get|got|suffer|any|lost|stop))|"
    r"\b(?:than|not|from|nor) normal|than (?:it|they|he|she) should|not (?:well|fully|properly|quite)\b|too few\b",
    re.IGNORECASE,
)


def core(clause: Clause) -> str:
    """What a clause says without its frame; "" when it only says how old somebody is."""
    told = clause.told if stated(clause) else clause.plain
    left = FRAME.sub("", told, count=1).strip()
    return "" if AGE.fullmatch(left) and any(c.isdigit() for c in left) else left


def stated(clause: Clause) -> bool:
    """Whether a clause says that the patient has something, be it that something cannot be done."""
    return clause.present is not False or DEFICIT.search(clause.text) is not None


def joined(clause: Clause, every: Sequence[Clause]) -> list[str]:
    """The clause read together with the one before it, and with the one after it, in the same sentence."""
    at = every.index(clause)
    near = [(every[at - 1], clause)] if at else []
    near += [(clause, every[at + 1])] if at + 1 < len(every) else []
    return [f"{core(a)} {core(b)}" for a, b in near if a.sentence == b.sentence and stated(a) == stated(b)]


CANDIDATES = 8  # ours, tuned: terms that one wording may mean
LEAST = 0.45  # ours, tuned: cosine below which a clause means no term
SHARPNESS = 12.0  # ours, tuned: a difference of 1 / 12 in cosine makes a candidate e times less likely
DENIAL = 0.7  # ours: a denied clause needs a closer term, because ordinary talk is full of denials
FAMILIAR = (
    0.5  # ours, tuned: weight of how many diseases have a candidate (log), because common terms are meant more often
)
SHORT = 1  # ours, tuned: a clause of so few telling words is also read together with the clause before or after it
JOINED = 0.97  # ours: what a cosine is worth that two clauses read together reach
EXPLAINED = 0.6  # ours: share of a clause's words in terms found, above which its meaning is not asked for


@dataclass(frozen=True)
class Phenotype:
    """A phenotype that a text tells of.

    Attributes:
        terms: positions of the terms that it may be, likeliest first. weights: of each, sum 1.
        trust: 1 when read by its words, else the cosine. present: False for an excluded one.
        start, end: its characters; ``text[start:end]`` says it.
    """

    terms: tuple[int, ...]
    weights: tuple[float, ...]
    trust: float
    present: bool
    start: int
    end: int


@dataclass(frozen=True)
class Reading:
    """What a text says: its phenotypes in order, and the patient's age and sex."""

    phenotypes: tuple[Phenotype, ...]
    person: Person


class Reader:
    """Reads phenotypes out of text. Pure: may be used from several threads.

    Args:
        encoder, vectors: the encoder and its vectors of the ontology's phrases; None reads by words alone.
    """

    def __init__(self, ontology: Ontology, encoder: Encoder | None = None, vectors: Vectors | None = None) -> None:
        self._lexicon = Lexicon(ontology.ordered, ontology.unordered)
        self._encoder, self._vectors = encoder, vectors
        self._owner, self._terms = ontology.owner, len(ontology.terms)
        self._carriers = ontology.carriers

    def read(self, text: str) -> Reading:
        """The phenotypes of a text."""
        person = read_person(text)
        told = [c for c in clauses(text, person) if not c.reading]
        hits = self._lexicon.find(text)
        found = [p for p in (_worded(text, h, _clause_of(told, h.start)) for h in hits) if p is not None]
        unread = [c for c in told if not c.other and core(c) and _unexplained(c, hits)]
        found += self._meant(unread, {p.terms[0] for p in found}, told)
        return Reading(tuple(sorted(found, key=lambda p: (p.start, p.end))), person)

    def _meant(self, told: Sequence[Clause], known: set[int], every: Sequence[Clause]) -> list[Phenotype]:
        if self._encoder is None or self._vectors is None or not told:
            return []
        similar = _similar(self._encoder, self._vectors, told, every)
        out: list[Phenotype] = []
        for clause, row in zip(told, similar, strict=True):
            terms, cosines = self._nearest(row)
            present = stated(clause)
            if not len(terms) or cosines[0] < (LEAST if present else DENIAL) or int(terms[0]) in known:
                continue
            weights = np.exp(SHARPNESS * (cosines - cosines[0]) + FAMILIAR * np.log1p(self._carriers[terms]))
            weights /= weights.sum()
            order = np.argsort(-weights, kind="stable")
            out.append(
                Phenotype(
                    tuple(int(t) for t in terms[order]),
                    tuple(float(w) for w in weights[order]),
                    float(cosines[0]),
                    present,
                    clause.start,
                    clause.end,
                )
            )
        return out

    def _nearest(self, row: NDArray[np.float32]) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The nearest terms and their cosines, best first, each term once."""
        top = np.argpartition(-row, min(4 * CANDIDATES, len(row) - 1))[: 4 * CANDIDATES]
        top = top[np.argsort(-row[top], kind="stable")]
        terms, first = np.unique(self._owner[top], return_index=True)
        order = np.argsort(first)[:CANDIDATES]
        return terms[order].astype(np.int64), row[top[first[order]]]


def _similar(
    encoder: Encoder, vectors: Vectors, told: Sequence[Clause], every: Sequence[Clause]
) -> NDArray[np.float32]:
    """Array (clauses, phrases) of cosines; a short clause is also read with its neighbours in the sentence."""
    texts = [core(c) for c in told]
    short = [n for n, text in enumerate(texts) if len([w for w in words(text) if w.stem]) <= SHORT]
    pairs = [(n, both) for n in short for both in joined(told[n], every)]
    similar = encoder.encode_queries([*texts, *(both for _, both in pairs)]) @ np.asarray(vectors).T
    alone, together = similar[: len(texts)], similar[len(texts) :]
    for (number, _), row in zip(pairs, together, strict=True):
        np.maximum(alone[number], np.float32(JOINED) * row, out=alone[number])
    return np.asarray(alone)


def _clause_of(told: Sequence[Clause], at: int) -> Clause | None:
    return next((c for c in told if c.start <= at < c.end), None)


def _worded(text: str, hit: Hit, clause: Clause | None) -> Phenotype | None:
    """A phenotype found by its words; None when it is somebody else's."""
    if clause is not None and clause.other:
        return None
    present = clause is None or clause.present is not False or not _denied_outside(text, hit, clause)
    return Phenotype((hit.term,), (1.0,), 1.0, present, hit.start, hit.end)


def _denied_outside(text: str, hit: Hit, clause: Clause) -> bool:
    """Whether a denied clause denies the term, rather than the term's own name holding the denial.

    "Absent speech" and "fine hair" are terms; so is "loss of vision" in "no loss of vision".
    """
    own = text[hit.start : hit.end]
    if clause.normal:
        return negation.NORMAL.search(own) is None
    if not (negation.is_negative_phrase(own) or negation.is_deficit(own)):
        return True
    rest = f"{text[clause.start : hit.start]} {text[hit.end : clause.end]}"
    return bool(negation.negations(rest)) or negation.verbal_negation(rest) is not None


def _unexplained(clause: Clause, hits: Sequence[Hit]) -> bool:
    told = [w for w in words(clause.text) if w.stem]
    if not told:
        return False
    inside = [w for w in told if any(h.start <= clause.start + w.start < h.end for h in hits)]
    return len(inside) < EXPLAINED * len(told)
