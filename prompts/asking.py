"""What is asked within one deadline, in the form that a server takes, and how long to wait before another try."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, replace

from pydantic import BaseModel

from prompts.endpoint import Message
from prompts.forms import Method, schema_of
from prompts.templates import Prompt

SHAPE = "The schema of the reply, as JSON Schema:\n{shape}"
MEND = "That reply cannot be used: {wrong}. Reply again with one JSON object of the schema and nothing else."
SCHEMALESS: tuple[Method, ...] = ("json_mode", "plain")  # forms of a request that do not carry the schema
BACKOFF = 0.5  # seconds before the second try where the server names none; code: as the protocol's own clients
SPREAD = (0.75, 1.25)  # ours: calls that failed together come back apart


@dataclass
class Asking:
    """Messages of a prompt; ``left`` tells the seconds of the deadline that are left."""

    messages: list[Message]
    prompt: Prompt
    left: Callable[[], float]

    def told(self, method: Method, schema: type[BaseModel]) -> Asking:
        """The same, with the schema in words where the form of the request does not carry it."""
        if method not in SCHEMALESS:
            return self
        (role, system), *rest = self.messages
        return replace(self, messages=[(role, f"{system}\n\n{in_words(schema)}"), *rest])

    def to_mend(self, said: str, wrong: str, schema: type[BaseModel]) -> Asking:
        """The same with a faulty reply and what is wrong with it; the schema in words, whatever the form."""
        mend: list[Message] = [("ai", said), ("human", f"{MEND.format(wrong=wrong)}\n\n{in_words(schema)}")]
        return replace(self, messages=[*self.messages, *mend])


def in_words(schema: type[BaseModel]) -> str:
    """The schema as it is told."""
    return SHAPE.format(shape=json.dumps(schema_of(schema), ensure_ascii=False))


def backoff(attempt: int) -> float:
    """Seconds before another try, doubled each time. ``attempt`` counts from 0."""
    seconds: float = BACKOFF * 2.0**attempt * random.uniform(*SPREAD)  # noqa: S311  no secret
    return seconds
