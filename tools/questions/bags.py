"""The tokens of questions, which every step of a build asks for again."""

from __future__ import annotations

from functools import lru_cache

from tools.text.tokens import tokens


@lru_cache(maxsize=65536)  # ours: those of some thousand documents; the steps of a build go through them in turn
def bag(text: str) -> tuple[str, ...]:
    """What `tokens` gives, remembered."""
    return tuple(tokens(text))
