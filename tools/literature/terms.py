"""Search terms out of a question or a case: few, short, and nothing that could identify a patient.

PubMed is sent terms, never the text. A term has at most four words and there are at most six. Numbers, ages, dates,
addresses and names go first; in a patient's case only words that are known to be medical stay at all. What the
planner names as terms passes the same sieve, because a model may have copied from the case.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence

from tools.evidence import Frozen
from tools.literature.word_lists import (
    ABBREVIATIONS,
    BOUND,
    EPONYMS,
    GIVEN_NAMES,
    MEDICAL_ENDING,
    NO_TERM,
    SURNAMES,
)
from tools.text.abbreviations import expand
from tools.text.negation import negations

MAX_TERMS, MAX_WORDS = 6, 4  # ours: what may leave the machine
MIN_WEIGHT = 0.5  # ours: a phrase whose words stand in more than half of the library says little
UNKNOWN_WEIGHT = 0.8  # ours: a word that the library does not know, as a share of the rarest that it knows
LENGTH_BONUS = 0.3  # ours: a longer phrase is more specific
IDENTIFYING = re.compile(
    r"\S+@\S+|https?://\S+|www\.\S+"  # e-mail, address
    r"|\b(?-i:Mrs?|Ms|Miss|Mx|Dr|Prof|Sir|Dame|mrs?|dr)\b\.?(?:\s+[a-z][\w'’-]+){1,2}"  # title and name
    r"|\b(?:name(?:d| is|['’]s)?|known as)\s*:?\s+\w+(?:\s+\w+)?"  # how somebody is called
    r"|\b(?:nhs|mrn|ssn|dob|id|ref|tel|phone|bed|ward|room|no)\b\.?\s*(?:no\.?|number)?\s*[:#]?\s*[\w-]*\d[\w-]*"
    r"|\b\d{1,4}[/.-]\d{1,2}(?:[/.-]\d{1,4})?\b"  # dates, blood pressure
    r"|\b\w+\s+(?:street|road|avenue|lane|drive|close|crescent)\b",
    re.IGNORECASE,
)
NUMBER = re.compile(r"(?<![\w-])[\d.,:%°]*\d[\w.,:%°/+-]*")  # begins with a digit: ages, doses, times, 54M
WORD = re.compile(r"type [12]\b|[^\W\d_][\w'’-]*", re.IGNORECASE)
MEDICAL_CODE = re.compile(r"[a-z]{1,6}-?\d{1,2}|[a-z]{1,3}\d[a-z]{1,2}\d?|covid-19", re.IGNORECASE)  # B12, HbA1c, H1N1
BREAK = re.compile(r"[.,;:!?()\[\]{}\"“”\n|/]+|\s[-–—]\s")
STOP_OF_NEGATION = re.compile(r"[.;!?\n]|\bbut\b|\bhowever\b|\bexcept\b", re.IGNORECASE)
NAME_CUE = re.compile(
    r"\s+(?:presents|presented|complains|complained|came|says|said|reports|denies|lives|works|woke|lost)\b"
)
MASK = " . "  # what replaces removed text: a break, so that words on both sides do not join


class Term(Frozen):
    """A search term, and other forms of it (abbreviations written out)."""

    text: str
    also: tuple[str, ...] = ()


class Vocabulary(Frozen):
    """The words that the library knows, each with the number of documents that hold it."""

    frequencies: Mapping[str, int]
    documents: int

    def knows(self, word: str) -> bool:
        """Whether a word, singular or plural, stands in the library."""
        return any(form in self.frequencies for form in (word, f"{word}s", word.removesuffix("s")))

    def weight(self, word: str) -> float:
        """How much a word tells: its inverse document frequency."""
        seen = max((self.frequencies.get(form, 0) for form in (word, f"{word}s", word.removesuffix("s"))), default=0)
        rarest = math.log((1 + self.documents) / 1.5)
        return math.log((1 + self.documents) / (0.5 + seen)) if seen else UNKNOWN_WEIGHT * rarest


def extract_terms(text: str, vocabulary: Vocabulary, *, case: bool) -> list[Term]:
    """The key terms of a text, the most telling first; none when it has none (a Chinese text, for example).

    Args:
        case: the text is about a patient: negated findings are left out, and only words stay that are known to be
            medical. A text that names somebody is read like that in any case.
    """
    clean = scrub(expand(affirmed(text)) if case else text)
    phrases: dict[str, float] = {}
    for run in _runs(clean, vocabulary, strict=case or _personal(text, vocabulary)):
        words = run[-MAX_WORDS:]  # the head of an English noun phrase is its last word
        phrases[" ".join(words).lower()] = _weight(words, vocabulary)
    ranked = sorted(phrases, key=lambda p: -phrases[p])  # stable: equal weights keep the order of the text
    telling = [p for p in ranked if phrases[p] >= MIN_WEIGHT] or ranked[:1]
    return _terms(_distinct(telling), text)


def clean_terms(terms: Sequence[str], vocabulary: Vocabulary, *, case: bool) -> list[Term]:
    """What may be sent of the terms that a planner names, in its order."""
    kept: list[str] = []
    for term in terms:
        clean = scrub(term).strip(" .")
        words = WORD.findall(clean)
        allowed = [w for w in words if w.lower() in NO_TERM or _allowed(w, clean, vocabulary, strict=case)]
        if words and len(words) <= MAX_WORDS and allowed == words and any(w.lower() not in NO_TERM for w in words):
            kept.append(" ".join(words).lower())
        else:
            kept += [t.text for t in extract_terms(term, vocabulary, case=case)]
    return _terms(_distinct(kept), " ".join(terms))


def affirmed(text: str) -> str:
    """A case without what it denies (``no fever``): a search for that would find the wrong things."""
    parts: list[str] = []
    at = 0
    for cut in negations(text):
        if cut.start < at:
            continue
        end = STOP_OF_NEGATION.search(text, cut.end)
        parts.append(text[at : cut.start])
        at = end.start() if end else len(text)
    return "".join([*parts, text[at:]])


def scrub(text: str) -> str:
    """A text without addresses, titles with names, file numbers, dates, and what begins with a digit."""
    text = re.sub(r"\btype ([12])\b", r"type_\1", text, flags=re.IGNORECASE)
    text = NUMBER.sub(MASK, SURNAMES.sub(MASK, IDENTIFYING.sub(MASK, text)))
    return re.sub(r"\btype_([12])", r"type \1", text, flags=re.IGNORECASE)


def _runs(text: str, vocabulary: Vocabulary, *, strict: bool) -> Iterable[list[str]]:
    """Runs of words that may stand in a term, between breaks, words that are no term, and names."""
    for piece in BREAK.split(text):
        for bound in BOUND:
            piece = re.sub(rf"\b{bound}\b", bound.replace(" ", "_"), piece, flags=re.IGNORECASE)
        run: list[str] = []
        after_name = False
        for match in WORD.finditer(piece):
            word = re.sub(r"['’]s$", "", match[0]).strip("-'’")
            name = _is_name(word, piece[match.end() :], after_name, vocabulary)
            if not name and "_" in word:
                run += word.split("_")
            elif not name and word.lower() not in NO_TERM and _allowed(word, text, vocabulary, strict=strict):
                run.append(word)
            elif run:
                yield run
                run = []
            after_name = name
        if run:
            yield run


def _personal(text: str, vocabulary: Vocabulary) -> bool:
    """Whether a text names somebody, so that it must be read as strictly as a case."""
    return IDENTIFYING.search(text) is not None or any(
        w.lower() in GIVEN_NAMES and not _medical(w, vocabulary) for w in WORD.findall(text)
    )


def _is_name(word: str, rest: str, after_name: bool, vocabulary: Vocabulary) -> bool:
    """Whether a word is a person's name by itself, by what follows, or as the surname behind one."""
    if _medical(word, vocabulary):
        return False
    return (
        word.lower() in GIVEN_NAMES
        or (word[0].isupper() and NAME_CUE.match(rest) is not None)
        or (after_name and word.lower() not in NO_TERM)
    )


def _allowed(word: str, text: str, vocabulary: Vocabulary, *, strict: bool) -> bool:
    """Whether a word may leave the machine."""
    if "_" in word or _medical(word, vocabulary):
        return True
    if strict or len(word) < 3 or word.lower() in GIVEN_NAMES:
        return False
    if any(c.isdigit() for c in word):
        return MEDICAL_CODE.fullmatch(word) is not None
    return word.islower() or _begins_a_sentence(word, text)


def _medical(word: str, vocabulary: Vocabulary) -> bool:
    low = word.lower()
    if any(c.isdigit() for c in low) and not low.startswith("type "):
        return vocabulary.knows(low)
    parts = [p for p in low.split("-") if p]
    return (
        word in ABBREVIATIONS
        or low.startswith("type ")
        or vocabulary.knows(low)
        or all(vocabulary.knows(p) or p in EPONYMS or MEDICAL_ENDING.search(p) is not None for p in parts)
    )


def _begins_a_sentence(word: str, text: str) -> bool:
    """Whether a capital stands there because a sentence begins, which says nothing; capitals elsewhere are names."""
    return word[1:].islower() and re.search(rf"(?:^|[.!?]\s+){re.escape(word)}\b", text.strip()) is not None


def _weight(words: Sequence[str], vocabulary: Vocabulary) -> float:
    return max(vocabulary.weight(w.lower()) for w in words) + LENGTH_BONUS * (len(words) - 1)


def _distinct(phrases: Iterable[str]) -> list[str]:
    """The first phrases, without those that another one holds."""
    kept: list[str] = []
    for phrase in phrases:
        words = set(phrase.split())
        if len(kept) < MAX_TERMS and not any(words <= set(k.split()) for k in kept):
            kept.append(phrase)
    return kept


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
