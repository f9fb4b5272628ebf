"""Two runs beside each other: what differs, and what only one of them has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from agent.trace_page.machine import told
from agent.trace_page.steps import path_in_words
from graphs.completeness.contract import GateDecision
from tools.contract import unique

if TYPE_CHECKING:
    from agent.trace_page.page import Run

LISTED = 5  # diseases of a differential that are compared by their order; ours


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
