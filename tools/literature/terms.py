"""Search terms out of a question or a case: few, short, and nothing that could identify a patient.

PubMed is sent terms, never the text. A term has at most four words and there are at most eight. What may leave at all
is decided by `tools.literature.privacy`, of a model's terms too, because it may have copied from the case.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import chain, groupby
from pathlib import Path

from tools.evidence import Frozen
from tools.literature.adapt_e.entries import american, bound
from tools.literature.privacy import BOUND_TO, TALK, TYPED, Cleared, clear, plain_syndromes, worth_asking
from tools.literature.vocabulary import ABBREVIATIONS, BOUND, NO_TERM, Vocabulary, asks, known_words
from tools.medicines.names import medicines_in
from tools.text.abbreviations import expand
from tools.text.clauses import affirmed
from tools.text.sentences import sentences
from tools.text.tokens import tokens
from tools.yaml_files import read_patterns

QUESTIONS = read_patterns(Path(__file__).with_name("questions.yaml"))
ASKING, BESIDE, STORY = 1.0, 0.8, 0.6  # ours: weights of a sentence that asks, of one beside it, and of the rest
NAMING = 0.15  # ours: added where the text introduces a name or quotes one


def focused(text: str) -> list[tuple[str, float]]:
    """The sentences of a text, each with its weight, 0..1; all weigh 1 where none asks or there are at most two."""
    found = [span.of(text) for span in sentences(text)]
    asking = [n for n, sentence in enumerate(found) if QUESTIONS["asks"].search(sentence)]
    if not asking or len(found) <= 2:
        return [(sentence, ASKING) for sentence in found]
    return [(sentence, _sentence_weight(n, sentence, asking)) for n, sentence in enumerate(found)]


def _sentence_weight(place: int, sentence: str, asking: list[int]) -> float:
    distance = min(abs(place - n) for n in asking)
    weight = ASKING if distance == 0 else BESIDE if distance == 1 else STORY
    return min(ASKING, weight + (NAMING if QUESTIONS["called"].search(sentence) else 0.0))


def asking(text: str) -> str:
    """The sentences of a text that ask, else the whole text."""
    found = [span.of(text) for span in sentences(text)]
    return " ".join(s for s in found if QUESTIONS["asks"].search(s)) or text


__all__ = [
    "MAX_TERMS",
    "MAX_WORDS",
    "Candidate",
    "Term",
    "Vocabulary",
    "candidates",
    "clean_terms",
    "extract_terms",
]

MAX_TERMS, MAX_WORDS = 8, 4  # ours: what may leave the machine; a message with six findings keeps all of them
MIN_WEIGHT = 0.5  # ours: a phrase whose words stand in more than half of the library says little
LENGTH_BONUS = 0.3  # ours: a longer phrase is more specific
AGAIN = 0.25  # ours: a phrase that a text repeats is more likely its subject
TECHNICAL = 0.8  # ours: `Vocabulary.technical` from which a word counts in full: six times commoner in medical text
LEAST = 0.05  # ours: share of its weight that a word of talk keeps: a text of such words alone still gives terms
NUMBER = re.compile(r"(?<![\w-])[\d.,:%°]*\d[\w.,:%°/+-]*")  # begins with a digit: ages, doses, times, 54M
WORD = re.compile(rf"{BOUND_TO} (?:\d|[IVX]{{1,4}}|[A-EK]\d{{0,2}})\b|[^\W\d_][\w'’-]*", re.IGNORECASE)
PLAIN = re.compile(r"(?<![\w'’-])[a-z][a-z-]{2,}(?![\w'’])", re.IGNORECASE)
BREAK = re.compile(r"[.,;:!?()\[\]{}\"“”\n|/=]+|\s[-–—]\s|\s(?:vs|versus)\.?\s", re.IGNORECASE)
BOUND_PHRASES = re.compile(rf"\b(?:{'|'.join(map(re.escape, BOUND))})\b", re.IGNORECASE)


class Term(Frozen):
    """A search term, and other forms of it (abbreviations written out)."""

    text: str
    also: tuple[str, ...] = ()


class Candidate(Frozen):
    """A phrase of a text that may leave, in its own letters, how much it tells (0 and more), and other names of it."""

    text: str
    weight: float
    also: tuple[str, ...] = ()


def extract_terms(text: str, vocabulary: Vocabulary, *, case: bool) -> list[Term]:
    """The key terms of a text, the most telling first; none when it has none (a Chinese text, for example).

    Args:
        case: the text is about a patient: negated findings are left out, and only words stay that are known to be
            medical. A text that names somebody is read like that in any case.
    """
    cleared = clear(text, vocabulary)
    found = candidates(cleared.text, vocabulary, case=case, least=least_of(cleared, case=case))
    telling = [c for c in found if c.weight >= MIN_WEIGHT] or found[:1]
    return _terms(distinct(c.text.lower() for c in telling), text)


def candidates(text: str, vocabulary: Vocabulary, *, case: bool, least: float) -> list[Candidate]:
    """The phrases of a cleared text that may leave, the most telling first; equal weights keep the order of the text.

    Args:
        case: what the text denies is left out. least: of `Cleared`; what lies below is no word of a term.
    """
    weights: dict[str, float] = {}
    written: dict[str, str] = {}
    parts = focused(affirmed(text) if case else text)
    focused_text = len(parts) > 1
    for sentence, focus in parts:
        clean = _without_numbers(expand(sentence) if case else sentence)
        for words in _phrases(clean, vocabulary, least, narrative=focused_text):
            key = " ".join(words).lower()
            weight = focus * _weight(words, vocabulary)
            again = AGAIN * weight if key in weights else 0.0
            weights[key] = max(weights.get(key, 0.0), weight) + again
            written.setdefault(key, " ".join(words))
    ranked = sorted(weights, key=lambda p: -weights[p])
    return [Candidate(text=written[p], weight=round(weights[p], 4)) for p in ranked]


def least_of(cleared: Cleared, *, case: bool) -> float:
    """As high as a word that no list has must lie to be part of a term of a text."""
    return max(TALK, cleared.least) if case else cleared.least


def clean_terms(terms: Sequence[str], vocabulary: Vocabulary, *, case: bool) -> list[Term]:
    """What may be sent of the terms that a planner names, in its order."""
    kept: list[str] = []
    for term in terms:
        cleared = clear(term, vocabulary)
        words = [] if cleared.held else WORD.findall(_without_numbers(cleared.text))
        least = least_of(cleared, case=case)
        allowed = [w for w in words if w.lower() in NO_TERM or worth_asking(w, vocabulary, least)]
        if words and len(words) <= MAX_WORDS and allowed == words and any(w.lower() not in NO_TERM for w in words):
            kept.append(" ".join(words).lower())
        else:
            kept += [t.text for t in extract_terms(term, vocabulary, case=case)]
    return _terms(distinct(kept), " ".join(terms))


def distinct(phrases: Iterable[str]) -> list[str]:
    """The first phrases, without those that another one holds."""
    kept: dict[str, frozenset[str]] = {}
    for phrase in phrases:
        stems = frozenset(tokens(phrase))
        if len(kept) < MAX_TERMS and stems and not any(stems <= other for other in kept.values()):
            kept[phrase] = stems
    return list(kept)


def _weight(words: Sequence[str], vocabulary: Vocabulary) -> float:
    return max(word_weight(w, vocabulary) for w in words) + LENGTH_BONUS * (len(words) - 1)


def word_weight(word: str, vocabulary: Vocabulary) -> float:
    """What a word tells: how rare it is in the collection, as far as it is a word of medicine rather than of talk.

    It tells as much as its commoner spelling: "hospitalised" is no rarer a thing than "hospitalized".
    """
    word = max((word, american(word)), key=vocabulary.collected)
    share = (_technical(word, vocabulary) - TALK) / (TECHNICAL - TALK)
    return vocabulary.weight(word.lower()) * min(1.0, max(LEAST, share))


def _technical(word: str, vocabulary: Vocabulary) -> float:
    """As the vocabulary has it; a name that was let pass is that of a disease or a rule."""
    return TECHNICAL if word.lower() in known_words().eponyms else vocabulary.technical(word)


def _phrases(clean: str, vocabulary: Vocabulary, least: float, *, narrative: bool) -> Iterable[list[str]]:
    """The runs of a text; in a narrative they are cut at words of talk, which are verbs more often than parts of terms.

    A long run is cut from its end, because the head of an English noun phrase is its last word; nothing of it is lost.
    """
    for run in _runs(clean, vocabulary, least):
        pieces = [run]
        if narrative:
            talk = [_technical(w, vocabulary) < 0.0 for w in run]
            pieces = [
                [w for w, _ in group] for _, group in groupby(zip(run, talk, strict=True), key=lambda pair: pair[1])
            ]
        for piece in chain.from_iterable(map(_apart, pieces)):
            for end in range(len(piece), 0, -MAX_WORDS):
                yield piece[max(0, end - MAX_WORDS) : end]


def _apart(run: list[str]) -> Iterable[list[str]]:
    """A run with each medicine beside other words in a piece of its own: helicobacter eradication, omeprazole."""
    text = " ".join(run)
    named = [m for m in medicines_in(text) if not m.everyday and m.generic and " " not in m.written]
    alone = {text.count(" ", 0, m.start) for m in named}
    for apart, group in groupby(range(len(run)), key=lambda n: n if n in alone else -1):
        yield [run[n] for n in group] if apart < 0 else [run[apart]]


def _runs(text: str, vocabulary: Vocabulary, least: float) -> Iterable[list[str]]:
    """Runs of words that may be terms, between breaks and words that are no term."""
    for piece in BREAK.split(text):
        run: list[str] = []
        for match in WORD.finditer(
            _named(BOUND_PHRASES.sub(lambda m: m[0].replace(" ", "_"), bound(piece)), vocabulary)
        ):
            word = re.sub(r"['’]s$", "", match[0]).strip("-'’")
            if "_" in word:
                run += word.split("_")
            elif len(word) > 1 and not asks(word.lower()) and worth_asking(word, vocabulary, least):
                run.append(word)
            elif run:
                yield run
                run = []
        if run:
            yield run


def _named(text: str, vocabulary: Vocabulary) -> str:
    """A text with each name of several words in one piece, the longest first: frozen_shoulder."""
    for name in plain_syndromes(text):
        text = text.replace(name, name.replace(" ", "_"))
    words = list(PLAIN.finditer(text))
    at = 0
    while at < len(words):
        for end in range(min(at + MAX_WORDS, len(words)), at + 1, -1):
            said = text[words[at].start() : words[end - 1].end()]
            if said.lower().removesuffix("s") in vocabulary.names:
                text = text[: words[at].start()] + said.replace(" ", "_") + text[words[end - 1].end() :]
                at = end - 1
                break
        at += 1
    return text


def _without_numbers(text: str) -> str:
    """A text without what begins with a digit, except the number of a term: type 2."""
    held = NUMBER.sub(" | ", TYPED.sub(r"\1_\2", text))
    return re.sub(rf"\b({BOUND_TO})_(\w+)", r"\1 \2", held, flags=re.IGNORECASE)


def _terms(phrases: Iterable[str], text: str) -> list[Term]:
    """The phrases as terms: abbreviations of the text in their own letters, and written out beside."""
    written = {a.lower(): a for a in ABBREVIATIONS if re.search(rf"\b{a}\b", text)}
    terms = []
    for phrase in phrases:
        words = [written.get(w, w) for w in phrase.split()]
        long = " ".join(ABBREVIATIONS.get(w, w) for w in words)
        if len(long.split()) > MAX_WORDS:
            long = next((ABBREVIATIONS[w] for w in words if w in ABBREVIATIONS), "")
        short = " ".join(words)
        terms.append(Term(text=short, also=(long,) if long and long != short else ()))
    return terms
