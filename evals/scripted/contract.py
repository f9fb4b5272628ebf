"""What a scripted server answers, and what it remembers of a request."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

Request = dict[str, Any]  # the body of a request for a chat completion
ToolCall = tuple[str, dict[str, Any] | str]  # name, and arguments: an object, or the text as it is sent

COUNTED = (11, 7)  # tokens in and out of an answer that does not say; ours: any two numbers that differ
PIECE = 24  # characters of a piece of a streamed answer; ours: a few tokens


@dataclass
class Scripted:
    """One answer.

    Attributes:
        content: what the model says. calls: the tools that it calls. refusal: its refusal, "" for none.
        reasoning: its thinking, in the field beside the content (`content` can hold thinking too).
        status, headers: of the answer. body: replaces the whole body.
        pause: seconds before the first byte. between: seconds between pieces of a stream, or before the second half
            of a body.
        cut: bytes that are dropped at the end (of a stream: whole events). cleanly: the cut looks like a proper end
            of the connection.
        piece: characters of a streamed piece. tokens: in and out; None when the server does not count.
        finish: why the model stopped; "" leaves it to the protocol.
    """

    content: str = ""
    status: int = 200
    body: str | None = None
    cut: int = 0
    pause: float = 0.0
    headers: dict[str, str] = field(default_factory=dict)
    calls: Sequence[ToolCall] = ()
    refusal: str = ""
    reasoning: str = ""
    between: float = 0.0
    cleanly: bool = False
    piece: int = PIECE
    tokens: tuple[int, int] | None = COUNTED
    finish: str = ""


Respond = Callable[[Request], Scripted]


@dataclass(frozen=True)
class Exchange:
    """A request that was answered: its body and headers, and when it came and was done (monotonic seconds)."""

    request: Request
    headers: dict[str, str]
    started: float
    ended: float
    answer: Scripted


def refused(what: str) -> Scripted:
    """The answer of a server that does not take a part of a request."""
    return Scripted(status=400, body=f'{{"error": {{"message": "{what} is not supported", "code": 400}}}}')


def refusing(forms: Sequence[str], respond: Respond) -> Respond:
    """A server that takes no request with one of the forms: json_schema, tools, json_object, temperature."""

    def answer(request: Request) -> Scripted:
        form = str(request.get("response_format", {}).get("type", ""))
        for name in forms:
            if name == form or name in request:
                return refused(name)
        return respond(request)

    return answer
