"""What a request asks for: the role, the form of the reply, and the parts of the text that the prompts show."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from evals.scripted.contract import Request
from tools.text.sentences import sentences

ROLES = {
    "QueryPlanReply": "query_plan",
    "SummaryReply": "summary",
    "GapsReply": "gaps",
    "BackgroundReply": "background",
    "SelectionReply": "selection",
    "CaseVerdictReply": "filter",
    "QuestionVerdictReply": "filter",
    "AnswerReply": "answer",
    "ChoiceReply": "answer",
    "CaseReply": "answer",
    "DirectReply": "answer",
    "MendReply": "answer",
    "ReportReply": "report",
    "TriageReply": "triage",
    "GateReply": "gate",
    "SelfJudgedReply": "gate",
    "VerificationReply": "verification",
}
DOCUMENT = re.compile(r"^\[(\d+)\] (?:.*? \| )?(.*)$", re.MULTILINE)
SHAPE = re.compile(r"JSON Schema:\n(\{.*\})\s*$", re.DOTALL)
ID = re.compile(r"\b(?:library|pubmed|pmc):[A-Za-z0-9._-]+")
WORD = re.compile(r"[A-Za-z]{5,}")


def schema_of(request: Request) -> dict[str, Any]:
    """Name and JSON schema of the reply that is asked for, in whatever form; empty when tools are bound."""
    form = request.get("response_format", {}).get("json_schema")
    if form:
        return {"title": form["name"], **form["schema"]}
    if chosen(request):
        function = request["tools"][0]["function"]
        return {"title": function["name"], **function["parameters"]}
    told = SHAPE.search(str(request["messages"][0]["content"]))
    shape: dict[str, Any] = json.loads(told[1]) if told else {}
    return shape


def chosen(request: Request) -> bool:
    """Whether a request names the one tool to call; ``auto`` and none at all mean the same."""
    return isinstance(request.get("tool_choice"), dict)


def role_of(request: Request) -> str:
    """The role that is asked, by the reply's schema; ``research`` when tools are bound, "" when it is not known."""
    if request.get("tools") and not chosen(request):
        return "research"
    name = str(schema_of(request).get("title", ""))
    return ROLES.get(name, name.removesuffix("Reply").lower())


def asked(request: Request) -> str:
    """The first message of the user: the filled template."""
    return next(str(m["content"]) for m in request["messages"] if m["role"] == "user")


def after(request: Request, name: str) -> str:
    """The text after a heading of the template, up to the next empty line or fence."""
    told = re.split(r"\n\n|\n~{3,}", asked(request).partition(f"{name}:")[2], maxsplit=1)[0]
    return told.strip()


def documents(request: Request) -> dict[int, str]:
    """Text by number of the documents that are shown."""
    return {int(m[1]): m[2] for m in DOCUMENT.finditer(asked(request))}


def first_sentence(text: str) -> str:
    """The first sentence of a text that is more than a heading, exactly."""
    found = [s.of(text) for s in sentences(text)]
    return next((s for s in found if len(s.split()) > 4), found[0] if found else text)


def rounds(request: Request) -> int:
    """How often the assistant has called tools in this conversation."""
    return sum(m["role"] == "assistant" for m in request["messages"])


def ids(request: Request) -> list[str]:
    """Ids of documents that tools returned, each once, in order."""
    told = "\n".join(str(m["content"]) for m in request["messages"] if m["role"] == "tool")
    return list(dict.fromkeys(ID.findall(told)))


def words(text: str, most: int) -> list[str]:
    """The longest words of a text, in order."""
    found = list(dict.fromkeys(w.lower() for w in WORD.findall(text)))
    longest = sorted(found, key=len, reverse=True)[:most]
    return [w for w in found if w in longest]


def least(shape: dict[str, Any], root: dict[str, Any] | None = None) -> Any:
    """The least value that a JSON schema takes: what is required, first choices, empty lists."""
    whole = shape if root is None else root
    if "$ref" in shape:
        return least(whole["$defs"][str(shape["$ref"]).rpartition("/")[2]], whole)
    choices: Sequence[Any] = shape.get("enum", ())
    if choices:
        return choices[0]
    options = shape.get("anyOf") or shape.get("allOf")
    if options:
        return least(options[0], whole)
    if shape.get("type") == "object":
        return {name: least(shape["properties"][name], whole) for name in shape.get("required", ())}
    if shape.get("type") == "array":
        return [least(shape["items"], whole)] * int(shape.get("minItems", 0))
    return {"integer": 0, "number": 0.5, "boolean": True, "null": None}.get(str(shape.get("type")), "a sentence")
