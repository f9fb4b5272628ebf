"""`completeness`: the gate and its comparators, the two arms that it chooses between, and what choosing can gain.

``ddxplus_N``: the validate rows with N percent of their statements removed; ``ddxplus_clean_N`` without the rows whose
text names the diagnosis, ``ddxplus_named_N`` these alone; ``ddxplus_among_N`` ranked over the 49 conditions of the
release alone; ``ddxplus_all`` the mean of the levels by patient; ``ddxplus_lay`` the rows in lay language.
``agentclinic``: the OSCE-like cases; ``agentclinic_reachable`` those whose diagnosis the graph has, which alone can be
right. ``leave_one_out_N``: the train rows, each without its own record; the ranking's constants were chosen there.
``direct`` and ``retrieve`` are the shares of cases with the right disease first, ``retrieve_over_direct`` the paired
difference in points, ``added_ms`` what the records add to a look-up (processor time, so that a busy machine counts
nothing). The gates' names are told in `evals.completeness_comparison`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from evals.completeness_ablations import ablation_figures
from evals.completeness_arms import ArmOutcome, ArmRow, Arms, arm_rows
from evals.completeness_cases import (
    ArmCase,
    clinic_cases,
    conditions,
    ddxplus_cases,
    lay_cases,
    train_cases,
    written_cases,
)
from evals.completeness_comparison import gate_figures, gate_time, part_figures
from evals.completeness_labels import label_figures
from evals.completeness_pool import SOURCES, Pool, pool_of
from evals.contract import Figure, Task, TaskContext
from evals.datasets.clinical import CASES
from evals.datasets.ddxplus import CODES, LEVELS, TEXTS
from evals.statistics import mean, paired_difference, share
from tools.encoders import Encoder
from tools.icd10 import ICD10, load_icd10
from tools.knowledge_graph.lookup import KnowledgeGraph
from tools.knowledge_graph.ranking import TEMPER

WHAT = "the gate and its comparators on cases with information removed, and its two arms: direct and retrieve"
TIMED = 20  # ours: look-ups timed in each arm, after one that warms up


def run(context: TaskContext) -> list[Figure]:
    """Run both arms on every case and compare them."""
    from agent.sessions import Home
    from evals.agent_runs import evaluation_encoders

    home = Home(context.settings.home).prepare()
    plain, cached = evaluation_encoders(context.settings, home)
    arms = Arms(context.data, home.indexes, cached, home.cache / "evaluations")
    pool = completeness_pool(context, arms, load_icd10(home.indexes / "icd10.json"))
    rows = {name: [pool.rows[i] for i in pool.of(name)] for name in SOURCES}
    out = arm_figures(rows["ddxplus"], context.seed)
    out += compared("ddxplus_lay", rows["ddxplus_lay"], context.seed)
    out += compared("agentclinic", rows["agentclinic"], context.seed)
    out += compared("agentclinic_reachable", [r for r in rows["agentclinic"] if r.case.right], context.seed)
    out += left_out(context, arms.graph, [r.case for r in rows["train"]])
    out += added_time(context, [r.case for r in rows["ddxplus"]], plain, home.indexes, arms)
    out += gate_figures(context, pool, cached)
    out += part_figures(context, pool)
    out += gate_time(context, pool, arms.graph)
    out += label_figures(context, rows["ddxplus"], arms.graph, cached)
    out += ablation_figures(context, arms.graph.graph)
    arms.close()
    cached.close()
    plain.close()
    return out


def completeness_pool(context: TaskContext, arms: Arms, table: ICD10) -> Pool:
    """Every row of the gates: those that are measured, and the train rows and written cases that only fit."""
    cases = {
        "ddxplus": ddxplus_cases(context),
        "ddxplus_lay": lay_cases(context),
        "agentclinic": clinic_cases(context, arms.graph.graph, table),
        "train": train_cases(context),
        "written": written_cases(context),
    }
    return pool_of({name: list(arm_rows(context, arms, found, name)) for name, found in cases.items()})


def arm_figures(rows: Sequence[ArmRow], seed: int) -> list[Figure]:
    """The figures of DDXPlus by level, with and without the rows that name the diagnosis, and over all levels."""
    among = conditions()
    out: list[Figure] = []
    for level in LEVELS:
        at = [r for r in rows if r.case.level == level]
        out += compared(f"ddxplus_{level}", at, seed)
        out += compared(f"ddxplus_clean_{level}", [r for r in at if not r.case.names_gold], seed)
        out += compared(f"ddxplus_named_{level}", [r for r in at if r.case.names_gold], seed)
        out += compared(f"ddxplus_among_{level}", [_only(r, among) for r in at], seed)
    return out + _by_patient(rows, seed)


def compared(setting: str, rows: Sequence[ArmRow], seed: int) -> list[Figure]:
    """Right disease first in each arm, and the paired difference in points; nothing for no rows."""
    direct, retrieve = [r.direct_right for r in rows], [r.retrieve_right for r in rows]
    return [
        *share(f"arms.{setting}.direct", direct),
        *share(f"arms.{setting}.retrieve", retrieve),
        *paired_difference(
            f"arms.{setting}.retrieve_over_direct", [100.0 * r for r in retrieve], [100.0 * d for d in direct], seed
        ),
    ]


def _by_patient(rows: Sequence[ArmRow], seed: int) -> list[Figure]:
    """Means over the levels: a patient is one row, so that the interval does not count him four times."""
    patients = list(dict.fromkeys(r.case.id for r in rows))
    right = {p: [[r.direct_right, r.retrieve_right] for r in rows if r.case.id == p] for p in patients}
    direct, retrieve = (100 * np.array([np.mean(right[p], axis=0) for p in patients]).reshape(-1, 2)).T.tolist()
    return [
        *mean("arms.ddxplus_all.direct", direct, seed),
        *mean("arms.ddxplus_all.retrieve", retrieve, seed),
        *paired_difference("arms.ddxplus_all.retrieve_over_direct", retrieve, direct, seed),
    ]


def _only(row: ArmRow, diseases: frozenset[str]) -> ArmRow:
    def kept(outcome: ArmOutcome) -> ArmOutcome:
        return outcome.model_copy(update={"ranking": tuple(r for r in outcome.ranking if r[0] in diseases)})

    return replace(row, direct=kept(row.direct), retrieve=kept(row.retrieve))


def left_out(context: TaskContext, graph: KnowledgeGraph, cases: Sequence[ArmCase]) -> list[Figure]:
    """The train rows, each looked up with all records but its own."""
    ranking = graph.record_ranking()
    if ranking is None:
        return []
    position = {name: n for n, name in enumerate(dict.fromkeys(c.id for c in cases))}
    right: dict[int, list[tuple[bool, bool]]] = {level: [] for level in LEVELS}
    for case in context.tick(cases, "one left out", len(cases)):
        read = graph.read(case.text)
        own = np.log(graph.shares(read.standing)) / TEMPER
        weighed = ranking.weigh(own, read.told, read.matches, without=position[case.id])
        both = own if weighed is None else weighed.log_scores
        firsts = [ranking.ids[int(scores.argmax())] in case.right for scores in (own, both)]
        right[case.level].append((firsts[0], firsts[1]))
    out: list[Figure] = []
    for level, rows in right.items():
        out += share(f"arms.leave_one_out_{level}.direct", [d for d, _ in rows])
        out += share(f"arms.leave_one_out_{level}.retrieve", [r for _, r in rows])
    return out


def added_time(
    context: TaskContext, cases: Sequence[ArmCase], encoder: Encoder, indexes: Path, arms: Arms
) -> list[Figure]:
    """Milliseconds that records add to a look-up: two graphs, neither of which has read the case before.

    Before the timing, the records are read: the agent does that once a process.
    """
    collection = arms.collection(encoder)
    direct = KnowledgeGraph(encoder, indexes)
    retrieve = KnowledgeGraph(encoder, indexes, records=collection, table=load_icd10(indexes / "icd10.json"))
    chosen = context.sample_of([c for c in cases if c.level == 0], TIMED + 1)
    retrieve.record_ranking()
    took = [_seconds(lambda c: direct.look_up(c.text, "en"), chosen)]
    took.append(_seconds(lambda c: retrieve.look_up(c.text, "en", learn=True), chosen))
    return [
        *mean("arms.direct.ms", [1000 * s for s in took[0]], context.seed),
        *paired_difference(
            "arms.retrieve.added_ms", [1000 * s for s in took[1]], [1000 * s for s in took[0]], context.seed
        ),
    ]


def _seconds(look: Callable[[ArmCase], object], cases: Iterable[ArmCase]) -> list[float]:
    out = []
    for case in cases:
        started = time.process_time()
        look(case)
        out.append(time.process_time() - started)
    return out[1:]


TASK = Task(
    name="completeness",
    what=WHAT,
    inputs=(TEXTS, CODES, CASES),
    expected="15 minutes; 30 the first time",
    limit=588,
    run=run,
)
