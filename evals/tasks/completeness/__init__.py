"""`completeness`: the gate and its comparators, the two arms that it chooses between, and what choosing can gain.

``ddxplus_N``: the validate rows with N percent of their statements removed; ``ddxplus_clean_N`` without the rows whose
text names the diagnosis, ``ddxplus_named_N`` these alone; ``ddxplus_among_N`` ranked over the 49 conditions of the
release alone; ``ddxplus_all`` the mean of the levels by patient; ``ddxplus_lay`` the rows in lay language.
``agentclinic``: the OSCE-like cases; ``agentclinic_reachable`` those whose diagnosis the graph has, which alone can be
right. ``leave_one_out_N``: the train rows, each without its own record; the ranking's constants were chosen there.
``direct`` and ``retrieve`` are the shares of cases with the right disease first, ``retrieve_over_direct`` the paired
difference in points, ``added_ms`` what the records add to a look-up (processor time, so that a busy machine counts
nothing). The gates' names are told in `gates`, those of labels in `labels`, of ICA-RAG's table II in `ablations`.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from evals.contract import Figure, Task, TaskContext
from evals.datasets.clinical import CASES
from evals.datasets.ddxplus import CODES, LEVELS, TEXTS
from evals.sessions import encoders
from evals.statistics import mean, paired_difference, points, share
from evals.tasks.completeness.ablations import ablation_figures
from evals.tasks.completeness.cases import SOURCES, ArmCase, ArmOutcome, ArmRow, Arms, completeness_pool, conditions
from evals.tasks.completeness.gates import gate_figures, gate_time, part_figures
from evals.tasks.completeness.labels import label_figures
from tools.encoders import Encoder
from tools.knowledge_graph.lookup import KnowledgeGraph
from tools.knowledge_graph.ranking import TEMPER
from tools.knowledge_graph.record_ranking import RecordCollection

TIMED = 20  # ours: look-ups timed in each arm, after one that warms up


def run(context: TaskContext) -> list[Figure]:
    """Run both arms on every case and compare them."""
    home = context.home
    with encoders(context.settings, home) as (plain, cached):
        kept = Arms(context.data, home.indexes, cached, home.cache / "evaluations")
        with contextlib.closing(kept) as arms:
            pool = completeness_pool(context, arms)
            rows = {name: [pool.rows[i] for i in pool.of(name)] for name in SOURCES}
            out = arm_figures(rows["ddxplus"], context.seed)
            out += compared("ddxplus_lay", rows["ddxplus_lay"], context.seed)
            out += compared("agentclinic", rows["agentclinic"], context.seed)
            out += compared("agentclinic_reachable", [r for r in rows["agentclinic"] if r.case.right], context.seed)
            out += left_out(context, arms.graph, [r.case for r in rows["train"]])
            out += added_time(context, [r.case for r in rows["ddxplus"]], plain, arms)
            out += gate_figures(context, pool, cached)
            out += part_figures(context, pool)
            out += gate_time(context, pool, arms.graph)
            out += label_figures(context, rows["ddxplus"], arms.graph, cached)
            return out + ablation_figures(context, arms.graph.graph)


def arm_figures(rows: Sequence[ArmRow], seed: int) -> list[Figure]:
    """The figures of DDXPlus by level, with and without the rows that name the diagnosis, and over all levels."""
    among = conditions()

    def only(row: ArmRow) -> ArmRow:
        def kept(outcome: ArmOutcome) -> ArmOutcome:
            return outcome.model_copy(update={"ranking": tuple(r for r in outcome.ranking if r[0] in among)})

        return replace(row, direct=kept(row.direct), retrieve=kept(row.retrieve))

    out: list[Figure] = []
    for level in LEVELS:
        at = [r for r in rows if r.case.level == level]
        out += compared(f"ddxplus_{level}", at, seed)
        out += compared(f"ddxplus_clean_{level}", [r for r in at if not r.case.names_gold], seed)
        out += compared(f"ddxplus_named_{level}", [r for r in at if r.case.names_gold], seed)
        out += compared(f"ddxplus_among_{level}", [only(r) for r in at], seed)
    # A patient is one row, the mean over his levels, so that the interval does not count him four times.
    patients = list(dict.fromkeys(r.case.id for r in rows))
    right = {p: [[r.direct_right, r.retrieve_right] for r in rows if r.case.id == p] for p in patients}
    direct, retrieve = (100 * np.array([np.mean(right[p], axis=0) for p in patients]).reshape(-1, 2)).T.tolist()
    return [
        *out,
        *mean("arms.ddxplus_all.direct", direct, seed),
        *mean("arms.ddxplus_all.retrieve", retrieve, seed),
        *paired_difference("arms.ddxplus_all.retrieve_over_direct", retrieve, direct, seed),
    ]


def compared(setting: str, rows: Sequence[ArmRow], seed: int) -> list[Figure]:
    """Right disease first in each arm, and the paired difference in points; nothing for no rows."""
    direct, retrieve = [r.direct_right for r in rows], [r.retrieve_right for r in rows]
    return [
        *share(f"arms.{setting}.direct", direct),
        *share(f"arms.{setting}.retrieve", retrieve),
        *points(f"arms.{setting}.retrieve_over_direct", retrieve, direct, seed),
    ]


def left_out(context: TaskContext, graph: KnowledgeGraph, cases: Sequence[ArmCase]) -> list[Figure]:
    """The train rows, each looked up with all records but its own."""
    ranking = graph.record_ranking()
    if ranking is None:
        return []
    position = {name: n for n, name in enumerate(dict.fromkeys(c.id for c in cases))}
    right: dict[int, list[list[bool]]] = {level: [] for level in LEVELS}
    for case in context.each(cases, "one left out"):
        read = graph.read(case.text)
        own = np.log(graph.shares(read.standing)) / TEMPER
        weighed = ranking.weigh(own, read.told, read.matches, without=position[case.id])
        both = own if weighed is None else weighed.log_scores
        right[case.level].append([ranking.ids[int(scores.argmax())] in case.right for scores in (own, both)])
    out: list[Figure] = []
    for level, rows in right.items():
        for at, arm in enumerate(("direct", "retrieve")):
            out += share(f"arms.leave_one_out_{level}.{arm}", [row[at] for row in rows])
    return out


def added_time(context: TaskContext, cases: Sequence[ArmCase], encoder: Encoder, arms: Arms) -> list[Figure]:
    """Milliseconds that records add to a look-up: two graphs, neither of which has read the case before.

    Before the timing, the records are read: the agent does that once a process.
    """
    indexes = context.home.indexes
    collection = RecordCollection(arms.records, encoder)
    direct = KnowledgeGraph(encoder, indexes)
    retrieve = KnowledgeGraph(encoder, indexes, records=collection, table=arms.table)
    chosen = context.sample_of([c for c in cases if c.level == 0], TIMED + 1)
    retrieve.record_ranking()

    def timed(look: Callable[[str], object]) -> list[float]:
        took = []
        for case in chosen:
            started = time.process_time()
            look(case.text)
            took.append(1000 * (time.process_time() - started))
        return took[1:]

    plain = timed(lambda text: direct.look_up(text, "en"))
    learnt = timed(lambda text: retrieve.look_up(text, "en", learn=True))
    out = mean("arms.direct.ms", plain, context.seed)
    return out + paired_difference("arms.retrieve.added_ms", learnt, plain, context.seed)


TASK = Task(
    name="completeness",
    what="the gate and its comparators on cases with information removed, and its two arms: direct and retrieve",
    inputs=(TEXTS, CODES, CASES),
    expected="15 minutes; 30 the first time",
    limit=588,
    run=run,
)
