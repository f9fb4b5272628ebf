"""Titles of sessions: the first words of the first message, or what the user names it."""

from __future__ import annotations

from collections.abc import Sequence

from agent.messages import check_message
from agent.sessions.contract import LONGEST_TITLE
from graphs.triage.facts import Fact

FIRST_WORDS = 60  # ours: characters of a message that name it, one line of a list


def title_of(message: str) -> str:
    """The first words of a message, on one line."""
    line = " ".join(message.split())
    if len(line) <= FIRST_WORDS:
        return line
    cut = line[: FIRST_WORDS - 1]
    words, space, _ = cut.rpartition(" ")
    whole = words if space and len(words) > FIRST_WORDS // 2 else cut  # Chinese has no spaces
    return whole.rstrip(" ,.;:，。；：、") + "…"


def title_corrected(message: str, superseded: Sequence[Fact]) -> str:
    """The title of a first message of which something was put right since: what is so now stands in its place."""
    places = [(f.span, f.now) for f in superseded if f.turn == 1 and f.span is not None and f.now]
    for (start, end), now in sorted(places, reverse=True):
        message = message[:start] + now + message[end:]
    return title_of(message)


def check_title(title: str) -> str:
    """A title on one line; raises InputError for an empty one, one that is too long, or no text."""
    return " ".join(check_message(title, LONGEST_TITLE, "The title").split())
