"""The contract of an evaluation: what a task is, what it is given, and the figures that it gives back.

A task that asks the agent, or a part of the product by itself, says what is said in each session, how one reply is
judged, and how all of them are counted. That serves two ways of running: plainly (`ask_plainly`), and as an Inspect
task with a log (`evals.inspect`). Both give the same figures, because both count replies by the same functions.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from graphs.answering.contract import Answer
from graphs.verdicts.contract import VerdictValue
from tools.evidence import Frozen

if TYPE_CHECKING:
    from agent.sessions import Home
    from agent.settings import Settings
    from evals.sessions import Sittings

Row = TypeVar("Row")
Ticker = Callable[[Iterable[Any], str, int], Iterator[Any]]
SHORT = 120  # ours: characters of an answer in a list of samples
YES_NO_MAYBE = {
    VerdictValue.YES: "yes",
    VerdictValue.NO: "no",
    VerdictValue.NO_DIFFERENCE: "no",
    VerdictValue.DEPENDS: "maybe",
    VerdictValue.CONFLICTING: "maybe",
    VerdictValue.INSUFFICIENT: "maybe",
}


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
    """What a run writes.

    Attributes:
        data_sha256: over the names and bytes of every file that the task read.
        code: over what the modules of the evaluation say (`evals.ledger.page`); "" in a report from before it was kept.
    """

    task: str
    settings: dict[str, Any]
    data_sha256: str
    seconds: float
    figures: tuple[Figure, ...]
    code: str = ""


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

    @property
    def home(self) -> Home:
        """The agent's data folder, made where it is not there."""
        from agent.sessions import Home

        return Home(self.settings.home).prepare()

    def each(self, rows: Sequence[Row], label: str) -> Iterator[Row]:
        """The rows, with a progress bar."""
        return self.tick(rows, label, len(rows))

    def has(self, *files: str) -> bool:
        """Whether all of these are in the data folder."""
        return all((self.data / file).is_file() for file in files)

    def sample(self, rows: Sequence[Row]) -> list[Row]:
        """At most ``limit`` rows, drawn by the seed, in their own order."""
        return self.sample_of(rows, self.limit)

    def sample_of(self, rows: Sequence[Row], count: int) -> list[Row]:
        """At most ``count`` rows, drawn by the seed, in their own order."""
        if len(rows) <= count:
            return list(rows)
        chosen = sorted(random.Random(self.seed).sample(range(len(rows)), count))  # noqa: S311
        return [rows[i] for i in chosen]


@dataclass(frozen=True)
class Item:
    """What is said to the agent in one session.

    Attributes:
        id: unique in a run. group: what it is counted with, for example ``exam.medqa``.
        messages: said one after the other.
        target: what is expected, in words for people.
        row: the row of the data set, for judging.
        options, given: as `Agent.ask` takes them; they go with every message.
        document: title and text of a document that lies on the user's shelf for the time of this session.
        document_types: its publication types, as PubMed names them (``Retracted Publication``).
        report: a report is asked for with every message.
    """

    id: str
    group: str
    messages: tuple[str, ...]
    target: str
    row: Any
    options: Mapping[str, str] = field(default_factory=dict)
    given: tuple[str, ...] = ()
    document: tuple[str, str] | None = None
    document_types: tuple[str, ...] = ()
    report: bool = False


class Reply(BaseModel):
    """What came back.

    Attributes:
        answers: one a message; none where a part of the product was asked.
        told: what such a part said, or what the turns' traces tell beside the answers; JSON.
        calls: the tool calls of all turns, each as JSON of name and arguments.
        found: ids of all that the tools returned or the messages gave, in order of their names.
        seconds: wall time of each turn; () where it was not kept.
    """

    model_config = ConfigDict(frozen=True)

    answers: tuple[Answer, ...] = ()
    told: dict[str, Any] = Field(default_factory=dict)
    calls: tuple[str, ...] = ()
    found: tuple[str, ...] = ()
    seconds: tuple[float, ...] = ()

    @property
    def answer(self) -> Answer:
        """The answer to the last message."""
        return self.answers[-1]


class Judged(NamedTuple):
    """A reply held against what is expected: right or not, what was said in a few words, and why."""

    right: bool
    said: str
    why: str


Told = Sequence[tuple[Item, Reply]]


def _local(settings: Settings) -> AbstractContextManager[Sittings]:
    from evals.sessions import sitting

    return sitting(settings)


@dataclass(frozen=True)
class AgentEvaluation:
    """An evaluation that asks the agent, or a part of the product.

    Attributes:
        items: what is asked; the same context gives the same items in the same order.
        judge: of one reply, for people who read a log.
        figures: of all replies, in the order of the items.
        opened: who is asked.
        at_once: several sessions may run at once.
    """

    items: Callable[[TaskContext], list[Item]]
    judge: Callable[[Item, Reply], Judged]
    figures: Callable[[TaskContext, Told], list[Figure]]
    opened: Callable[[Settings], AbstractContextManager[Sittings]] = _local
    at_once: bool = True


def ask_plainly(evaluation: AgentEvaluation, context: TaskContext) -> list[Figure]:
    """Ask everything, one session after the other, and count."""
    told: list[tuple[Item, Reply]] = []
    items = evaluation.items(context)
    with evaluation.opened(context.settings) as sittings:
        for group, members in groupby(items, key=lambda item: item.group):
            told += [(item, sittings.hold(item).reply) for item in context.each(list(members), group)]
    return evaluation.figures(context, told)


def _nothing(context: TaskContext) -> list[Figure]:
    del context
    return []


@dataclass(frozen=True)
class Task:
    """An evaluation.

    Attributes:
        name: what `anamnesis eval run` calls it.
        what: one line for people.
        inputs: patterns of the files that it reads, below the data folder; each must match.
        expected: wall time with the default limit, on two cores, warm, in words.
        limit: the default limit; keeps the run under ten minutes on two cores.
        run: does the work; left out where it asks and no more.
        home_data: the data folder when ``--data`` is not given; None where it must be given.
        by_agent: it asks the whole agent, so that a published configuration can be set for it.
        by_model: it calls the language model that the settings name, where they name one.
        asks: what it asks, so that it can be run with a log; None where it does not ask item by item.
        any_of: one of the inputs is enough; those that are missing are told as not run.
        optional: files that it reads too where they are there, so that they are hashed with the inputs.
    """

    name: str
    what: str
    inputs: tuple[str, ...]
    expected: str
    limit: int
    run: Callable[[TaskContext], list[Figure]] = _nothing
    home_data: Path | None = None
    by_agent: bool = False
    by_model: bool = False
    asks: AgentEvaluation | None = None
    any_of: bool = False
    optional: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.asks is not None and self.run is _nothing:
            object.__setattr__(self, "run", partial(ask_plainly, self.asks))


def label_of(answer: Answer) -> str | None:
    """The option that was chosen, or the verdict as exams count it: yes, no, maybe; None when there is neither."""
    if answer.verdict is not None:
        return YES_NO_MAYBE[answer.verdict.value]
    return answer.choice.label if answer.choice is not None else None


def of_group(told: Told, group: str) -> list[tuple[Any, Answer]]:
    """The rows of a group, each with its last answer."""
    return [(item.row, reply.answer) for item, reply in told if item.group == group]


def short(answer: Answer) -> str:
    """An answer in a few words: its kind, and how it begins."""
    return f"{answer.kind}: {' '.join(answer.text.split())[:SHORT] or 'nothing is said'}"
