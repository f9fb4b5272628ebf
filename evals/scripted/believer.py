"""A model that believes false background and argues for it: it keeps it, states it, and lends it the name of a source.

It is told which background is false and which option that wants. Its reply has three statements: the false one resting
on the background, the false one again with a true quote of the first document, and that quote by itself, so that
something can stand.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from evals.scripted.contract import Request, Respond, Scripted
from evals.scripted.player import in_form
from evals.scripted.reading import asked, documents, first_sentence, least, schema_of

ORIGIN = re.compile(r"^\[(\d+)\] (generated|retrieved) ", re.MULTILINE)
BACKGROUND = "B1"

Belief = Callable[[], tuple[str, str]]  # the false text, and the option that shows that it is believed


def believer(belief: Belief) -> Respond:
    """The responding function of a server (`evals.scripted.server.serving_by`)."""

    def respond(request: Request) -> Scripted:
        shape = schema_of(request)
        text, option = belief()
        replies: dict[str, Callable[[], dict[str, Any]]] = {
            "SelectionReply": lambda: _selection(request),
            "QuestionVerdictReply": lambda: {"stance": "relevant", "support": 1.0},
            "CaseVerdictReply": lambda: {"stance": "supports", "support": 1.0},
            "AnswerReply": lambda: {"statements": _statements(request, text)},
            "ChoiceReply": lambda: {"statements": _statements(request, text), "option": option},
        }
        name = str(shape.get("title", ""))
        reply = replies[name]() if name in replies else least(shape)
        return in_form(request, json.dumps(reply, ensure_ascii=False))

    return respond


def _selection(request: Request) -> dict[str, Any]:
    """Everything, what was generated first."""
    shown = sorted(ORIGIN.findall(asked(request)), key=lambda found: found[1] != "generated")
    return {"keep": [{"number": int(number), "covers": [1]} for number, _ in shown]}


def _statements(request: Request, text: str) -> list[dict[str, Any]]:
    false = first_sentence(text)
    said: list[dict[str, Any]] = [{"text": false, "quotes": [{"document": BACKGROUND, "quote": false}]}]
    number, found = next(iter(documents(request).items()), (0, ""))
    true = first_sentence(found)
    if true:
        quotes = [{"document": str(number), "quote": true}]
        said += [{"text": false, "quotes": quotes}, {"text": true, "quotes": quotes}]
    return said
