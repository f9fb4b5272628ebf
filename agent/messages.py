"""What may be a message."""

from __future__ import annotations

import re

from prompts.errors import InputError

NOT_TEXT = re.compile("[\x00-\x08\x0e-\x1f\ud800-\udfff\ufffe\uffff]")  # control characters, broken UTF-8


def check_message(text: str, limit: int) -> str:
    """The message, stripped; raises InputError when it is empty, too long or not text."""
    if NOT_TEXT.search(text):
        raise InputError("The message is not text.", "Send plain text.")
    stripped = text.strip()
    if not stripped:
        raise InputError("The message is empty.", "Describe a case or ask a question.")
    if len(stripped) > limit:
        raise InputError(
            f"The message has {len(stripped):,} characters; at most {limit:,} are taken.",
            "Shorten it, or raise ANAMNESIS_MAX_CHARACTERS.",
        )
    return stripped
