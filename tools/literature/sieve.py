"""The privacy sieve: which words of a text may leave the machine as search terms.

Addresses, titles with names, file numbers, dates and what begins with a digit go first. Of a patient's case, and of
any text that names somebody, only words stay that are known to be medical; of a plain question names go.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from tools.literature.adapt_e.entries import bound, table_words
from tools.literature.vocabulary import EVERYDAY, Vocabulary, zipf
from tools.literature.word_lists import (
    ABBREVIATIONS,
    ASKING_WORDS,
    BEFORE_A_NAME,
    BOUND,
    EPONYMS,
    GIVEN_NAMES,
    HEAD_NOUNS,
    MEDICAL_ENDING,
    MEDICAL_FORM,
    NO_TERM,
    SURNAMES,
    SURNAMES_OF_MANY,
)

IDENTIFYING = re.compile(
    r"\S+@\S+|https?://\S+|www\.\S+"  # e-mail, address
    r"|\b(?-i:Mrs?|Ms|Miss|Mx|Dr|Prof|Professor|Sir|Dame|Nurse|mrs?|dr)\b\.?(?:\s+[a-z][\w'’-]*){1,2}"  # title and name
    r"|\b(?:named|name(?:\s+is|['’]s|\s*:)|known as)\s*:?\s+\w+(?:\s+\w+)?"  # how somebody is called
    r"|\b(?:nhs|mrn|ssn|dob|id|ref|tel|phone|bed|ward|room|seat|flight|no)\b\.?\s*(?:no\.?|number)?\s*[:#]?\s*[\w-]*\d[\w-]*"
    r"|\b(?-i:[A-Z]{1,2}\d[A-Z\d]?\s*\d[A-Z]{2})\b"  # postcodes
    r"|\b\d{1,4}[/.-]\d{1,2}(?:[/.-]\d{1,4})?\b"  # dates, blood pressure
    r"|\b\w+\s+(?:street|road|avenue|lane|drive|close|crescent)\b",
    re.IGNORECASE,
)
GREETING = re.compile(r"\b(?:dear|hi|hello|hey|morning|thanks|regards|greetings|cheers)\s+(?:[A-Z][\w'’-]+\s?){1,2}")
NUMBER = re.compile(r"(?<![\w-])[\d.,:%°]*\d[\w.,:%°/+-]*")  # begins with a digit: ages, doses, times, 54M
BOUND_TO = r"(?:type|factor|phase|stage|vitamin|hepatitis|group|grade)"
TYPED = re.compile(
    rf"\b({BOUND_TO}) (\d|[IVX]{{1,4}}|[A-EK]\d{{0,2}})\b", re.IGNORECASE
)  # a number that belongs to a term
WORD = re.compile(rf"{BOUND_TO} (?:\d|[IVX]{{1,4}}|[A-EK]\d{{0,2}})\b|[^\W\d_][\w'’-]*", re.IGNORECASE)
MEDICAL_CODE = re.compile(  # B12, HbA1c, H1N1, LB-100, PRDM9, NK3R, SHERLOCKv2
    r"[a-z]{1,8}-?\d{1,4}|[a-z]{1,4}\d{1,3}[a-z]{1,3}\d?|[a-z]{1,8}\d{1,3}-[a-z]{2,12}|[a-z]{3,9}v\d|covid-19",
    re.IGNORECASE,
)
CODE_CUE = re.compile(  # what stands near the code of a gene, a protein or a compound
    r"\b(?:genes?|proteins?|receptors?|enzymes?|kinases?|mutations?|variants?|inhibit\w*|(?:ant)?agonists?|antibod\w+|"
    r"compounds?|drugs?|trials?|molecules?|cells?|locus|pathways?|syndromes?|vaccines?|signall?ing|deficien\w+)\b",
    re.IGNORECASE,
)
BREAK = re.compile(r"[.,;:!?()\[\]{}\"“”\n|/=]+|\s[-–—]\s")
BOUND_PHRASES = re.compile(rf"\b(?:{'|'.join(map(re.escape, BOUND))})\b", re.IGNORECASE)
NAME_CUE = re.compile(
    r"\s+(?:presents|presented|complains|complained|came|says|said|reports|denies|lives|works|woke|lost)\b"
)
PERSON_CUE = re.compile(r"\b(?:does|did|has|can|should|will|is)\s+$", re.IGNORECASE)  # does gonzalez need ...
PERSON_VERB = re.compile(r"\s+(?:need|take|have|get|stop|start|still|ever|says?|tell|feel)s?\b")
PLACE_CUE = re.compile(r"\b(?:in|from|to|near|at|via|outside|around)\s+(?:the\s+)?$", re.IGNORECASE)
SIGNATURE = re.compile(r"[,.!?)]\s*(?P<name>[A-Z][a-z'’-]+)[.\s]*$")  # a letter's last word
MASK = " . "  # what replaces removed text: a break, so that words on both sides do not join
TALK = -0.7  # ours: words of talk and names lie below this `Vocabulary.technical`, words of medicine above
SEVERAL = 3  # ours: documents of the library; one monograph that says baker or phone does not make the word medical


@dataclass(frozen=True)
class Word:
    """A word of a text with its place, and whether it may leave."""

    text: str
    start: int
    end: int


def scrub(text: str) -> str:
    """A text without addresses, titles with names, greetings, file numbers, dates, and what begins with a digit."""
    text = TYPED.sub(r"\1_\2", text)
    for pattern in (IDENTIFYING, GREETING, SURNAMES, NUMBER):
        text = pattern.sub(MASK, text)
    signed = SIGNATURE.search(text)
    if signed and not HEAD_NOUNS.match(signed["name"].lower()):
        text = text[: signed.start("name")]
    return re.sub(rf"\b({BOUND_TO})_(\w+)", r"\1 \2", text, flags=re.IGNORECASE)


def personal(text: str, vocabulary: Vocabulary) -> bool:
    """Whether a text names somebody, so that it must be read as strictly as a case."""
    return IDENTIFYING.search(text) is not None or any(
        w.lower() in GIVEN_NAMES and not medical(w, vocabulary) for w in WORD.findall(text)
    )


def runs(text: str, vocabulary: Vocabulary, *, strict: bool) -> Iterable[list[str]]:
    """Runs of words of a scrubbed text that may leave, between breaks, words that are no term, and names."""
    for piece in BREAK.split(text):
        piece = BOUND_PHRASES.sub(lambda m: m[0].replace(" ", "_"), bound(piece))
        run: list[str] = []
        after_name = False
        for match in WORD.finditer(piece):
            word = re.sub(r"['’]s$", "", match[0]).strip("-'’")
            before, rest = piece[: match.start()], piece[match.end() :]
            name = _is_name(word, before, rest, after_name, vocabulary)
            if not name and "_" in word:
                run += word.split("_")
            elif not name and not _asks(word) and _allowed(word, before, rest, text, vocabulary, strict):
                run.append(word)
            elif run:
                yield run
                run = []
            after_name = name
        if run:
            yield run


def _asks(word: str) -> bool:
    return word.lower() in NO_TERM or word.lower() in ASKING_WORDS


def may_leave(word: str, text: str, vocabulary: Vocabulary, *, strict: bool) -> bool:
    """Whether a word of a planner's term may leave."""
    return _allowed(word, "", "", text, vocabulary, strict)


def medical(word: str, vocabulary: Vocabulary) -> bool:
    """Whether a word is known to be medical: by a list, by its ending, or because the library holds it."""
    low = word.lower()
    if TYPED.fullmatch(low):
        return True
    if any(c.isdigit() for c in low):
        return vocabulary.knows(low)
    parts = [p for p in low.split("-") if p]
    return (
        word in ABBREVIATIONS
        or _in_library(low, vocabulary)
        or all(_in_library(p, vocabulary) or p in EPONYMS or MEDICAL_ENDING.search(p) is not None for p in parts)
        or (MEDICAL_FORM.search(low) is not None and low not in GIVEN_NAMES)
    )


def _in_library(word: str, vocabulary: Vocabulary) -> bool:
    """Whether a list or the library holds a word; an everyday word (baker) must stand in several documents of it."""
    if word in GIVEN_NAMES or word in SURNAMES_OF_MANY:
        return False
    if word in table_words():
        return True
    return vocabulary.knows(word) and (zipf(word) < EVERYDAY or vocabulary.held_by(word) >= SEVERAL)


def _is_name(word: str, before: str, rest: str, after_name: bool, vocabulary: Vocabulary) -> bool:
    """Whether a word is a person's name by itself, by what stands around it, or as the surname behind one."""
    if medical(word, vocabulary):
        return False
    low = word.lower()
    if low in GIVEN_NAMES or low in SURNAMES_OF_MANY:
        return HEAD_NOUNS.match(rest.strip(" –-").lower()) is None
    if PERSON_CUE.search(before) and PERSON_VERB.match(rest) and low not in NO_TERM and not vocabulary.collected(low):
        return True
    return (word[0].isupper() and NAME_CUE.match(rest) is not None) or (after_name and low not in NO_TERM)


def _allowed(word: str, before: str, rest: str, text: str, vocabulary: Vocabulary, strict: bool) -> bool:
    if "_" in word or medical(word, vocabulary):
        return True
    low = word.lower()
    if low in GIVEN_NAMES or low in SURNAMES_OF_MANY:
        return HEAD_NOUNS.match(rest.strip(" –-").lower()) is not None
    if any(c.isdigit() for c in word):
        return _allowed_code(word, text, vocabulary, strict)
    if vocabulary.collected(low) and vocabulary.technical(word) >= TALK and not _place(word, before, rest):
        return len(word) > 1
    if word[0].isupper() and HEAD_NOUNS.match(rest.strip(" –-").lower()) and not _begins_a_sentence(word, text):
        return True  # Currarino triad, Ottawa ankle rule
    if BEFORE_A_NAME.search(before):
        return True  # the protein Bouncer
    if strict or len(word) < 3:
        return False
    return word.islower() or _begins_a_sentence(word, text) or _term_shaped(word, vocabulary)


def _allowed_code(word: str, text: str, vocabulary: Vocabulary, strict: bool) -> bool:
    """A code is a gene's or a compound's when the collection knows it, or when the text speaks of such things."""
    if MEDICAL_CODE.fullmatch(word) is None:
        return False
    return not strict or vocabulary.collected(word) > 0 or CODE_CUE.search(text) is not None


def _term_shaped(word: str, vocabulary: Vocabulary) -> bool:
    """Capitals that a name does not have (TET, iNKT, Star-PAP), or a word too rare to be a common name."""
    inner = any(c.isupper() for c in word[1:])
    return (inner and not word.isupper()) or (word.isupper() and len(word) <= 6) or vocabulary.technical(word) >= 0.0


def _place(word: str, before: str, rest: str) -> bool:
    """Whether a capitalised word stands where a place stands: in Lisbon, from Leeds."""
    return (
        word.istitle() and PLACE_CUE.search(before) is not None and HEAD_NOUNS.match(rest.strip(" –-").lower()) is None
    )


def _begins_a_sentence(word: str, text: str) -> bool:
    """Whether a capital stands there because a sentence begins, which says nothing; capitals elsewhere are names."""
    return word[1:].islower() and re.search(rf"(?:^|[.!?]\s+){re.escape(word)}\b", text.strip()) is not None
