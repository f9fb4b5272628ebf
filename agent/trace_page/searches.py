"""How was searched: tool calls round by round, and within a literature search the ladder of its queries."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from agent.trace_page.happened import Happened, ToolRun
from agent.trace_page.machine import rounds_of

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
    return Search(call, number, tuple((n, _value(v)) for n, v in call.arguments.items()), rungs, tuple(lines))


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
    return [(str(name), _value(value)) for name, value in step.items()]


def _told(event: dict[str, Any]) -> list[tuple[str, str]]:
    """What a tool recorded while it ran, but for what is shown elsewhere."""
    hidden = {"kind", "at", "seconds", "ranking"}
    name = str(event["kind"]).replace("_", " ")
    if event["kind"] == "gaps":
        return [(f"gaps: {k}", _value(v)) for k, v in event.items() if k not in {*hidden, "requirements"}]
    return [(name, "; ".join(f"{k}: {_value(v)}" for k, v in event.items() if k not in hidden))]


def _value(value: Any) -> str:
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
