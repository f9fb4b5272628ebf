"""The words of a disease name for matching, each with how much it counts (1 whole, less for what tells little apart).

English: one spelling, stems, one word for what is the same part, process or organism. What ICD-10 puts in round
brackets need not be said, so it counts little, as do "unspecified", sides and grades. Chinese: single characters,
because a name of four characters leaves too few pairs of them. The lists are ``words.yaml`` and ``patterns.yaml``.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from pathlib import Path
from typing import Any

from tools.text.abbreviations import CHINESE
from tools.text.language import HAN
from tools.text.tokens import STOP, stem
from tools.yaml_files import read_patterns, read_yaml

Words = dict[str, float]

LIGHT = 0.2  # ours: what need not be said: sides, grades, words in ICD-10's round brackets
PLAIN = 0.4  # ours: "disease", "syndrome": they tell little apart, but are part of the name

_ZH_NONE = re.compile(r"未特指的?|其他|其它|不可归类在他处者?|归类在他处的疾病引起的|分类于他处")
_ZH_LIGHT = frozenset("性症型的伴有期级度并发侧左右上下")
LISTS: dict[str, Any] = read_yaml(Path(__file__).with_name("words.yaml"))
PATTERNS = read_patterns(Path(__file__).with_name("patterns.yaml"))
_REWRITTEN = [(re.compile(rf"\b(?:{said})\b"), meant) for said, meant in LISTS["rewritten"].items()]
_SPELT = [(re.compile(said), meant) for said, meant in LISTS["spelt"].items()]
_SAME = {stem(word): stem(row.split()[0]) for row in LISTS["same"] for word in row.split()}
_WEIGHT = {stem(w): LIGHT for w in LISTS["light"]} | {stem(w): PLAIN for w in LISTS["plain"]}
_EPONYM = re.compile(r"^[A-Z][\w-]+(?:'s?|’s?) |^[A-Z]\w+ disease$")
_NEWBORN = re.compile(r"neonat(?:al|e|orum)|perinatal")
_LETTERS = frozenset("ast")  # what is left of articles and possessives; Q fever and vitamin D keep theirs
_WHOLE = ("itis", "personality")  # their stems are other words: hepatitis is no word for the liver
_BRACKETED = re.compile(r"\(([^()]*)\)")
_WORD = re.compile(r"[a-z0-9]+")


def words(name: str) -> Words:
    """The words of a name in either language."""
    return words_zh(name) if HAN.search(name) else words_en(name)


@lru_cache(maxsize=4096)
def words_en(name: str) -> Words:
    """Stems of an English name with their weights, 0..1."""
    said = plain_en(name)
    aside = {w for m in _BRACKETED.finditer(said) for w in _stems(m[1])}
    bare = _stems(_BRACKETED.sub(" ", said))
    found = {w: _WEIGHT.get(w, 1.0) for w in bare}
    for word in sorted(aside):
        found.setdefault(word, LIGHT)
    return found


def words_zh(name: str) -> Words:
    """Characters of a Chinese name with their weights, 0..1; Latin words and numbers whole."""
    said = plain_zh(name)
    parts = re.findall(r"[\u4e00-\u9fff]|[a-z]+|\d", said.lower())
    return {c: LIGHT if c in _ZH_LIGHT else 1.0 for c in parts}


def plain(name: str) -> str:
    """A name as `words` reads it, before it is taken apart."""
    return plain_zh(name) if HAN.search(name) else plain_en(name)


@lru_cache(maxsize=4096)
def plain_en(name: str) -> str:
    """An English name in lower case, without accents and possessives, in one spelling."""
    said = unicodedata.normalize("NFKD", name)
    said = "".join(c for c in said if not unicodedata.combining(c)).lower().replace("’", "'")
    said = re.sub(r"'s\b|(?<=s)'(?=\s)", "", said)
    for pattern, meant in _SPELT:
        said = pattern.sub(meant, said)
    said = " ".join(re.sub(r"[^a-z0-9()]+", " ", said).split())
    for pattern, meant in _REWRITTEN:
        said = pattern.sub(meant, said)
    return said


def plain_zh(name: str) -> str:
    """A Chinese name without spaces and punctuation, short forms written out, one word for the same."""
    said = "".join(unicodedata.normalize("NFKC", name).split())
    for short, meant in CHINESE.items():
        if meant not in said:
            said = said.replace(short, meant)
    for short, meant in LISTS["same_zh"]:
        said = said.replace(short, meant)
    return re.sub(r"[^\w]|_", "", _ZH_NONE.sub("", said))


def opposed(said: Words, name: Words, *, chinese: bool) -> bool:
    """Whether a phrase names one end of a scale and the name only the other."""
    for one, other in LISTS["opposite_zh" if chinese else "opposite"]:
        ends = (one.split(), other.split())
        said_has = tuple(any(w in said for w in end) for end in ends)
        name_has = tuple(any(w in name for w in end) for end in ends)
        if said_has != name_has and sum(said_has) == 1 and sum(name_has) == 1:
            return True
    return False


def unsaid(phrase: str, name: str) -> bool:
    """Whether a name needs a word that the phrase does not say.

    It is of a condition of its own (congenital, in situ ...), of any disease of a part, or it is an abbreviation, which
    must be written as such: ALL is a leukaemia, all is not.
    """
    if name.isupper() and name.isascii() and name not in phrase:
        return True
    if PATTERNS["of_a_part"].search(name) and not (PATTERNS["generic"].search(phrase) or _EPONYM.search(name)):
        return True
    read = _one_word(phrase)
    return any(m[0] not in read for m in PATTERNS["of_its_own"].finditer(_one_word(_BRACKETED.sub(" ", name))))


def _one_word(name: str) -> str:
    """A name in lower case with one word for each condition of its own."""
    return _NEWBORN.sub("newborn", name.replace("恶性肿瘤", "癌").lower())


def _stems(said: str) -> list[str]:
    found = [w for w in _WORD.findall(said) if w not in STOP and w not in _LETTERS]
    return [_SAME.get(w, w) for w in (w if w.endswith(_WHOLE) else stem(w) for w in found)]
