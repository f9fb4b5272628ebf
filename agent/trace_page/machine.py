"""The machine as a drawing: its nodes and edges as compiled, laid out by hand, with the path that a run took."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import MISSING, fields
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from agent.trace_page.happened import Happened, StepRun, ToolRun
from tools.yaml_files import read_yaml

START, END = "__start__", "__end__"
Edge = tuple[str, str]

DRAWN = read_yaml(Path(__file__).with_name("machine.yaml"))
LAYOUT: dict[str, tuple[int, int]] = {name: (x, y) for name, (x, y) in DRAWN["layout"].items()}
MIDDLE, HEIGHT, (NODE_WIDTH, NODE_HEIGHT) = DRAWN["middle"], DRAWN["height"], DRAWN["node"]


class Drawn(NamedTuple):
    """A node: top left corner and size, its visits."""

    name: str
    x: float
    y: float
    width: float
    visits: tuple[StepRun, ...]

    @property
    def note(self) -> str:
        """Time and visits, under the name."""
        if not self.visits:
            return "not visited"
        times = f", {len(self.visits)} times" if len(self.visits) > 1 else ""
        return told(sum(v.seconds for v in self.visits) * 1000) + times


class Line(NamedTuple):
    """An edge: its ends, its SVG path, whether the run went along it."""

    edge: Edge
    path: str
    taken: bool


class Drawing(NamedTuple):
    """The machine with a run's path."""

    nodes: tuple[Drawn, ...]
    lines: tuple[Line, ...]
    visits: tuple[StepRun, ...]
    height: int

    @property
    def path(self) -> tuple[str, ...]:
        """The nodes in the order of their visits."""
        return tuple(v.step for v in self.visits)


@lru_cache(maxsize=1)
def edges() -> tuple[Edge, ...]:
    """The edges of the machine as it is compiled, sorted."""
    from graphs.clinical import clinical_graph
    from graphs.context import Parts

    needed = [f.name for f in fields(Parts) if f.default_factory is MISSING]
    nothing: dict[str, Any] = dict.fromkeys(needed)  # the drawing asks no judgement
    drawn = clinical_graph(Parts(**{**nothing, "tools": []})).get_graph()
    return tuple(sorted({(e.source, e.target) for e in drawn.edges}))


def drawing(happened: Happened) -> Drawing:
    """The compiled machine with the path of a run; nodes that have no place by hand stand below."""
    known = edges()
    visits = visited(happened)
    taken = taken_edges(visits, known, ended=happened.answered)
    names = sorted({name for edge in known for name in edge} | {v.step for v in visits}, key=_place)
    strangers = [n for n in names if n not in LAYOUT]
    at = {**LAYOUT, **{n: (MIDDLE, HEIGHT + 30 + 50 * i) for i, n in enumerate(strangers)}}
    return Drawing(
        nodes=tuple(_node(n, at[n], [v for v in visits if v.step == n]) for n in names if n not in (START, END)),
        lines=tuple(
            Line(e, DRAWN["routes"].get(" ".join(e)) or _straight(at[e[0]], at[e[1]]), e in taken) for e in known
        ),
        visits=tuple(visits),
        height=HEIGHT + 50 * len(strangers),
    )


def visited(happened: Happened) -> list[StepRun]:
    """Every visit in order of its beginning; calls of tools that ran at once are one visit of the node ``tools``."""
    rounds = [_at_once(calls) for calls in rounds_of(happened)]
    return sorted([*happened.steps, *rounds], key=lambda s: s.started)


def rounds_of(happened: Happened) -> list[list[ToolRun]]:
    """The tool calls, those of one round together: they run at once."""
    rounds: list[list[ToolRun]] = []
    for call in sorted(happened.tools, key=lambda t: (t.started, t.tool)):
        if rounds and call.started < max(c.ended for c in rounds[-1]):
            rounds[-1].append(call)
        else:
            rounds.append([call])
    return rounds


def _at_once(calls: Sequence[ToolRun]) -> StepRun:
    started = calls[0].started
    seconds = max(c.ended for c in calls) - started
    summary = "; ".join(f"{c.tool}: {c.outcome.replace('_', ' ')}, {len(c.evidence)} pieces of evidence" for c in calls)
    names = [c.tool for c in calls]
    kept = {
        f"{name} {names[:n].count(name) + 1}" if names.count(name) > 1 else name: call.key
        for n, (name, call) in enumerate(zip(names, calls, strict=True))
        if call.key
    }
    return StepRun(step="tools", started=started, seconds=seconds, summary=summary, kept=kept)


def taken_edges(visits: Sequence[StepRun], known: Collection[Edge], *, ended: bool) -> set[Edge]:
    """The edges along which the run went: into each visit from what ended last before it, and what ran beside that."""
    taken: set[Edge] = {(START, visits[0].step)} if visits else set()
    for place, visit in enumerate(visits):
        before = [v for v in visits[:place] if (v.step, visit.step) in known and v.started < visit.started]
        taken |= {(v.step, visit.step) for v in _together(before)}
    if ended:
        taken |= {(v.step, END) for v in _together([v for v in visits if (v.step, END) in known])}
    return taken & (set(known) | {(START, v.step) for v in visits[:1]})


def told(milliseconds: float) -> str:
    """A time for people: milliseconds, from a second on seconds."""
    if milliseconds >= 1000:
        return f"{milliseconds / 1000:.2f} s"
    return f"{milliseconds:.0f} ms" if milliseconds >= 1 else "below 1 ms"


def _together(visits: Sequence[StepRun]) -> list[StepRun]:
    """The visit that ended last, and those that ran while it did."""
    if not visits:
        return []
    last = max(visits, key=lambda v: v.started)
    return [v for v in visits if v is last or v.ended > last.started]


def _place(name: str) -> tuple[float, float, str]:
    x, y = LAYOUT.get(name, (0, HEIGHT))
    return y, x, name


def _node(name: str, centre: tuple[float, float], visits: Sequence[StepRun]) -> Drawn:
    width = NODE_WIDTH if centre[0] == MIDDLE else DRAWN["narrow"]
    return Drawn(name, centre[0] - width / 2, centre[1] - NODE_HEIGHT / 2, width, tuple(visits))


def _straight(start: tuple[float, float], end: tuple[float, float]) -> str:
    """Down from below the one to above the other; the arrow's head needs two units."""
    above = 12 if end == LAYOUT[END] else NODE_HEIGHT / 2 + 2
    below = 8 if start == LAYOUT[START] else NODE_HEIGHT / 2
    return f"M{start[0]:g} {start[1] + below:g} L{end[0]:g} {end[1] - above:g}"
