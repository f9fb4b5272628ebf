"""Each visit of a node with what it read and what it kept; every kept text is shown once, and pointed at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from agent.trace_page.happened import Happened, Kept, StepRun, named, pretty
from agent.trace_page.machine import told, visited

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
