"""What is asked within one deadline, in the form that a server takes; how replies to it are kept; waits for tries."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from pydantic import BaseModel

from prompts.endpoint import Message
from prompts.forms import Method, schema_of
from prompts.model_settings import ModelSettings
from prompts.shown import CUT
from prompts.templates import Prompt

SHAPE = "The schema of the reply, {name}, as JSON Schema:\n{shape}"
MEND = "That reply cannot be used: {wrong}. Reply again with one JSON object of the schema and nothing else."
KEEP = "Keep what it says; the question and the texts are left out here."
SHORTER = "That reply was cut, because it was too long. Reply again, much shorter: {what} and nothing else."
LEFT_OUT = "(What was asked is left out here.)"
BEGINNING = 200  # characters of a reply that was cut which are shown to the model again; ours
ROOMIER = 2  # ours: times the bound of tokens that a reply which was cut may have when it is asked for again
SCHEMALESS: tuple[Method, ...] = ("json_mode", "plain")  # forms of a request that do not carry the schema
BACKOFF = 0.5  # seconds before the second try where the server names none; code: as the protocol's own clients
SPREAD = (0.75, 1.25)  # ours: calls that failed together come back apart


@dataclass
class Asking:
    """Messages of a prompt.

    Attributes:
        left: tells the seconds of the deadline that are left. mends: the last message tells the schema in words.
        max_tokens: a bound of the reply other than the settings'.
    """

    messages: list[Message]
    prompt: Prompt
    left: Callable[[], float]
    mends: bool = False
    max_tokens: int | None = None

    def told(self, method: Method, schema: type[BaseModel]) -> Asking:
        """The same, with the schema in words where the form of the request does not carry it."""
        if method not in SCHEMALESS or self.mends:
            return self
        (role, system), *rest = self.messages
        return replace(self, messages=[(role, f"{system}\n\n{in_words(schema)}"), *rest])

    def to_mend(self, said: str, wrong: str, schema: type[BaseModel], *, of_form: bool = False) -> Asking:
        """The same with a faulty reply and what is wrong with it; the schema in words, whatever the form.

        ``of_form``: what was asked is left out, because the reply's form alone is at fault.
        """
        before = [self.messages[0], ("human", LEFT_OUT)] if of_form else self.messages
        told = " ".join([MEND.format(wrong=wrong), *([KEEP] if of_form else [])])
        mend: list[Message] = [("ai", said), ("human", f"{told}\n\n{in_words(schema)}")]
        return replace(self, messages=[*before, *mend], mends=True)

    def shorter(self, said: str, what: str, most: int | None) -> Asking:
        """The same after a reply that was cut: a shorter one is asked for, with more room where there is a bound.

        Args:
            what: what is to be replied. most: the bound in tokens, None for none.
        """
        told: list[Message] = [("ai", said[:BEGINNING] + CUT), ("human", SHORTER.format(what=what))]
        bound = None if most is None else ROOMIER * most
        return replace(self, messages=[*self.messages, *told], max_tokens=bound)


class Replies(Protocol):
    """Replies that are kept by what was asked, each owned by the session whose words it was asked with.

    Attributes:
        by_session: whether they belong to sessions. Where they do not, for an evaluation, a kept reply is counted as
            what it cost when it was made, so that figures do not depend on what was run before.
    """

    by_session: bool

    def find(self, session: str, key: str) -> str | None:
        """The reply that is kept, None when there is none."""

    def keep(self, session: str, key: str, reply: str) -> None:
        """Keep a reply."""


def key_of(settings: ModelSettings, messages: Sequence[Message], form: Any) -> str:
    """The key of what is asked: who is asked, without the key; the messages; the schema or tools; how it is sampled."""
    how = settings.model_dump(include={"name", "temperature", "max_tokens", "reasoning_effort"})
    said = [m if isinstance(m, tuple) else m.model_dump(exclude={"id", "response_metadata"}) for m in messages]
    asked = json.dumps([settings.address, how, said, form], sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(asked.encode()).hexdigest()


def in_words(schema: type[BaseModel]) -> str:
    """The schema as it is told."""
    return SHAPE.format(name=schema.__name__, shape=json.dumps(schema_of(schema), ensure_ascii=False))


def backoff(attempt: int) -> float:
    """Seconds before another try, doubled each time. ``attempt`` counts from 0."""
    seconds: float = BACKOFF * 2.0**attempt * random.uniform(*SPREAD)  # noqa: S311  no secret
    return seconds
