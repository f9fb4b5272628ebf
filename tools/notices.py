"""Notices in the language of an answer: the words of each code stand in both catalogues, below ``notice``."""

from __future__ import annotations

from tools.contract import Notice, Severity
from tools.messages import messages


def noted(code: str, language: str, severity: Severity = Severity.INFO, *, said: str = "", **gaps: object) -> Notice:
    """The notice with this code; the only place where one is worded.

    Args:
        said: the message that words it, where that is not ``notice.`` and its code. gaps: what fills the message.
    """
    return Notice(code=code, text=messages(language).say(said or f"notice.{code}", **gaps), severity=severity)
