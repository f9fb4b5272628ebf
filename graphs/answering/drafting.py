"""A model's answer while it is being written: its sentences out of the part of the reply that has come.

Who listens is a context variable, as the turn's meter is, so that no judgement has it in its signature. What is told is
a draft: nothing of it has been verified, and the answer replaces it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from pydantic_core import from_json

from prompts.replies import without_thinking
from tools.recorder import lent

Listener = Callable[[str], None]
"""Is told the text of the draft so far, whole each time."""

PAUSE = 0.05  # seconds between two tellings; ours: twenty a second look steady

_listener: ContextVar[Listener | None] = ContextVar("anamnesis_draft_listener", default=None)


@contextmanager
def listening(listener: Listener | None) -> Iterator[None]:
    """Tell this listener of the drafts that are written inside; None tells nobody."""
    with lent(_listener, listener):
        yield


def teller() -> Listener | None:
    """What a model's reply so far is to be told to (``on_text``); None when nobody listens."""
    listener = _listener.get()
    return _Telling(listener) if listener is not None else None


class _Telling:
    """Tells the draft whenever it has grown, not too often."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._told = ""
        self._at = 0.0

    def __call__(self, reply: str) -> None:
        now = time.monotonic()
        if now - self._at < PAUSE:
            return
        text = draft_text(reply)
        if text and text != self._told:
            self._told, self._at = text, now
            self._listener(text)


def draft_text(reply: str) -> str:
    """The sentences of a reply of which only the beginning may have come; "" while there are none."""
    said = without_thinking(reply)
    start = said.find("{")
    if start < 0:
        return ""
    try:
        found = from_json(said[start:], allow_partial="trailing-strings")
    except ValueError:
        return ""
    statements = found.get("statements") if isinstance(found, dict) else None
    return " ".join(t for t in map(_text, statements if isinstance(statements, list) else []) if t)


def _text(statement: Any) -> str:
    text = statement.get("text") if isinstance(statement, dict) else statement
    return text.strip() if isinstance(text, str) else ""
