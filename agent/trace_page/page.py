"""The page: everything that is shown of a run, or of two beside each other, through templates that escape."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from agent.trace_page.evidence import FATES, Document, Told, counts, documents_of, parts_of, statements_of
from agent.trace_page.happened import Event, Happened, Kept, Texts, happened
from agent.trace_page.machine import Drawing, drawing, told
from agent.trace_page.steps import ROOM, Search, Shown, Value, path_in_words, searches_of, steps_of, values_of
from graphs.answering.contract import Answer
from graphs.answering.presentation import Presentation, present
from graphs.completeness.contract import GateDecision
from graphs.completeness.explained import Explanation, explained
from tools.contract import Notice, unique
from tools.evidence import Origin
from tools.messages import messages

if TYPE_CHECKING:
    from jinja2 import Environment

LISTED = 5  # diseases of a differential that are compared by their order; ours
LABELS = {  # sign and word beside each label's colour
    "A": ("▲", "decides the diagnosis"),
    "B": ("●", "helps a search"),
    "C": ("○", "does neither"),
}


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
    shown: Presentation | None
    told: list[Told]
    documents: list[Document]
    fates: list[tuple[str, int, str]]
    drawing: Drawing
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
        shown=present(answer, whole=True) if answer is not None else None,
        told=statements,
        documents=documents,
        fates=counts(documents),
        drawing=drawing(seen),
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
        "PARAMETRIC": Origin.PARAMETRIC,
        "WORDS": messages("en"),
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


class Only(NamedTuple):
    """What only this run has; all empty for a run that stands alone."""

    nodes: frozenset[str] = frozenset()
    edges: frozenset[tuple[str, str]] = frozenset()
    queries: frozenset[str] = frozenset()
    documents: frozenset[str] = frozenset()
    quoted: frozenset[str] = frozenset()
    statements: frozenset[str] = frozenset()


class Difference(NamedTuple):
    """A line of the table: what is compared, what either run has (or has alone), how much both have."""

    name: str
    one: tuple[str, ...]
    other: tuple[str, ...]
    shared: int | None = None

    @property
    def same(self) -> bool:
        """Whether the runs agree."""
        return self.one == self.other


def only_in(run: Run, other: Run) -> Only:
    """What ``run`` has and ``other`` has not."""
    return Only(
        nodes=frozenset(run.path) - frozenset(other.path),
        edges=frozenset(pairwise(run.path)) - frozenset(pairwise(other.path)),
        queries=frozenset(queries(run)) - frozenset(queries(other)),
        documents=frozenset(_found(run)) - frozenset(_found(other)),
        quoted=frozenset(_quoted(run)) - frozenset(_quoted(other)),
        statements=frozenset(_statements(run)) - frozenset(_statements(other)),
    )


def differences(run: Run, other: Run) -> list[Difference]:
    """The table of two runs. Times always differ; they are there to be compared."""
    return [
        _value("question", run.question, other.question),
        _value("kind of turn", _kind(run), _kind(other)),
        _value("configuration", run.happened.configuration, other.happened.configuration),
        _value("gate", _gate(run.gate), _gate(other.gate)),
        _value("path", path_in_words(run.drawing.visits), path_in_words(other.drawing.visits)),
        _sets("queries", queries(run), queries(other)),
        _sets("evidence found", _found(run), _found(other)),
        _sets("evidence quoted", _quoted(run), _quoted(other)),
        _sets("statements", _statements(run), _statements(other)),
        _value("choice", _choice(run), _choice(other)),
        _value("differential", _leading(run), _leading(other)),
        _sets("notices", [n.text for n in run.notices], [n.text for n in other.notices]),
        _value("time", told(run.happened.seconds * 1000), told(other.happened.seconds * 1000)),
        _value("language models", _spent(run), _spent(other)),
    ]


def queries(run: Run) -> list[str]:
    """Every query of a run, once."""
    return unique([q for s in run.searches for q in s.queries])


def _value(name: str, one: str | None, other: str | None) -> Difference:
    return Difference(name, (one,) if one else (), (other,) if other else ())


def _sets(name: str, one: Sequence[str], other: Sequence[str]) -> Difference:
    return Difference(name, _without(one, other), _without(other, one), len(set(one) & set(other)))


def _without(one: Iterable[str], other: Iterable[str]) -> tuple[str, ...]:
    known = set(other)
    return tuple(unique([item for item in one if item not in known]))


def _kind(run: Run) -> str:
    return str(run.happened.triage.get("kind_of_turn", ""))


def _gate(gate: GateDecision | None) -> str:
    return f"{gate.decision.value.replace('_', ' ')} (score {gate.score:.2f})" if gate is not None else "not asked"


def _found(run: Run) -> list[str]:
    return [d.id for d in run.documents]


def _quoted(run: Run) -> list[str]:
    return [d.id for d in run.documents if d.quotes]


def _statements(run: Run) -> list[str]:
    return [t.statement.text for t in run.told]


def _choice(run: Run) -> str:
    choice = run.answer.choice if run.answer is not None else None
    return f"{choice.label}: {choice.text}" if choice is not None else "none"


def _leading(run: Run) -> str:
    ranking = run.answer.differential[:LISTED] if run.answer is not None else []
    return ", ".join(f"{d.name} {d.score:.0%}" for d in ranking) or "none"


def _spent(run: Run) -> str:
    models = run.happened.models
    tokens = f"{sum(m.input_tokens for m in models)} + {sum(m.output_tokens for m in models)} tokens"
    return f"{len(models)} calls, {tokens}, cost {sum(m.cost for m in models):g}" if models else "none"
