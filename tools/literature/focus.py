"""Where a text says what is wanted: the sentences that ask weigh more than the story around them.

Ours. In a narrative the question stands in one or two sentences, and most of the rest is about people.
"""

from __future__ import annotations

import re

from tools.text.sentences import sentences

ASKS = re.compile(
    r"\?|\b(?:would|'d|do|just|really)?\s*(?:like|want|need|wish|love|wanted|needed|hoping|trying)\s+to\s+"
    r"(?:know|learn|understand|find|establish|hear|see|ask|be sure)|\bwonder(?:ing|ed|s)?\b|\bwhether\b|\bexplain\b|"
    r"\btell me\b|\bremind me\b|\bset out\b|\bwhat(?:'s| is| are| does| do| makes)\b|\bwhich\b|"
    r"\bhow (?:does|do|much|many)\b|\basked (?:if|me|what|whether)\b|\bmy question\b|\bcan(?:no|')t find\b|"
    r"\bpoint(?:er|ers|\s+me)\b|\blist of\b|\bnames? of\b|\bask(?:ing|s)? (?:about|if|what|whether)\b|\blooking for\b|"
    r"\bplease\b",
    re.IGNORECASE,
)
CALLED = re.compile(r"\b(?:called|named|termed|known as|said|spelt|mentioned|typed)\b|[\"“]", re.IGNORECASE)
ASKING, BESIDE, STORY = 1.0, 0.8, 0.6  # ours: weights of a sentence that asks, of one beside it, and of the rest
NAMING = 0.15  # ours: added where the text introduces a name or quotes one


def focused(text: str) -> list[tuple[str, float]]:
    """The sentences of a text, each with its weight, 0..1; all weigh 1 where none asks or there are at most two."""
    found = [span.of(text) for span in sentences(text)]
    asking = [n for n, sentence in enumerate(found) if ASKS.search(sentence)]
    if not asking or len(found) <= 2:
        return [(sentence, ASKING) for sentence in found]
    return [(sentence, _weight(n, sentence, asking)) for n, sentence in enumerate(found)]


def _weight(place: int, sentence: str, asking: list[int]) -> float:
    distance = min(abs(place - n) for n in asking)
    weight = ASKING if distance == 0 else BESIDE if distance == 1 else STORY
    return min(ASKING, weight + (NAMING if CALLED.search(sentence) else 0.0))


def asking(text: str) -> str:
    """The sentences of a text that ask, else the whole text."""
    found = [span.of(text) for span in sentences(text)]
    return " ".join(s for s in found if ASKS.search(s)) or text
