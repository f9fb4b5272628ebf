"""A model that answers from what it is shown: sentences of the numbered documents, told by shared words."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from graphs.answering.by_model import AnswererByModel, ModelAnswerSettings
from graphs.answering.contract import Draft
from graphs.answering.general import BackgroundBeside
from graphs.answering.local import AnswererLocal
from graphs.verdicts.local import VALUE
from prompts.language_model import LanguageModel, ModelSettings
from prompts.metering import Meter
from support.answerers import READ
from support.scripted_model import Request, Scripted, ScriptedModel, serving_by
from tools.encoders import Encoder
from tools.reading.contract import ANSWERS
from tools.text.tokens import tokens

SHOWN = re.compile(r"^\[(B?\d+)(?:\.(\d+))?\] (.*)$", re.MULTILINE)
LEAST = 2  # words that a sentence and a question share

Answering = Callable[[str, Request], Any]
"""A reply by the name of its schema; None leaves it to `reply`."""

Answered = tuple[Draft, ScriptedModel, Meter]
Ask = Callable[..., Answered]


def asked(request: Request) -> str:
    """What the request says as the user."""
    return str(request["messages"][-1]["content"])


def schema_of(request: Request) -> str:
    """The name of the schema, in whatever form the request carries it."""
    return re.findall(r'"(?:name|title)": "(\w+Reply)"', json.dumps(request).replace('\\"', '"'))[-1]


def documents(request: Request) -> dict[str, tuple[str, dict[str, str]]]:
    """Number -> (details, sentences by label) of what was shown."""
    found: dict[str, tuple[str, dict[str, str]]] = {}
    for number, sentence, text in SHOWN.findall(asked(request).partition("Documents:\n")[2]):
        if sentence:
            found[number][1][f"{number}.{sentence}"] = text
        else:
            found[number] = (text, {})
    return found


def part(request: Request, name: str) -> str:
    """The text after a heading, up to the next empty line."""
    return asked(request).partition(f"{name}:")[2].partition("\n\n")[0].strip()


def citing(text: str, *labels: Any, **more: Any) -> dict[str, Any]:
    """A statement of a reply."""
    return {"text": text, "cites": list(labels), **more}


def saying(*statements: dict[str, Any], mended: tuple[dict[str, Any], ...] = (), **more: Any) -> Answering:
    """A model that says these statements first, and those when it is told what is wrong."""

    def said(name: str, _: Request) -> Any:
        return {"statements": list(mended)} if name == "MendReply" else {"statements": list(statements), **more}

    return said


def reply(name: str, request: Request) -> dict[str, Any]:
    """What an able model says."""
    if name == "CaseReply":
        return {"statements": _case(request)}
    if name == "DirectReply":
        return {"statements": ["It is probably a collapsed lung.", "Go to a hospital at once."], "option": "A"}
    if name == "MendReply":
        return {"statements": []}
    question = part(request, "Question").splitlines()[0]
    found = _near(question, request)
    statements = [citing(text, label) for label, text in found]
    if name in ("ChoiceReply", "ExamReply"):
        return {"statements": statements, "option": _option(question, request, [t for _, t in found])}
    return {"statements": statements, "abstain": not statements}


def _near(question: str, request: Request) -> list[tuple[str, str]]:
    wanted = set(tokens(question))
    told = [pair for _, shown in documents(request).values() for pair in shown.items()]
    scored = [(len(wanted & set(tokens(text))), label, text) for label, text in told]
    return [(label, text) for score, label, text in sorted(scored, key=lambda s: -s[0]) if score >= LEAST][:4]


def _option(question: str, request: Request, said: list[str]) -> str:
    lines = part(request, "Options").splitlines()
    letters = dict(re.findall(r"^(\w+)\. (.*)$", "\n".join(lines), re.MULTILINE))
    if "no_difference" in letters:  # a closed question: the able model's word on what the tests know how to read
        return next((VALUE[max(ANSWERS, key=READ[s].stance)].value for s in said if s in READ), "")
    body = " ".join(said).lower()
    return next((k for k, text in letters.items() if text.lower() in body), "")


def _case(request: Request) -> list[dict[str, Any]]:
    out = []
    for line in part(request, "Diagnoses").splitlines():
        name = line.partition(". ")[2].partition(" (")[0]
        for details, shown in documents(request).values():
            if details.startswith("knowledge graph") and name in details:
                label, said = list(shown.items())[1]
                out.append(citing(f"{name}: {said}", label, part="diagnosis", diagnosis=name))
    for details, shown in documents(request).values():
        if details.startswith("retrieved"):
            label, said = next(iter(shown.items()))
            out.append(citing(said, label, part="next"))
    return out


def playing(answering: Answering = lambda *_: None) -> Callable[[Request], Scripted]:
    """A server's answers: ``answering`` first, then `reply`."""

    def respond(request: Request) -> Scripted:
        name = schema_of(request)
        own = answering(name, request)
        if isinstance(own, Scripted):
            return own
        return Scripted(json.dumps(own if own is not None else reply(name, request), ensure_ascii=False))

    return respond


@contextmanager
def by_model(
    local: AnswererLocal,
    encoder: Encoder,
    answering: Answering = lambda *_: None,
    background: BackgroundBeside | None = None,
    **settings: Any,
) -> Iterator[tuple[AnswererByModel, ScriptedModel]]:
    """An answerer by this model, and the server that plays it."""
    with serving_by(playing(answering)) as server:
        model = LanguageModel(ModelSettings(name="m", base_url=server.url, timeout=20.0, max_retries=0))
        yield AnswererByModel(model, local, encoder, ModelAnswerSettings(**settings), background), server
