"""`own_documents`: a user's own trials, all on the shelf of a temporary home, each asked by its question.

Half of the trials are null by their main outcome, half positive. ``null.called_yes`` is what must not happen: a null
trial told as an effect; ``positive.called_yes`` is what should. ``answered`` is a verdict of any kind, ``right`` no or
yes as the trial is (depends, where it is of some and not of others), ``ends.STAGE`` how far the sentences of a
question came, ``reached`` whether any document of the shelf was among what was found. Always yes calls all of
both so, and no verdict at all none: these baselines need no measuring.
"""

from __future__ import annotations

import json
from contextlib import AbstractContextManager
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from agent.agent import Agent
from agent.settings import Settings
from evals.contract import AgentEvaluation, Figure, Item, Judged, Reply, Task, TaskContext, Told
from evals.datasets.closed import OWN_DOCUMENTS, OwnDocument, shelf_row
from evals.datasets.rows import SHIPPED, read_jsonl
from evals.sessions import Held, Sittings
from evals.statistics import share
from evals.tasks.injection import poisoned_sitting
from evals.tasks.verdicts import DEPENDS, NO, YES, said_of, stage_figures, stage_of, with_stage
from tools.files import write_atomic
from tools.library.adding import add
from tools.library.shelf import Shelf

OWN = "own:"  # ids of what lies on the shelf
DUE = {"null": NO, "positive": YES, "mixed": DEPENDS}


class Asked(NamedTuple):
    """A trial, and the file of all that lie on the shelf."""

    document: OwnDocument
    file: Path


class ShelfSittings(Sittings):
    """Holds sessions beside a shelf with all documents of the items' file, put there before the first."""

    def __init__(self, agent: Agent, shelf: tuple[Shelf, Path] | None = None) -> None:
        super().__init__(agent, shelf)
        self._lock, self._there = Lock(), set[Path]()

    async def ahold(self, item: Item) -> Held:
        """Say an item's question; how far its sentences came is told."""
        return with_stage(await super().ahold(item))

    def _put(self, item: Item) -> None:
        file = item.row.file
        with self._lock:
            if self._shelf is None or file in self._there:
                return
            shelf, folder = self._shelf
            rows = [json.dumps(shelf_row(d), ensure_ascii=False) for d in read_jsonl(file, OwnDocument)]
            write_atomic(folder / file.name, "".join(f"{row}\n" for row in rows).encode())
            add(shelf, [folder / file.name])
            self._there.add(file)


def items(context: TaskContext) -> list[Item]:
    """The question of every trial."""
    file = context.data / OWN_DOCUMENTS
    return [
        Item(f"{d.truth}/{d.id}", "own_documents", (d.question,), DUE[d.truth], Asked(d, file))
        for d in context.sample(read_jsonl(file, OwnDocument))
    ]


def judge(item: Item, reply: Reply) -> Judged:
    """Whether the verdict is the trial's own."""
    said = said_of(reply.answer)
    return Judged(said == item.target, said or "no verdict", f"The trial's main outcome says {item.target}.")


def counted(context: TaskContext, told: Told) -> list[Figure]:
    """The figures of null and positive trials, and of all."""
    del context
    said = [(item.row.document.truth, said_of(reply.answer)) for item, reply in told]
    out: list[Figure] = []
    for truth, due in DUE.items():
        own = [one for of, one in said if of == truth]
        out += share(f"own_documents.{truth}.called_yes", [one == YES for one in own])
        out += share(f"own_documents.{truth}.right", [one == due for one in own])
        out += share(f"own_documents.{truth}.answered", [one is not None for one in own])
        ended = [stage_of(item, reply) for item, reply in told if item.row.document.truth == truth]
        out += stage_figures(f"own_documents.{truth}", ended)
    out += share("own_documents.all.answered", [one is not None for _, one in said])
    return out + share("own_documents.all.reached", [any(i.startswith(OWN) for i in r.found) for _, r in told])


def opened(settings: Settings) -> AbstractContextManager[Sittings]:
    """The agent over a temporary home whose shelf is filled with the first question."""
    return poisoned_sitting(settings, ShelfSittings)


TASK = Task(
    name="own_documents",
    what="a user's own trials on the shelf: null ones called yes, positive ones called yes",
    inputs=(OWN_DOCUMENTS,),
    expected="5 minutes",
    limit=120,
    home_data=SHIPPED,
    by_agent=True,
    asks=AgentEvaluation(items, judge, counted, opened),
)
