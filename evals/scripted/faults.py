"""Every fault of a model or its server, as a way to spoil a good answer; and the roles that it can strike."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from evals.scripted.player import in_form, play, reply_to, role_of, rounds
from evals.scripted.server import Request, Respond, Scripted

Spoil = Callable[[Request, Scripted], Scripted]

LONG = 200_000  # characters of a reply of 200 KB
SLOW = 30.0  # seconds before the first byte: beyond any deadline of a test
CUT = 60  # bytes that a cut answer lacks; more than the end of its JSON
INTEGER = re.compile(r"(?<![\w.])\d+(?![\w.])")


def _text(good: Scripted, text: str) -> Scripted:
    """A text in place of what was said: the arguments of each call, or the content."""
    if good.calls:
        return replace(good, calls=[(name, text) for name, _ in good.calls])
    return replace(good, content=text)


def _said(good: Scripted) -> str:
    """What was said: the content, or the arguments of the first call."""
    if not good.calls:
        return good.content
    given = good.calls[0][1]
    return given if isinstance(given, str) else json.dumps(given)


def _instead(**values: Any) -> Spoil:
    return lambda _, good: replace(good, **values)


def _endless(request: Request, good: Scripted) -> Scripted:
    """Calls without end: each time another search, or a tool that was not offered."""
    turn = rounds(request)
    calls = [("search_literature", {"query": f"croup again, {turn} and {n}"}) for n in range(20)]
    return replace(good, content="", calls=calls)


def _prose(_: Request, good: Scripted) -> Scripted:
    """Words alone, whatever form was asked for."""
    return replace(good, content="I would look this up in a textbook.", calls=())


def _thinking(_: Request, good: Scripted) -> Scripted:
    """A sound answer after thinking that holds braces."""
    if good.calls:
        return replace(good, content="<think>{which tool?}</think>", reasoning="{hm}")
    return replace(good, content=f"<think>Is it {{this}}, or that?</think>\n{good.content}")


def _unknown(request: Request, good: Scripted) -> Scripted:
    """Numbers and ids that were never shown."""
    if role_of(request) == "research":
        call = ("retrieve_passages", {"query": "croup", "documents": ["library:invented"]})
        return replace(good, calls=[*good.calls, call])
    reply = json.dumps(reply_to(request))
    return in_form(request, INTEGER.sub("999", re.sub(r'"cites": \["[\d.]+"\]', '"cites": ["999.1"]', reply)))


FAULTS: dict[str, Spoil] = {
    "refused key": _instead(status=401, body='{"error": {"message": "bad key"}}'),
    "too many requests": _instead(status=429, body="{}", headers={"Retry-After": "20"}),
    "failing server": _instead(status=500, body="oops"),
    "slow first byte": _instead(pause=SLOW),
    "cut": _instead(cut=CUT),
    "malformed body": _instead(body='{"choices": ['),
    "a page": _instead(body="<html>Sign in</html>", headers={"Content-Type": "text/html"}),
    "malformed JSON": lambda _, good: _text(good, _said(good)[:-3] + "("),
    "wrong schema": lambda _, good: _text(good, '{"unasked": {"for": true}}'),
    "refusal": _instead(refusal="I cannot help with that.", content="", calls=()),
    "empty": _instead(content="", calls=()),
    "endless calls": _endless,
    "ignores tools": _prose,
    "thinking": _thinking,
    "unknown numbers": _unknown,
    "200 KB": lambda _, good: _text(good, _said(good) + "a" * LONG),
}
HARMLESS = frozenset({"thinking"})  # a sound reply all the same
# Faults after which some roles still have what they need: the judgement is the model's, or the local one is told.
EITHER = frozenset({"wrong schema", "endless calls", "ignores tools", "unknown numbers"})
# After these no role is asked again in the turn, and every one is told.
SPREADING = frozenset({"refused key"})
EXCUSED = frozenset({("research", "malformed JSON"), ("research", "200 KB")})  # a call's own arguments alone are lost


def spoiling(role: str, fault: str) -> Respond:
    """A server that plays every role, and spoils what it says in one."""

    def respond(request: Request) -> Scripted:
        good = play(request)
        asked = role_of(request)
        if role == "query_plan" and asked == "research":  # so that the plan of the search is asked for
            calls = [(n, {k: v for k, v in dict(a).items() if k != "terms"}) for n, a in good.calls]  # type: ignore[arg-type]
            return replace(good, calls=calls)
        return FAULTS[fault](request, good) if asked == role else good

    return respond
