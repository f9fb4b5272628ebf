"""Evaluations that ask the agent: what is said to it, what came back, and how that is judged and counted.

One description serves two ways of running: plainly (`ask_plainly`), and as an Inspect task with a log
(`evals.inspect`). Both give the same figures, because both count replies by the same functions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import BaseModel, ConfigDict

from evals.contract import Figure, TaskContext
from graphs.answering.contract import Answer
from graphs.verdicts.contract import VerdictValue

if TYPE_CHECKING:
    from agent.settings import Settings
    from evals.sittings import Sittings


YES_NO_MAYBE = {
    VerdictValue.YES: "yes",
    VerdictValue.NO: "no",
    VerdictValue.NO_DIFFERENCE: "no",
    VerdictValue.DEPENDS: "maybe",
    VerdictValue.CONFLICTING: "maybe",
    VerdictValue.INSUFFICIENT: "maybe",
}


def label_of(answer: Answer) -> str | None:
    """The option that was chosen, or the verdict as exams count it: yes, no, maybe; None when there is neither."""
    if answer.verdict is not None:
        return YES_NO_MAYBE[answer.verdict.value]
    return answer.choice.label if answer.choice is not None else None


@dataclass(frozen=True)
class Item:
    """What is said to the agent in one session.

    Attributes:
        id: unique in a run. group: what it is counted with, for example ``exam.medqa``.
        messages: said one after the other.
        target: what is expected, in words for people.
        options, given: as `Agent.ask` takes them; they go with every message.
        document: title and text of a document that lies on the user's shelf for the time of this session.
        document_types: its publication types, as PubMed names them (``Retracted Publication``).
        report: a report is asked for with every message.
        row: the row of the data set, for judging.
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
        answers: one a message.
        calls: the tool calls of all turns, each as JSON of name and arguments.
        found: ids of all that the tools returned or the messages gave, in order of their names.
        seconds: wall time of each turn; () where it was not kept.
    """

    model_config = ConfigDict(frozen=True)

    answers: tuple[Answer, ...]
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


SHORT = 120  # ours: characters of an answer in a list of samples
Told = Sequence[tuple[Item, Reply]]


def _local(settings: Settings) -> AbstractContextManager[Sittings]:
    from evals.sittings import sitting

    return sitting(settings)


@dataclass(frozen=True)
class AgentEvaluation:
    """An evaluation that asks the agent.

    Attributes:
        items: what is asked; the same context gives the same items in the same order.
        judge: of one reply, for people who read a log.
        figures: of all replies, in the order of the items.
        opened: the agent that is asked.
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
            of_group = list(members)
            told += [(item, sittings.hold(item).reply) for item in context.tick(of_group, group, len(of_group))]
    return evaluation.figures(context, told)


def of_group(told: Told, group: str) -> list[tuple[Any, Answer]]:
    """The rows of a group, each with its last answer."""
    return [(item.row, reply.answer) for item, reply in told if item.group == group]


def short(answer: Answer) -> str:
    """An answer in a few words: its kind, and how it begins."""
    begins = " ".join(answer.text.split())[:SHORT]
    return f"{answer.kind}: {begins}" if begins else f"{answer.kind}: nothing is said"
