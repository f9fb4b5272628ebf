"""Models for the contract tests of judgements: a real client, and a scripted server that judges by shared words."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from prompts.language_model import LanguageModel, ModelSettings
from prompts.model_settings import Role
from support.scripted_model import Request, Scripted, ScriptedModel, serving_by
from tools.text.tokens import tokens

DOCUMENT = re.compile(r"^\[(\d+)\](?: (retrieved|generated) \||.*? \| not read \|) (.*)$")
NEEDED = re.compile(r"^(\d+)\. (.*)$")


@contextmanager
def model_by(role: Role, respond: Callable[[Request], Scripted]) -> Iterator[tuple[LanguageModel, ScriptedModel]]:
    """A model in a role whose server answers by a function, and that server."""
    with serving_by(respond) as server:
        yield LanguageModel(ModelSettings(name="m", base_url=server.url, timeout=5.0, max_retries=0), role), server


def said(request: Request, role: str = "user") -> str:
    """What a request says in a role."""
    return "\n".join(str(m["content"]) for m in request["messages"] if m["role"] == role)


def shown_documents(request: Request) -> list[tuple[int, str, str]]:
    """Number, origin, and title with text of each document that a selector is shown."""
    found = [DOCUMENT.match(line) for line in said(request).splitlines()]
    return [(int(m[1]), m[2], m[3]) for m in found if m]


def reply(**values: Any) -> Scripted:
    """An answer that is a JSON object."""
    return Scripted(json.dumps(values))


def selects_by_words(request: Request) -> Scripted:
    """Keeps each document that covers something that is not covered yet, by most of the words of the requirement,
    by any of the only one."""
    text = said(request)
    limit = int(re.findall(r"at most (\d+)", text)[0])
    needed = {int(m[1]): set(tokens(m[2])) for m in map(NEEDED.match, text.splitlines()) if m}
    keep: list[dict[str, Any]] = []
    covered: set[int] = set()
    for number, _, shown in shown_documents(request):
        words = set(tokens(shown))
        most = 2 if len(needed) > 1 else len(tokens(text))
        covers = [n for n, wanted in needed.items() if most * len(wanted & words) > len(wanted)]
        if set(covers) - covered and len(keep) < limit:
            keep.append({"number": number, "covers": covers, "reason": "shares words"})
            covered |= set(covers)
    return reply(keep=keep)


def judges_by_words(request: Request) -> Scripted:
    """A verdict by a few cues of English, as a model would give it."""
    asked, _, document = said(request).rpartition("Document: ")
    return reply(**_judged(asked, document))


def chooses_by_words(request: Request) -> Scripted:
    """Keeps what is not irrelevant by the same cues, with what each does."""
    asked = said(request).partition("\nNeeded:")[0]
    judged = [{"number": n} | _judged(asked, shown) for n, _, shown in shown_documents(request)]
    return reply(
        keep=[told for told in judged if told["stance"] != "irrelevant"] or [{"number": 1, "stance": "silent"}]
    )


def _judged(asked: str, document: str) -> dict[str, Any]:
    document = document.lower()
    if len(set(tokens(asked)) & set(tokens(document))) < 2:
        return {"stance": "irrelevant", "support": 0.1, "reason": "It is about something else."}
    if "Findings: " in asked:
        against = "fever (absent)" in asked and "fever is typical" in document
        stance = "conflicts" if against else "supports"
        return {"stance": stance, "support": 0.2 if against else 0.9, "reason": f"Fever: {stance}."}
    return {"stance": "refutes" if "do not" in document else "supports", "support": 0.8, "reason": "By its words."}
