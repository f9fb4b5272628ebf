"""Models by a script: one plays every role sensibly from the request alone, one believes false background.

The first quotes what it is shown and finds three gaps. The second is told which background is false and which option
that wants, and argues for it: its reply has the false statement resting on the background, the same again with a true
quote of the first document, and that quote by itself, so that something can stand.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from evals.scripted.server import Request, Respond, Scripted, ToolCall
from tools.text.sentences import sentences

ROLES = {
    "QueryPlanReply": "query_plan",
    "SummaryReply": "summary",
    "GapsReply": "gaps",
    "ReadingReply": "gaps",
    "BackgroundReply": "background",
    "BackgroundPointsReply": "background",
    "SelectionReply": "selection",
    "ChoosingReply": "selection",
    "CaseVerdictReply": "filter",
    "QuestionVerdictReply": "filter",
    "AnswerReply": "answer",
    "ChoiceReply": "answer",
    "ExamReply": "answer",
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
ENTRY = re.compile(r"^\[(\d+)\] knowledge graph, (?:.*, )?(.*)$", re.MULTILINE)
SENTENCE = re.compile(r"^\[(\d+)\.(\d+)\] (.*)$", re.MULTILINE)
INLINE = re.compile(r"\[(\d+)\.(\d+)\] (.*?)(?=\[\d+\.\d+\]|$)")  # a sentence of a document on one line
SHAPE = re.compile(r"The schema of the reply, (\w+), as JSON Schema:\n(\{.*\})\s*$", re.DOTALL)
ID = re.compile(r"\b(?:library|pubmed|pmc):[A-Za-z0-9._-]+")
WORD = re.compile(r"[A-Za-z]{5,}")
KEPT = 5  # documents that it selects; MedRGAG's number (paper)
CITED = 6  # documents that it quotes, as many as the prompts ask for
NAMED = 2  # sentences by which a document speaks; ours
TERMS = 4  # search terms; ours
MANY = 100  # all words of a sentence or a question
TOKEN = 4  # characters of a token; ours, a rule of thumb for English
POINTS = ("causes of {0}", "treatment of {0}", "costs of {0} to society")  # the last one is in no library
NUMBERED = re.compile(r"^(\d+)\. ", re.MULTILINE)
PERSON = re.compile(r"\b(?:I'm|I am|my|\d+ ?(?:-?year|M|F)\b)", re.IGNORECASE)
OPTION = re.compile(r"^(\w+)(?:\. (.*))?$", re.MULTILINE)
OPENS = re.compile(r"(Yes|No|It depends)\b")  # a short answer
SAYS = {"Yes": "yes", "No": "no", "It depends": "depends"}
DENIED = re.compile(r"\b(?:no|not|cannot|never)\b|n't\b", re.IGNORECASE)
SAME = "same page"  # how a section is shown of which another stands on the line before
UNREAD = " | not read | "  # how the choice is shown a document that no reading told of
ORIGIN = re.compile(r"^\[(\d+)\] (generated|retrieved) ", re.MULTILINE)
BACKGROUND = "B1"

Belief = Callable[[], tuple[str, str]]  # the false text, and the option that shows that it is believed
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
    """Of each of the first documents the sentence that answers the question nearest, the nearest one first; in a case,
    which asks nothing, the first one. Word for word, and none twice."""
    wanted = set(words(after(request, "Question"), MANY))

    def nearness(pair: tuple[str, str]) -> tuple[bool, bool, int]:
        held = len(wanted & set(words(pair[1], MANY)))
        return not pair[1].endswith("?"), held > 0 and OPENS.match(pair[1]) is not None, held

    found = [max(told, key=nearness) for told in _told(request)[:CITED]]
    said: dict[str, str] = {}
    for label, text in sorted(found, key=nearness, reverse=True):
        said.setdefault(text, label)
    return [{"text": text, "cites": [label], **more} for text, label in said.items()]


def _told(request: Request) -> list[list[tuple[str, str]]]:
    """Of each document the sentences that are more than a heading, with their labels; of one that has none, all."""
    found: dict[str, list[tuple[str, str]]] = {}
    for document, number, text in SENTENCE.findall(asked(request)):
        found.setdefault(document, []).append((f"{document}.{number}", text))
    return [[pair for pair in told if len(pair[1].split()) > 4] or told for told in found.values()]


def _plan(request: Request) -> Reply:
    return {"terms": [{"text": w} for w in words(asked(request), TERMS)] or [{"text": "disease"}], "intent": "other"}


def _gaps(request: Request) -> Reply:
    about = " ".join(words(after(request, "Question"), 3)) or "the disease"
    return {"missing": [point.format(about) for point in POINTS], "covered": []}


def _reading(request: Request) -> Reply:
    """A document speaks by the sentences that hold most of the question's words, two at least, and ask nothing; or the
    first one where none does.

    It answers the first need, and the points are missing.
    """
    wanted = set(words(after(request, "Question"), MANY))

    def near(text: str) -> list[int]:
        told = {int(at): said.strip() for _, at, said in INLINE.findall(text)}
        held = {at: len(wanted & set(words(said, MANY))) for at, said in told.items() if not said.endswith("?")}
        best = sorted(held, key=lambda at: -held[at])[:NAMED]
        return sorted(at for at in best if held[at] > 1)

    shown = documents(request)
    said = {n: places for n, text in shown.items() if (places := near(text))} or {n: [1] for n in list(shown)[:1]}
    read = [{"number": n, "stance": "speaks", "sentences": places} for n, places in said.items()]
    missing = [{"need": 0, "query": point} for point in _gaps(request)["missing"]]
    return {"documents": read, "needs": [{"number": 1, "documents": list(said)}], "missing": missing}


def _background(request: Request) -> Reply:
    return {"text": _textbook(after(request, "Point") or "the question")}


def _background_points(request: Request) -> Reply:
    points = re.findall(r"^(\d+)\. (.*)$", after(request, "Points"), re.MULTILINE)
    return {"points": [{"number": int(n), "text": _textbook(point)} for n, point in points]}


def _textbook(about: str) -> str:
    return f"Textbooks say that {about} depends on the patient. Most people do well. Experts disagree at times."


def _summary(request: Request) -> Reply:
    return {"useful": True, "summary": first_sentence(after(request, "Document"))}


def _selection(request: Request) -> Reply:
    return {"keep": [{"number": n, "covers": [1], "reason": "It is near."} for n in list(documents(request))[:KEPT]]}


def _choosing(request: Request) -> Reply:
    """Documents that a reading told of before others, and those first that hold most of the question's words."""
    wanted = set(words(after(request, "Question"), MANY))
    lines, title = dict[int, str](), ""
    for found in DOCUMENT.finditer(asked(request)):
        named = found[0].partition("] ")[2].partition(". ")[0]
        title = title if named == SAME else named
        lines[int(found[1])] = found[0].replace(SAME, title, 1)
    near = sorted(lines, key=lambda n: (UNREAD in lines[n], -len(wanted & set(words(lines[n], MANY)))))
    kept = {"covers": [1], "reason": "It is near.", "stance": "supports", "support": 0.9, "sentences": [1]}
    return {"keep": [{"number": n, **kept} for n in near[:KEPT]]}


def _answer(request: Request) -> Reply:
    statements = _quoted(request)
    return {"statements": statements, "abstain": not statements}


def _choice(request: Request) -> Reply:
    """Of yes and no what the nearest sentence says; else the option of which the cited ones hold most words, the first
    of several."""
    statements = _quoted(request)
    options = dict(OPTION.findall(after(request, "Options")))
    if not statements or {"yes", "no"} <= set(options):
        return {"statements": statements, "option": _verdict(statements[0]["text"]) if statements else ""}
    held = set(words(" ".join(s["text"] for s in statements), MANY))
    option = max(options, key=lambda label: len(held & set(words(options[label], MANY))), default="")
    return {"statements": statements, "option": option}


def _verdict(said: str) -> str:
    """What a sentence answers, by the words that it opens with; else whether it denies."""
    opens = OPENS.match(said)
    return SAYS[opens[1]] if opens else "no" if DENIED.search(said) else "yes"


def _case(request: Request) -> list[Reply]:
    """The diseases of the graph's entries, each with its first sentence, and what else the documents begin with."""
    entries = dict(ENTRY.findall(asked(request)))
    return [
        {**said, "text": f"{name}: {said['text']}", "part": "diagnosis", "diagnosis": name}
        if (name := entries.get(said["cites"][0].partition(".")[0]))
        else {**said, "part": "next"}
        for said in _quoted(request)
    ]


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
    "ReadingReply": _reading,
    "BackgroundReply": _background,
    "BackgroundPointsReply": _background_points,
    "SelectionReply": _selection,
    "ChoosingReply": _choosing,
    "CaseVerdictReply": lambda _: VERDICT,
    "QuestionVerdictReply": lambda _: VERDICT,
    "AnswerReply": _answer,
    "ChoiceReply": _choice,
    "ExamReply": _choice,
    "CaseReply": lambda request: {"statements": _case(request)},
    "DirectReply": lambda _: DIRECT,
    "MendReply": lambda _: {"statements": []},
    "ReportReply": _report,
    "TriageReply": _triage,
    "GateReply": _gate,
    "SelfJudgedReply": lambda _: {"verdict": "more", "missing": [], "reason": "Documents help."},
    "VerificationReply": _verification,
}


def believer(belief: Belief) -> Respond:
    """The responding function of a server (`evals.scripted.server.serving_by`)."""

    def respond(request: Request) -> Scripted:
        shape = schema_of(request)
        text, option = belief()
        replies: dict[str, Callable[[], dict[str, Any]]] = {
            "SelectionReply": lambda: _generated_first(request),
            "ChoosingReply": lambda: {"keep": [{"number": n, "support": 1.0} for n in documents(request)]},
            "QuestionVerdictReply": lambda: {"stance": "relevant", "support": 1.0},
            "CaseVerdictReply": lambda: {"stance": "supports", "support": 1.0},
            "AnswerReply": lambda: {"statements": _misled(request, text)},
            "ChoiceReply": lambda: {"statements": _misled(request, text), "option": option},
            "ExamReply": lambda: {"statements": _misled(request, text), "option": option},
            "MendReply": lambda: {"statements": [], "option": option},
        }
        name = str(shape.get("title", ""))
        reply = replies[name]() if name in replies else least(shape)
        return in_form(request, json.dumps(reply, ensure_ascii=False))

    return respond


def _generated_first(request: Request) -> dict[str, Any]:
    """Everything, what was generated first."""
    shown = sorted(ORIGIN.findall(asked(request)), key=lambda found: found[1] != "generated")
    return {"keep": [{"number": int(number), "covers": [1]} for number, _ in shown]}


def _misled(request: Request, text: str) -> list[dict[str, Any]]:
    false = first_sentence(text)
    said: list[dict[str, Any]] = [{"text": false, "cites": [BACKGROUND]}]
    for (label, true), *_ in _told(request)[:1]:
        said += [{"text": false, "cites": [label]}, {"text": true, "cites": [label]}]
    return said


# What a request asks for: the role, the form of the reply, and the parts of the text that the prompts show.


def schema_of(request: Request) -> dict[str, Any]:
    """Name and JSON schema of the reply that is asked for, in whatever form; empty when tools are bound."""
    form = request.get("response_format", {}).get("json_schema")
    if form:
        return {"title": form["name"], **form["schema"]}
    if chosen(request):
        function = request["tools"][0]["function"]
        return {"title": function["name"], **function["parameters"]}
    told = [found for m in request["messages"] if (found := SHAPE.search(str(m.get("content"))))]
    return {"title": told[-1][1], **json.loads(told[-1][2])} if told else {}


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
