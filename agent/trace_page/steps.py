"""What a run did: each visit of a node with what it read and kept; each tool call, with the queries of its search."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from agent.trace_page.happened import Happened, Kept, StepRun, ToolRun, named, pretty
from agent.trace_page.machine import rounds_of, told, visited

ROOM = 600_000  # characters of kept texts in a page, so that it stays below 2 MB with everything else; ours
READS = {  # the channels that a node reads, as `graphs.nodes` has it
    "triage": ("message_key", "case_key", "facts_key"),
    "completeness_gate": ("question_key",),
    "research": ("question_key", "differential_key", "first_look_key", "gaps_key"),
    "tools": ("question_key", "differential_key", "first_look_key", "gate_key"),
    "collect": ("differential_key", "answered_key", "gaps_key"),
    "kads_selector": ("question_key", "gaps_key", "differential_key"),
    "differential_filter": ("question_key", "differential_key", "selection_key"),
    "answer": ("question_key", "differential_key", "selection_key", "verdicts_key", "gaps_key", "gate_key"),
    "report": ("question_key", "differential_key", "selection_key", "verdicts_key", "gaps_key", "gate_key"),
    "verify": ("draft_key", "report_key", "verdicts_key"),
    "respond": ("question_key",),
}


class Pointer(NamedTuple):
    """A kept text by its name, and its place in the page."""

    name: str
    id: str


class Value(NamedTuple):
    """A kept text. ``text`` is None when it is gone or there was no room for it; ``why`` then says which."""

    id: str
    name: str
    characters: int
    text: str | None
    why: str


class Shown(NamedTuple):
    """A visit of a node."""

    visit: StepRun
    time: str
    reads: tuple[Pointer, ...]
    keeps: tuple[Pointer, ...]


def steps_of(happened: Happened, prefix: str) -> list[Shown]:
    """Every visit, with what stood in the channels that it reads when it began."""
    out, standing = [], dict[str, str]()
    message = happened.triage.get("message_key")
    if isinstance(message, str):
        standing["message_key"] = message
    ended: list[StepRun] = []
    visits = visited(happened)
    for visit in visits:
        for earlier in [s for s in visits if s not in ended and s is not visit and s.ended <= visit.started]:
            standing |= earlier.kept
            ended.append(earlier)
        read = {c: standing[c] for c in READS.get(visit.step, ()) if c in standing}
        if visit.step == "collect":
            read = {**next((s.kept for s in reversed(ended) if s.step == "tools"), {}), **read}
        out.append(Shown(visit, told(visit.seconds * 1000), _pointers(read, prefix), _pointers(visit.kept, prefix)))
    return out


def values_of(happened: Happened, kept: Kept, prefix: str, room: int = ROOM) -> list[Value]:
    """Every kept text once, smallest first while there is room, in the order in which they were kept."""
    names: dict[str, list[str]] = {}
    for channel, key in [*kept.keys.items(), *((c, k) for s in visited(happened) for c, k in s.kept.items())]:
        known = names.setdefault(key, [])
        known += [channel] if channel not in known else []
    texts = {key: pretty(text) if (text := kept.text(key)) is not None else None for key in names}
    fits, used = set(), 0
    for key in sorted(names, key=lambda k: len(texts[k] or "")):
        used += len(texts[key] or "")
        fits |= {key} if used <= room else set()
    return [_value(key, named(names[key]), texts[key], key in fits, prefix) for key in names]


def _value(key: str, name: str, text: str | None, fits: bool, prefix: str) -> Value:
    why = "" if text is not None and fits else "left out: the page has no room for it"
    if text is None:
        why = "not in the content store any more"
    return Value(f"{prefix}v{key[:16]}", name, len(text or ""), text if fits else None, why)


def _pointers(channels: dict[str, str], prefix: str) -> tuple[Pointer, ...]:
    by_key: dict[str, list[str]] = {}
    for channel, key in channels.items():
        by_key.setdefault(key, []).append(channel)
    return tuple(Pointer(named(names), f"{prefix}v{key[:16]}") for key, names in by_key.items())


def path_in_words(visits: Sequence[StepRun]) -> str:
    """The path as one line."""
    return " → ".join(v.step for v in visits)


# How was searched: tool calls round by round, and within a literature search the ladder of its queries.

SHOWN = 25  # documents of one search that are listed; ours: the rest is counted


RUNG = {  # what a step of the ladder has: count is of all records, ids are those listed, next is what came next
    "rung": "", "query": "", "why": "", "count": 0, "ids": (), "next": "", "translation": "", "warnings": (),
}  # fmt: skip


class Search(NamedTuple):
    """A tool call as it is shown."""

    call: ToolRun
    round: int
    arguments: tuple[tuple[str, str], ...]
    rungs: tuple[dict[str, Any], ...]
    lines: tuple[tuple[str, str], ...]

    @property
    def queries(self) -> tuple[str, ...]:
        """What was sent to a search engine or asked of the library."""
        return tuple(str(r["query"]) for r in self.rungs) or tuple(
            v for n, v in self.arguments if n in ("query", "question")
        )


def searches_of(happened: Happened) -> list[Search]:
    """The tool calls of a run, with the round in which each was made."""
    return [_search(call, number) for number, calls in enumerate(rounds_of(happened), 1) for call in calls]


def _search(call: ToolRun, number: int) -> Search:
    rungs = tuple({**RUNG, **s} for s in call.strategy if s.get("step") == "rung")
    lines = [line for s in call.strategy for line in _lines(s)] + [line for t in call.told for line in _told(t)]
    return Search(call, number, tuple((n, _plain(v)) for n, v in call.arguments.items()), rungs, tuple(lines))


def _lines(step: dict[str, Any]) -> list[tuple[str, str]]:
    """A step of a strategy other than a rung as pairs of name and value."""
    read = {"library": _library, "plan": _plan, "records": _records, "questions": _question}
    if step.get("step") == "rung":
        return []
    if "gap" in step:
        return [("searched for a gap", f"{step['gap']}: {step.get('results')} results")]
    return read.get(str(step.get("step")), _anything)(step)


def _library(step: dict[str, Any]) -> list[tuple[str, str]]:
    found = [f"{d.get('id')} ({_ranks(d.get('ranks') or {})})" for d in step.get("documents") or ()]
    return [("library", _some(found) or "nothing found")]


def _plan(step: dict[str, Any]) -> list[tuple[str, str]]:
    terms = [_term(t) for t in step.get("terms") or ()]
    mended = [f"{c.get('written')} to {c.get('meant')}" for c in step.get("corrections") or ()]
    refused = [f"{r.get('query')}: {r.get('reason')}" for r in step.get("rejected") or ()]
    rows = [("intent", str(step.get("intent", ""))), ("terms", "; ".join(terms))]
    rows += [("spelling mended", "; ".join(mended)), ("not sent", "; ".join(refused))]
    return [*((n, v) for n, v in rows if v), ("planned by", str(step.get("planner", "")))]


def _term(term: dict[str, Any]) -> str:
    also = [*(term.get("synonyms") or ()), *([f"MeSH {term['mesh']}"] if term.get("mesh") else [])]
    return f"{term.get('text')} ({term.get('group')}{': ' + ', '.join(also) if also else ''})"


def _records(step: dict[str, Any]) -> list[tuple[str, str]]:
    source = step.get("source") or {}
    documents = [f"{d.get('rank')}. {d.get('id')} {d.get('title', '')}" for d in step.get("documents") or ()]
    excluded = [f"{d.get('id')}: {str(d.get('reason', '')).replace('_', ' ')}" for d in step.get("excluded") or ()]
    where = " ".join(str(source[k]) for k in ("kind", "name", "date") if source.get(k))
    rows = [("searched in", where), ("records of the result", _some(documents)), ("records left out", _some(excluded))]
    rows += [("the search is incomplete", str(step.get("failure") or ""))]
    return [(n, v) for n, v in rows if v]


def _question(step: dict[str, Any]) -> list[tuple[str, str]]:
    nearness = "the same" if step.get("same") else "near"
    return [("question", f"{step.get('question')} ({nearness}, {step.get('similarity')}, {step.get('document')})")]


def _anything(step: dict[str, Any]) -> list[tuple[str, str]]:
    return [(str(name), _plain(value)) for name, value in step.items()]


def _told(event: dict[str, Any]) -> list[tuple[str, str]]:
    """What a tool recorded while it ran, but for what is shown elsewhere."""
    hidden = {"kind", "at", "seconds", "ranking"}
    name = str(event["kind"]).replace("_", " ")
    if event["kind"] == "gaps":
        return [(f"gaps: {k}", _plain(v)) for k, v in event.items() if k not in {*hidden, "requirements"}]
    return [(name, "; ".join(f"{k}: {_plain(v)}" for k, v in event.items() if k not in hidden))]


def _plain(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(v, str) for v in value):
        return _some(value) or "none"
    return json.dumps(value, ensure_ascii=False)


def _some(items: Sequence[str]) -> str:
    more = f"; and {len(items) - SHOWN} more" if len(items) > SHOWN else ""
    return "; ".join(items[:SHOWN]) + more


def _ranks(ranks: dict[str, Any]) -> str:
    return ", ".join(f"{stream} {rank}" for stream, rank in ranks.items())
