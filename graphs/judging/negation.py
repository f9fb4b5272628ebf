"""Negations and clauses, for options and quotes. Word cues only; the lists are ours."""

from __future__ import annotations

import re

NEGATION = re.compile(
    r"\b(?:little or (?:no|nothing)|not|no(?! longer)|never|neither|nor|nothing|no longer|cannot|fail(?:s|ed)? to"
    r"|lack(?:s|ed)?|withh[eo]ld\w*|rarely|seldom|poorly|advise against|ineffective"
    r"|unreliable|unhelpful|unnecessary|unlikely|[a-z]+n['’]t"
    r"|without (?:\w+ )?(?:benefit|effect|improvement))\b"
    r"|不|没有|未|无(?!菌)|并非",
    re.IGNORECASE,
)
CLAUSE = re.compile(r"[,;:，；：。]|\b(?:but|because|although|though|whereas|while|so that|unless)\b|但|因为|虽然|而")


def negated(text: str) -> bool:
    """Whether the text holds an odd number of negations, so that it denies."""
    return len(NEGATION.findall(text)) % 2 == 1


def clauses(text: str) -> list[str]:
    """The text cut at commas and conjunctions, empty pieces left out."""
    return [piece for piece in (p.strip() for p in CLAUSE.split(text)) if piece]
