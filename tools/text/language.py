"""Which of the two languages a text is in, and whether it is in English at all."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from tools.yaml_files import read_yaml

STOP_WORDS = Path(__file__).with_name("stop_words.yaml")
LATIN_WORD = re.compile(r"[a-z\u00df-\u024f\u1e00-\u1eff]+")
CAPITALS = re.compile(r"\b[A-Z]{2,}\b")  # an abbreviation is of no language
OTHER_SCRIPT = re.compile(r"[^\W\d_a-zA-Z\u00aa-\u024f\u1e00-\u1eff]")
OTHER_SHARE = 0.2  # ours: of the letters; English texts have a few Greek ones
# ours, of a text without a common English word: letters of a word that tells, how many must, share that English has
LONG, ENOUGH, KNOWN = 4, 3, 0.4
HAN = re.compile(r"[\u4e00-\u9fff]")
LETTER = re.compile(r"[^\W\d_]")
HAN_SHARE = 0.2  # ours: a Chinese note with Latin abbreviations stays Chinese


def language_of(text: str) -> str:
    """``zh`` when at least a fifth of the letters are Han characters, else ``en``."""
    letters = len(LETTER.findall(text))
    return "zh" if letters and len(HAN.findall(text)) >= HAN_SHARE * letters else "en"


def is_english(text: str) -> bool:
    """Whether a text is in English, by its script and its commonest words; a text that shows neither is taken for it.

    It is not where more words are common in another language than in English, and one of them belongs to no name or
    term that English has.
    """
    letters = len(LETTER.findall(text))
    if letters and len(OTHER_SCRIPT.findall(text)) >= OTHER_SHARE * letters:
        return False
    words = LATIN_WORD.findall(CAPITALS.sub(" ", text).lower())
    english, names, others = _stop_words()
    ours = sum(w in english for w in words)
    for known in others:
        held = [w for w in words if w in known]
        if len(held) > ours and (len(set(held)) > 1 or any(w not in names for w in held)):
            return False
    return ours > 0 or _known(words) >= KNOWN


def _known(words: Sequence[str]) -> float:
    """Share of the longer words that published medical English has; 1 with too few."""
    from tools.literature.vocabulary import known_words

    long = [w for w in words if len(w) >= LONG]
    return sum(known_words().any(w) for w in long) / len(long) if len(long) >= ENOUGH else 1.0


@lru_cache(maxsize=1)
def _stop_words() -> tuple[frozenset[str], frozenset[str], tuple[frozenset[str], ...]]:
    """English words, those of other languages that stand in names and terms of English, and each other language's."""
    rows = {name: frozenset(map(str, words)) for name, words in read_yaml(STOP_WORDS).items()}
    return rows.pop("english"), rows.pop("names"), tuple(rows.values())
