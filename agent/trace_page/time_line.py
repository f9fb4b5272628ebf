"""The time line: a bar for each step, tool call and call of a model, in order of their beginnings."""

from __future__ import annotations

from typing import NamedTuple

from agent.trace_page.happened import Happened, Timed
from agent.trace_page.machine import told

LEAST = 0.3  # per cent of the whole that the shortest bar takes, so that it can be seen; ours
KINDS = ("step", "tool", "model")  # when two begin at once, the outer comes first


class Bar(NamedTuple):
    """A bar: what ran, of which kind, its place and length in per cent of the run, its time in words."""

    name: str
    kind: str
    left: str
    width: str
    time: str
    note: str


def bars(happened: Happened) -> list[Bar]:
    """All bars of a run."""
    rows: list[tuple[str, str, Timed, str]] = [
        *((s.step, "step", s, "cut off" if s.cut_off else "") for s in happened.steps),
        *((t.tool, "tool", t, t.outcome.replace("_", " ")) for t in happened.tools),
        *((m.role, "model", m, "failed" if m.failed else m.model) for m in happened.models),
    ]
    whole = max(happened.seconds, 1e-6)
    rows.sort(key=lambda r: (r[2].started, KINDS.index(r[1]), r[0]))
    return [_bar(name, kind, timed, note, whole) for name, kind, timed, note in rows]


def resumed(happened: Happened) -> list[str]:
    """Where the run went on after it was cut off, in per cent."""
    whole = max(happened.seconds, 1e-6)
    return [f"{100 * at / whole:.2f}" for at in happened.resumed]


def _bar(name: str, kind: str, timed: Timed, note: str, whole: float) -> Bar:
    width = max(100 * timed.seconds / whole, LEAST)
    left = min(100 * timed.started / whole, 100 - width)
    return Bar(name, kind, f"{max(left, 0):.2f}", f"{width:.2f}", told(timed.seconds * 1000), note)
