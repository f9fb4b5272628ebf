"""Whether a case asks for rare, genetic or syndromic diseases (English)."""

from __future__ import annotations

import re

ASKS = re.compile(
    r"\brare (?:\w+ )?(?:disease|disorder|condition|illness|syndrome|cause|diagnos[ei]s)s?\b|"
    r"\b(?:genetic|hereditary|inherited|inborn|chromosom\w+|syndromic)\b(?! test)|"
    r"\b(?:what|which|any|some|unknown|possible) (?:\w+ )?syndrome\b",
    re.IGNORECASE,
)


def asks_for_rare(case: str) -> bool:
    """Whether a case asks for rare, genetic or syndromic diseases in so many words."""
    return ASKS.search(case) is not None
