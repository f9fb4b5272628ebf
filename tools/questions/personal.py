"""What may speak of a person in a question: a question is only free of it when every word of it is a public one.

Names cannot be listed, so nothing is looked for by name: a word that the public texts do not hold is taken for one,
whatever its case and wherever it stands. A public word that names people too (Baker, Brown) is told by its capital.
A name in lower case that is a public word too is not told; a person reviews every note for that.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from itertools import pairwise

from tools.text.tokens import STOP

WORDS = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
GENITIVE = re.compile(r"['’]s$")
MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
# ours: what makes a text one about a person
PERSONAL = re.compile(
    r"\b(?:I|I'm|I've|me|my|mine|myself|he|she|his|her|him|hers|we|our|us|you|your)\b|\b(?:mr|mrs|ms|dr|prof)\b\.?"
    r"|\b(?:patient|son|daughter|wife|husband|mother|father|mum|dad|baby|brother|sister|aunt|uncle|friend)(?:'s|s)?\b"
    r"|\b\d{1,3}[- ]?(?:years?|yrs?|months?|weeks?|days?)[- ]old\b|\b\d{1,3} ?(?:[mf]\b|y\.?/?o)"
    r"|\b(?:man|woman|boy|girl|male|female|lady|gentleman) (?:of|aged?)\b"
    r"|\b(?:born|aged?|admitted|presents?|mrn|nhs|room|bed|ward)\b"
    r"|\d{1,4}[/.-]\d{1,2}[/.-]\d{1,4}|\d{5,}|@|https?:"
    rf"|\d(?:st|nd|rd|th)?(?: of)?[ -]?{MONTH}\b|\b{MONTH}[. -]{{0,2}}\d"
    r"|[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]",  # no list of public words tells a Chinese name
    re.IGNORECASE,
)
# ours: words that open a question; any other capital at its head may be that of a name (so may Will and May)
OPENING = frozenset(
    "a an are at can could did do does for from has have how if in is of on should than that the these this to was "
    "were what when where which who whom whose why with would".split()
)


def may_name(question: str, known: Callable[[str], bool], like: str) -> list[str]:
    """The words of a question that may name a person: those that are not public, and those with a capital.

    A capital is that of a public eponym or short form when ``like``, the stored question, holds the word and the next
    one too (Baker cyst), or the word as it is in capitals (HIV), or in lower case.

    Args:
        known: whether a word in lower case is a public one.
    """
    words = WORDS.findall(unicodedata.normalize("NFC", question))
    stored = WORDS.findall(like)
    unknown = [word for word in words if not _public(word.lower(), known) and not (len(word) == 1 and word in stored)]
    return unknown or [words[at] for at in _capitals(words) if not _stands(words, at, stored)]


def _public(word: str, known: Callable[[str], bool]) -> bool:
    """Whether a word, without the ending of the genitive, or each of its parts is public; a stop word is."""
    word = GENITIVE.sub("", word)
    return word in STOP or known(word) or ("-" in word and all(_public(part, known) for part in word.split("-")))


def _capitals(words: list[str]) -> Iterator[int]:
    for at, word in enumerate(words):
        if word != word.lower() and not (at == 0 and word.lower() in OPENING):
            yield at


def _stands(words: list[str], at: int, stored: list[str]) -> bool:
    word = GENITIVE.sub("", words[at])
    if word.lower() in stored or (len(word) > 1 and word.isupper() and word in stored):
        return True
    phrases = set(pairwise(GENITIVE.sub("", w.lower()) for w in stored))
    first = min(at, len(words) - 2)  # the last word is looked up with the one before it
    near = tuple(GENITIVE.sub("", w.lower()) for w in words[max(0, first) : first + 2])
    return near in phrases
