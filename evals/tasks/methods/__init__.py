"""`methods`: for each published configuration, checks that its method's core acts, over a mirror of PubMed records.

A figure is the share of rows of which a check holds; the checks are lists beside this file, a file a method. A row that
says nothing of a check (a spelling that needs no correction) is not counted. These are no figures of quality: they tell
that what a paper adds is at work under its name, and that its arms differ where the paper's do.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import groupby
from pathlib import Path

from agent.settings import Settings
from evals.contract import AgentEvaluation, Figure, Item, Judged, Reply, Task, TaskContext, Told
from evals.datasets import literature as data
from evals.datasets.bioasq import SNIPPETS
from evals.datasets.ddxplus import CODES, TEXTS
from evals.runner import data_sha256
from evals.sessions import PartSittings, Sittings
from evals.statistics import share
from evals.tasks.depth import FULLTEXT, read_articles
from evals.tasks.literature import build_once, mirror_record
from evals.tasks.methods import cometa, ica_rag, medrgag, qb_rag
from evals.tasks.methods.check import Asked, Bench, Check, Places
from tools.mirror.load import load_records
from tools.reading.corpus import BIOASQ

CHECKS: tuple[Check, ...] = (*cometa.CHECKS, *medrgag.CHECKS, *ica_rag.CHECKS, *qb_rag.CHECKS)


def mirror_of(context: TaskContext) -> Path:
    """A mirror of `literature`'s records, built the first time; what has a full text has its publication types."""
    digest = data_sha256(context.data, TASK.inputs)[:16]
    folder = context.home.cache / "evaluations" / f"methods-{digest}"

    def build() -> None:
        types = {a.pmid: a.record.publication_types for a in read_articles(context.data / FULLTEXT)}
        rows = (
            mirror_record(d.model_copy(update={"publication_types": types.get(d.pmid) or d.publication_types}))
            for d in context.each(data.read_collection(context.data), "mirror")
        )
        load_records(folder / "mirror", rows, source="methods evaluation")

    build_once(folder, build)
    return folder / "mirror"


def items(context: TaskContext) -> list[Item]:
    """The rows of every check, check by check."""
    places = Places(context.data, mirror_of(context), context.data / FULLTEXT)
    return [
        Item(f"{check.name}/{row.id}", check.name, (row.text,), check.what, Asked(check, row, places))
        for check in CHECKS
        for row in context.sample_of(check.rows(places), min(check.most, context.limit))
    ]


@contextmanager
def opened(settings: Settings) -> Iterator[Sittings]:
    """Agents of the configurations."""
    with closing(Bench(settings)) as bench:
        yield PartSittings(bench.give)


def judge(item: Item, reply: Reply) -> Judged:
    """Whether what the check looks for is there."""
    holds = reply.told["holds"]
    said = {True: "holds", False: "does not hold", None: "not counted"}[holds]
    return Judged(holds is not False, said, f"{item.target}: {reply.told['why']}")


def counted(context: TaskContext, told: Told) -> list[Figure]:
    """The share of rows of which each check holds; one without rows is told as not run."""
    out: list[Figure] = []
    for name, members in groupby(told, key=lambda one: one[0].group):
        held = [reply.told["holds"] for _, reply in members if reply.told["holds"] is not None]
        out += share(f"methods.{name}", held)
        if not held:
            context.not_run[name] = "none of the rows that were drawn says anything of it"
    return out


TASK = Task(
    name="methods",
    what="each published configuration over a mirror: its method's core acts, and its arms differ",
    inputs=(data.ABSTRACTS, SNIPPETS, BIOASQ, TEXTS, CODES, f"{FULLTEXT}/*"),
    expected="8 minutes",
    limit=100,
    asks=AgentEvaluation(items, judge, counted, opened, at_once=False),
)
