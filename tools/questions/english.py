"""Whether a document is in English, the one language in which the local writer asks."""

from __future__ import annotations

import re

from tools.questions.contract import SourceDocument
from tools.text.language import language_of

LOOKED_AT = 4000  # ours: characters of a document by which its language is told
LEAST = 30  # ours: words below which a text says nothing of its language
# ours: share of function words that an English text has at least. Of 15,279 English web texts one in a thousand has
# fewer (lists of addresses and references); French, German and Spanish prose has 0 to 0.05
SHARE = 0.06
WORD = re.compile(r"[^\W\d_]+")
FUNCTION_WORDS = frozenset(
    "the of and to in is are or for that with be as by this it on from can may not an at have has which was".split()
)


def is_english(document: SourceDocument) -> bool:
    """By the language that it names (en, eng, en-GB), by its letters, and by its words.

    A reader that knows no better calls whatever is not Chinese English.
    """
    named = document.language.strip().lower()
    if named and not named.startswith("en"):
        return False
    text = document.text[:LOOKED_AT]
    words = WORD.findall(text.lower())
    common = sum(word in FUNCTION_WORDS for word in words)
    return language_of(document.text) == "en" and (len(words) < LEAST or common >= SHARE * len(words))
