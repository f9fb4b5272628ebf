"""Where the words stand that a model quotes: found whatever became of white space, case, dashes and quotation marks."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from tools.text.sentences import Span, sentences
from tools.text.tokens import tokens

LEAST_WORDS = 2  # ours: words of a quote; one word stands in too many sentences to tell which is meant
LONGEST = 1200  # ours: characters of a quote with its sentences; a longer one points at nothing
LEFT_OUT = re.compile(r"\s*(?:\[\s*)?(?:\.{3,}|…)(?:\s*\])?\s*")
EDGES = " \"'.,;:·*-"  # what stands around a quote and is not of it
MARKS = str.maketrans({**dict.fromkeys('‘’‚‛`´“”„‟«»「」"', "'"), **dict.fromkeys("‐‑‒–—―−", "-")})
DROPPED = frozenset("\u00ad\u200b\u200c\u200d\u2060\ufeff")  # soft hyphen, and characters without width


def locate(quote: str, text: str) -> tuple[Span, ...]:
    """The whole sentences of a text that a quote stands in; none when it does not stand there, or is too short.

    Words left out of the quote (``...``) may stand between its pieces; each piece must be there. Whole sentences are
    given so that no quote loses the "not" before it.
    """
    pieces = [p for p in (_plain(part)[0].strip(EDGES) for part in LEFT_OUT.split(quote)) if p]
    if not pieces or max(len(tokens(p)) for p in pieces) < LEAST_WORDS:
        return ()
    plain, places = _plain(text)
    found: list[Span] = []
    for piece in pieces:
        at = plain.find(piece)
        if at < 0:
            return ()
        found.append(_whole(text, places[at], places[at + len(piece) - 1] + 1))
    spans = tuple(dict.fromkeys(found))
    return spans if sum(s.end - s.start for s in spans) <= LONGEST else ()


def _whole(text: str, start: int, end: int) -> Span:
    """The sentences that a stretch of a text touches."""
    touched = [s for s in sentences(text) if s.start < end and start < s.end]
    return Span(min(start, touched[0].start), max(end, touched[-1].end)) if touched else Span(start, end)


@lru_cache(maxsize=256)
def _plain(text: str) -> tuple[str, tuple[int, ...]]:
    """The text in one case and one form, and for each character the place in the text that it came from."""
    out: list[str] = []
    places: list[int] = []
    for at, character in enumerate(text):
        if character in DROPPED:
            continue
        form = unicodedata.normalize("NFKC", character).translate(MARKS).lower()
        for one in form:
            plain = " " if one.isspace() else one
            if plain != " " or (out and out[-1] != " "):
                out.append(plain)
                places.append(at)
    return "".join(out), tuple(places)
