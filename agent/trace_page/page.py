"""The page: everything that is shown of a run, or of two beside each other, through templates that escape."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from agent.trace_page.beside import Difference, Only, differences, only_in
from agent.trace_page.documents import FATES, ORIGINS, Document, counts, documents_of
from agent.trace_page.happened import Event, Happened, Timed
from agent.trace_page.kept import Kept, Texts
from agent.trace_page.machine import Drawing, drawing, told
from agent.trace_page.quotes import Told, parts_of, statements_of
from agent.trace_page.reading import happened
from agent.trace_page.searches import Search, searches_of
from agent.trace_page.steps import ROOM, Shown, Value, steps_of, values_of
from graphs.answering.contract import Answer
from graphs.completeness.contract import GateDecision
from graphs.completeness.explained import Explanation, explained
from graphs.verdicts.shown import facts, headed
from tools.contract import Notice
from tools.evidence import Origin

# The time line: a bar for each step, tool call and call of a model, in order of their beginnings.
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


if TYPE_CHECKING:
    from jinja2 import Environment

LABELS = {  # sign and word beside each label's colour
    "A": ("▲", "decides the diagnosis"),
    "B": ("●", "helps a search"),
    "C": ("○", "does neither"),
}
SEVERITIES = {"info": "note", "warning": "warning", "danger": "danger"}


class Run(NamedTuple):
    """A run as it is shown. ``prefix`` begins the ids of its parts; ``at`` is its beginning, UTC."""

    prefix: str
    run: str
    at: str
    language: str
    happened: Happened
    message: str | None
    question: str | None
    answer: Answer | None
    told: list[Told]
    documents: list[Document]
    fates: list[tuple[str, int, str]]
    drawing: Drawing
    bars: list[Bar]
    resumed: list[str]
    gate: GateDecision | None
    explanation: Explanation | None
    searches: list[Search]
    steps: list[Shown]
    values: list[Value]
    notices: list[Notice]
    missing: list[str]

    @property
    def path(self) -> tuple[str, ...]:
        """The nodes in the order in which they were visited."""
        return self.drawing.path


def run_of(run: str, events: list[Event], texts: Texts, prefix: str = "a-", room: int = ROOM) -> Run:
    """A run out of its trace and the texts that it kept."""
    seen = happened(run, events)
    kept = Kept(seen, texts)
    answer = kept.answer
    statements = statements_of(answer, kept.evidence(), prefix)
    documents = documents_of(seen, kept, statements)
    language = str(seen.triage.get("language", "en"))
    return Run(
        prefix=prefix,
        run=run,
        at=f"{datetime.fromtimestamp(seen.at, UTC):%Y-%m-%d %H:%M:%S} UTC" if seen.at else "at a time unknown",
        language=language,
        happened=seen,
        message=kept.message,
        question=kept.question,
        answer=answer,
        told=statements,
        documents=documents,
        fates=counts(documents),
        drawing=drawing(seen),
        bars=bars(seen),
        resumed=resumed(seen),
        gate=seen.gate,
        explanation=explained(seen.gate, language) if seen.gate is not None else None,
        searches=searches_of(seen),
        steps=steps_of(seen, prefix),
        values=values_of(seen, kept, prefix, room),
        notices=_notices(answer, seen),
        missing=list(dict.fromkeys([*seen.damaged, *kept.missing, *_untold(seen)])),
    )


def page(run: Run, beside: Run | None = None) -> str:
    """The page as HTML. With ``beside`` both runs stand side by side, and what only one of them has is marked."""
    runs = [run] if beside is None else [run, beside]
    marks = [Only()] if beside is None else [only_in(run, beside), only_in(beside, run)]
    table: list[Difference] = [] if beside is None else differences(run, beside)
    return environment().get_template("page.html").render(runs=list(zip(runs, marks, strict=True)), differences=table)


@lru_cache(maxsize=1)
def environment() -> Environment:
    """The templates: every value is escaped, and a name that is not there is an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("agent.trace_page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals |= {
        "FATES": FATES,
        "LABELS": LABELS,
        "ORIGINS": ORIGINS,
        "headed": headed,
        "facts": facts,
        "PARAMETRIC": Origin.PARAMETRIC,
        "SEVERITIES": SEVERITIES,
        "parts_of": parts_of,
        "time": told,
    }
    return made


def _notices(answer: Answer | None, seen: Happened) -> list[Notice]:
    """The answer's notices; of a run that was cut off, those of its tools."""
    if answer is not None:
        return answer.notices
    found = [n for call in seen.tools for n in call.notices]
    return list({(n.code, n.text): n for n in found}.values())


def _untold(seen: Happened) -> list[str]:
    """What the page cannot show, and why."""
    out = []
    if seen.steps and not any(s.kept for s in seen.steps):
        out.append("this trace does not name the texts that the run kept (it may be of an earlier version)")
    if not seen.answered:
        out.append("the run has no answer: it was cut off, or is still going on")
    return out
