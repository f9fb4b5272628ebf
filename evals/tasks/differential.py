"""`differential`: the starter graph on DDXPlus patients, told as texts.

Rows: the release's validate split. Settings: ``starter`` ranks over the 49 conditions of DDXPlus only, as published
methods do; ``starter_all`` over every disease of the graph; ``text_clean`` leaves out the rows whose text names the
gold diagnosis, ``text_named`` keeps only those. MRR counts 0 where the disease is not ranked. L2 is the category of the
first disease in our own taxonomy, so it stands beside no paper's.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evals.contract import Figure, Task, TaskContext
from evals.datasets.ddxplus import CODES, TEXTS, TextPatient, read_conditions, validate_texts
from evals.statistics import mean, share
from prompts.errors import DataError

if TYPE_CHECKING:
    from tools.knowledge_graph.lookup import KnowledgeGraph
    from tools.knowledge_graph.schema import Graph

WHAT = "rank of the right disease for DDXPlus patients, by the starter graph"
TOPS = (1, 3, 5)  # ours: with the published top 1 and top 3
TIMED = 20  # ours: look-ups timed with nothing cached, the first of them left out


@dataclass(frozen=True)
class Ranked:
    """A patient's right disease and category, and what was ranked: (disease, category), best first."""

    disease: str
    l2: str
    ranking: tuple[tuple[str, str], ...]
    names_gold: bool


def run(context: TaskContext) -> list[Figure]:
    """Look every patient up and count."""
    from agent.assembly import STARTER_GRAPH
    from agent.sessions import Home
    from evals.agent_runs import evaluation_encoders
    from tools.knowledge_graph.lookup import KnowledgeGraph

    conditions = read_conditions()
    rows = context.sample(validate_texts(context.data))
    home = Home(context.settings.home).prepare()
    plain, cached = evaluation_encoders(context.settings, home)
    graph = KnowledgeGraph(cached, home.indexes, STARTER_GRAPH)
    _check(conditions, rows, graph.graph)
    ranked = [_ranked(row, conditions[row.pathology], graph) for row in context.tick(rows, "look-ups", len(rows))]
    figures = figures_of(ranked, frozenset(conditions.values()), context.seed)
    seconds = _timed(KnowledgeGraph(plain, home.indexes, STARTER_GRAPH), rows[: TIMED + 1])
    cached.close()
    plain.close()
    return figures + mean("starter.text.ms", [1000 * s for s in seconds], context.seed)


def figures_of(ranked: Sequence[Ranked], conditions: frozenset[str], seed: int) -> list[Figure]:
    """Every figure of ranked patients but the time."""
    parts = {
        "text": list(ranked),
        "text_clean": [r for r in ranked if not r.names_gold],
        "text_named": [r for r in ranked if r.names_gold],
    }
    out: list[Figure] = []
    for setting, rows in parts.items():
        among = [_among(r, conditions) for r in rows]
        out += _metrics(f"starter.{setting}", among, seed) + _metrics(f"starter_all.{setting}", rows, seed)
    return out


def _metrics(name: str, rows: Sequence[Ranked], seed: int) -> list[Figure]:
    ranks = [_rank(r) for r in rows]
    out = [f for k in TOPS for f in share(f"{name}.l3_top{k}", [0 < rank <= k for rank in ranks])]
    out += mean(f"{name}.mrr", [1 / rank if rank else 0.0 for rank in ranks], seed)
    return out + share(f"{name}.l2", [bool(r.ranking) and r.ranking[0][1] == r.l2 for r in rows])


def _rank(row: Ranked) -> int:
    """Rank of the right disease from 1; 0 when it is not ranked."""
    return next((n for n, (disease, _) in enumerate(row.ranking, start=1) if disease == row.disease), 0)


def _among(row: Ranked, diseases: frozenset[str]) -> Ranked:
    return Ranked(row.disease, row.l2, tuple(r for r in row.ranking if r[0] in diseases), row.names_gold)


def _ranked(row: TextPatient, disease: str, graph: KnowledgeGraph) -> Ranked:
    found = graph.look_up(row.text, "en", limit=len(graph.graph.diseases), explained=0)
    ranking = tuple((r.disease, r.l2) for r in found.ranking)
    return Ranked(disease, graph.graph.disease[disease].l2, ranking, row.names_gold)


def _timed(graph: KnowledgeGraph, rows: Sequence[TextPatient]) -> list[float]:
    """Seconds of each look-up as a user has it: no query vector cached, ten diseases; the first warms up."""
    seconds = []
    for row in rows:
        started = time.perf_counter()
        graph.look_up(row.text, "en")
        seconds.append(time.perf_counter() - started)
    return seconds[1:]


def _check(conditions: dict[str, str], rows: Sequence[TextPatient], graph: Graph) -> None:
    missing = sorted({row.pathology for row in rows} - set(conditions))
    if missing:
        raise DataError(f"These are no conditions of DDXPlus: {', '.join(missing)}.", "Give the official rows.")
    unknown = sorted(set(conditions.values()) - set(graph.disease))
    if unknown:
        raise DataError(
            f"The starter graph lacks {', '.join(unknown)}.", "Mend evals/datasets/ddxplus_conditions.yaml."
        )


TASK = Task(
    name="differential",
    what=WHAT,
    inputs=(TEXTS, CODES),
    expected="1 minute; 5 the first time",
    limit=588,
    run=run,
)
