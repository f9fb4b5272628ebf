"""The contract of an evaluation: what a task is, what it is given, and the figures that it gives back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import Field

from tools.evidence import Frozen

if TYPE_CHECKING:
    from agent.settings import Settings
    from evals.asked import AgentEvaluation

Row = TypeVar("Row")
Ticker = Callable[[Iterable[Any], str, int], Iterator[Any]]


class Published(Frozen):
    """A paper's figure in the unit of ours, and where it stands."""

    value: float
    source: str


class Figure(Frozen):
    """One measured figure.

    Attributes:
        name: dotted, ``what.setting.metric``.
        value: shares and accuracies in percent; ``mrr``, ``recall`` and ``p`` in 0..1; ``ms`` in milliseconds.
        n: how many rows it rests on.
        ci95: the 95 % interval in the value's unit; None where none is due (a p value, a baseline known exactly).
        published: a paper's figure for the same, None where no source gives one.
    """

    name: str = Field(pattern=r"^[a-z0-9_]+(\.[a-z0-9_@]+){2,}$")
    value: float
    n: int
    ci95: tuple[float, float] | None = None
    published: Published | None = None


class Report(Frozen):
    """What a run writes. ``data_sha256`` is over the names and bytes of every file that the task read."""

    task: str
    settings: dict[str, Any]
    data_sha256: str
    seconds: float
    figures: tuple[Figure, ...]


def _silent(rows: Iterable[Any], label: str, total: int) -> Iterator[Any]:
    del label, total
    return iter(rows)


@dataclass(frozen=True)
class TaskContext:
    """What a task is given.

    Attributes:
        data: the folder of ``--data``.
        limit: most rows a setting (a task says what a setting is).
        seed: of every sample and every bootstrap.
        settings: the agent's settings, live access off.
        tick: wraps an iterable in a progress bar: (rows, label, total).
        not_run: what a task left out, with the reason; it goes into the report's settings.
    """

    data: Path
    limit: int
    seed: int
    settings: Settings
    tick: Ticker = field(default=_silent)
    not_run: dict[str, str] = field(default_factory=dict)

    def sample(self, rows: Sequence[Row]) -> list[Row]:
        """At most ``limit`` rows, drawn by the seed, in their own order."""
        return self.sample_of(rows, self.limit)

    def sample_of(self, rows: Sequence[Row], count: int) -> list[Row]:
        """At most ``count`` rows, drawn by the seed, in their own order."""
        import random

        if len(rows) <= count:
            return list(rows)
        chosen = sorted(random.Random(self.seed).sample(range(len(rows)), count))  # noqa: S311
        return [rows[i] for i in chosen]


@dataclass(frozen=True)
class Task:
    """An evaluation.

    Attributes:
        name: what `anamnesis eval run` calls it.
        what: one line for people.
        inputs: patterns of the files that it reads, below the data folder; each must match.
        expected: wall time with the default limit, on two cores, warm, in words.
        limit: the default limit; keeps the run under ten minutes on two cores.
        run: does the work.
        home_data: the data folder when ``--data`` is not given; None where it must be given.
        by_agent: it asks the whole agent, so that a published configuration can be set for it.
        by_model: it calls the language model that the settings name, where they name one.
        asks: what it asks the agent, so that it can be run with a log; None where it does not ask.
        any_of: one of the inputs is enough; those that are missing are told as not run.
        optional: files that it reads too where they are there, so that they are hashed with the inputs.
    """

    name: str
    what: str
    inputs: tuple[str, ...]
    expected: str
    limit: int
    run: Callable[[TaskContext], list[Figure]]
    home_data: Path | None = None
    by_agent: bool = False
    by_model: bool = False
    asks: AgentEvaluation | None = None
    any_of: bool = False
    optional: tuple[str, ...] = ()
