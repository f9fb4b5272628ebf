"""What may be a message."""

from __future__ import annotations

import re
from collections.abc import Mapping

from prompts.errors import InputError
from tools.text.spaces import without_gaps

MOST_STATEMENTS = 3_000  # ours: of so many, short as they are, reading takes two seconds of a processor
STATEMENT = re.compile(r"\d+(?:\.\d+)?|[^\s\d,;:.!?、，；：。！？][^\d,;:.!?\n、，；：。！？]*")  # or a value
NOT_TEXT = re.compile("[\x00-\x08\x0e-\x1f\ud800-\udfff\ufffe\uffff]")  # control characters, broken UTF-8


def check_message(text: str, limit: int, name: str = "The message", *, stated: bool = True) -> str:
    """The message, stripped, its runs of white space made short; raises InputError when empty, too long or not text.

    The limit holds for what came, so that white space is no way around it. A message that is read statement by
    statement and value by value (``stated``) has at most `MOST_STATEMENTS`: that bounds the processor time of a turn.
    """
    if NOT_TEXT.search(text):
        raise InputError(f"{name} is not text.", "Send plain text.")
    stripped = text.strip()
    if not stripped:
        raise InputError(f"{name} is empty.", "Describe a case, ask a question, or give a text that says something.")
    if len(stripped) > limit:
        raise InputError(
            f"{name} has {len(stripped):,} characters; at most {limit:,} are taken.",
            "Shorten it, or raise ANAMNESIS_MAX_CHARACTERS.",
        )
    statements = sum(1 for _ in STATEMENT.finditer(stripped)) if stated else 0
    if statements > MOST_STATEMENTS:
        raise InputError(
            f"{name} makes {statements:,} statements and values; at most {MOST_STATEMENTS:,} are read in a turn.",
            "Send what matters first, the rest in a later message, or hand it in as a document.",
        )
    return without_gaps(stripped)


def check_options(options: Mapping[str, str] | None, limit: int) -> None:
    """Raise InputError for an option, or its letter, that cannot be taken."""
    for letter, option in (options or {}).items():
        check_message(letter, limit, "An option's letter")
        check_message(option, limit, "An option")
