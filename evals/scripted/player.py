"""A model that plays every role sensibly, from the request alone: it quotes what it is shown and finds three gaps."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from evals.scripted.contract import Request, Scripted, ToolCall
from evals.scripted.reading import (
    after,
    asked,
    documents,
    first_sentence,
    ids,
    least,
    role_of,
    rounds,
    schema_of,
    words,
)

KEPT = 5  # documents that it selects; MedRGAG's number (paper)
CITED = 6  # documents that it quotes, as many as the prompts ask for
TERMS = 4  # search terms; ours
TOKEN = 4  # characters of a token; ours, a rule of thumb for English
POINTS = ("causes of {0}", "treatment of {0}", "costs of {0} to society")  # the last one is in no library
NUMBERED = re.compile(r"^(\d+)\. ", re.MULTILINE)
PERSON = re.compile(r"\b(?:I'm|I am|my|\d+ ?(?:-?year|M|F)\b)", re.IGNORECASE)
OPTION = re.compile(r"^(\w+)\. ", re.MULTILINE)

Reply = dict[str, Any]


def play(request: Request) -> Scripted:
    """What a sensible model says to a request."""
    if role_of(request) == "research":
        calls = _calls(request)
        return Scripted("What the answer needs." if calls else "Enough.", calls=calls, tokens=_tokens(request, calls))
    reply = reply_to(request)
    return in_form(request, json.dumps(reply, ensure_ascii=False))


def reply_to(request: Request) -> Reply:
    """The reply of `play` to a request for one of a schema."""
    shape = schema_of(request)
    played = PLAYED.get(str(shape.get("title", "")))
    reply: Reply = played(request) if played is not None else least(shape)
    return reply


def in_form(request: Request, text: str) -> Scripted:
    """A text as the reply in the form that is asked for: the arguments of a call, or the content."""
    tokens = _tokens(request, text)
    if "tool_choice" in request:
        return Scripted(calls=[(request["tools"][0]["function"]["name"], text)], tokens=tokens)
    return Scripted(text, tokens=tokens)


def _tokens(request: Request, said: Any) -> tuple[int, int]:
    shown = sum(len(str(m.get("content") or "")) for m in request["messages"])
    bound = len(json.dumps(request.get("tools", "")))
    return (shown + bound) // TOKEN, len(str(said)) // TOKEN


def _calls(request: Request) -> list[ToolCall]:
    """First a search, and the differential of a case; then passages and gaps; then nothing."""
    text = asked(request)
    about = text.partition("~\n")[2].partition("\n")[0]
    terms = words(about, TERMS)
    if rounds(request) == 0:
        search: ToolCall = ("search_literature", {"query": about[:300], "terms": terms})
        return [search, ("lookup_differential", {})] if "patient's case" in text else [search]
    if rounds(request) == 1:
        passages: ToolCall = ("retrieve_passages", {"query": about[:300], "documents": ids(request)[:2]})
        return [passages, ("fill_knowledge_gaps", {})]
    return []


def _quoted(request: Request, **more: Any) -> list[Reply]:
    """The first sentence of each of the first documents, word for word."""
    shown = list(documents(request).items())[:CITED]
    found = [(n, first_sentence(text)) for n, text in shown if text]
    return [{"text": said, "quotes": [{"document": str(n), "quote": said}], **more} for n, said in found]


def _plan(request: Request) -> Reply:
    return {"terms": [{"text": w} for w in words(asked(request), TERMS)] or [{"text": "disease"}], "intent": "other"}


def _gaps(request: Request) -> Reply:
    about = " ".join(words(after(request, "Question"), 3)) or "the disease"
    return {"missing": [point.format(about) for point in POINTS], "covered": []}


def _background(request: Request) -> Reply:
    about = after(request, "Point") or "the question"
    return {
        "text": f"Textbooks say that {about} depends on the patient. Most people do well. Experts disagree at times."
    }


def _summary(request: Request) -> Reply:
    return {"useful": True, "summary": first_sentence(after(request, "Document"))}


def _selection(request: Request) -> Reply:
    return {"keep": [{"number": n, "covers": [1], "reason": "It is near."} for n in list(documents(request))[:KEPT]]}


def _answer(request: Request) -> Reply:
    statements = _quoted(request)
    return {"statements": statements, "abstain": not statements}


def _choice(request: Request) -> Reply:
    options = OPTION.findall(after(request, "Options"))
    return {"statements": _quoted(request), "option": options[0] if options else ""}


def _report(request: Request) -> Reply:
    said = _quoted(request)
    treated = [{**statement, "discipline": "medicines"} for statement in said[2:3]]
    return {"diagnoses": said[:1], "explanation": said[1:2], "treatment": treated, "evaluations": said[3:4]}


def _triage(request: Request) -> Reply:
    message = after(request, "Message")
    case = PERSON.search(message) is not None
    return {"kind": "case" if case else "evidence", "question": "" if case else message, "reason": "By its words."}


def _gate(request: Request) -> Reply:
    labels = [{"number": int(n), "label": "B"} for n in NUMBERED.findall(asked(request))]
    return {"verdict": "more", "missing": [], "reason": "Documents help.", "labels": labels}


def _verification(request: Request) -> Reply:
    return {"verdicts": [{"number": int(n), "supported": True} for n in NUMBERED.findall(asked(request))]}


VERDICT = {"reason": "It fits.", "stance": "supports", "support": 0.9}
DIRECT = {"statements": ["It is probably what it seems.", "See a doctor when it gets worse."], "option": "A"}
PLAYED: dict[str, Callable[[Request], Reply]] = {
    "QueryPlanReply": _plan,
    "SummaryReply": _summary,
    "GapsReply": _gaps,
    "BackgroundReply": _background,
    "SelectionReply": _selection,
    "CaseVerdictReply": lambda _: VERDICT,
    "QuestionVerdictReply": lambda _: VERDICT,
    "AnswerReply": _answer,
    "ChoiceReply": _choice,
    "CaseReply": lambda request: {"statements": _quoted(request, part="next")},
    "DirectReply": lambda _: DIRECT,
    "MendReply": lambda _: {"statements": []},
    "ReportReply": _report,
    "TriageReply": _triage,
    "GateReply": _gate,
    "SelfJudgedReply": lambda _: {"verdict": "more", "missing": [], "reason": "Documents help."},
    "VerificationReply": _verification,
}
