"""`levels`: DDXPlus patients through the whole agent; accuracy at MedRAG's L1, L2 and L3, with the graph and without.

It is run once an arm: ``--config medrag-kg`` answers with the graph, ``--config medrag-kg:without-graph`` with
documents in its place, which needs a language model (``--log DIR --by-model``). The diagnosis is the first disease of
the differential; with a model it is the first disease of the graph that the model's statements name, so that both arms
are read in the same way. Levels are those of the starter graph, whose diseases every condition is one of:
``l1``, ``l2`` and ``l3`` of the right disease, over ``text`` and over ``text_clean``, the rows whose text does not name
the diagnosis. ``named`` is the share of answers that name any disease. `differential` ranks the same rows by several
graphs without the agent, the released graph among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from agent.knowledge_graph import STARTER_GRAPH
from evals.contract import AgentEvaluation, Figure, Item, Judged, Reply, Task, TaskContext, Told, short
from evals.datasets.ddxplus import CODES, TEXTS, read_conditions, validate_texts
from evals.statistics import share
from graphs.answering.contract import Answer
from tools.knowledge_graph.loader import read_graph
from tools.knowledge_graph.names import Names
from tools.knowledge_graph.schema import Graph

WITHOUT = "medrag-kg:without-graph"


class Diagnosed(NamedTuple):
    """The right disease, the one that was named ("" for none), and whether the text names the right one."""

    right: str
    named: str
    names_gold: bool


def items(context: TaskContext) -> list[Item]:
    """At most ``limit`` patients of the validate split."""
    conditions = read_conditions()
    rows = context.sample(validate_texts(context.data))
    return [Item(f"text/{row.id}", "text", (row.text,), conditions[row.pathology], row) for row in rows]


def judge(item: Item, reply: Reply) -> Judged:
    """Whether the right disease is first in the differential, or is named in what is said where there is none."""
    ranked = [d.disease for d in reply.answer.differential]
    right = ranked[:1] == [item.target] if ranked else item.target.replace("-", " ") in reply.answer.text.casefold()
    return Judged(right, ", ".join(ranked[:3]) or short(reply.answer), f"{item.target} is right.")


def counted(context: TaskContext, told: Told) -> list[Figure]:
    """Accuracy at every level."""
    graph = read_graph(STARTER_GRAPH)
    by_model, names = context.settings.language_model is not None, Names(graph)
    if not by_model:
        context.not_run[WITHOUT] = "without the graph only a language model names a disease"
    found = [
        Diagnosed(i.target, disease_of(r.answer, names, by_model=by_model), i.row.names_gold) for i, r in told
    ]  # fmt: skip
    return figures_of(found, graph)


def disease_of(answer: Answer, names: Names, *, by_model: bool) -> str:
    """The id of the disease that an answer names first; "" for none of the graph."""
    if by_model:
        return next(iter(names.diseases_in(answer.text)), "")
    return answer.differential[0].disease if answer.differential else ""


def figures_of(found: Sequence[Diagnosed], graph: Graph) -> list[Figure]:
    """Accuracy at L1, L2 and L3 over all rows, and over those that do not name the diagnosis."""

    def path(disease: str) -> tuple[str, ...]:  # L1, L2 and L3; () where the graph has none of this id
        node = graph.disease.get(disease)
        return (graph.l2[node.l2].l1, node.l2, node.id) if node is not None else ()

    out: list[Figure] = []
    for setting, rows in (("text", list(found)), ("text_clean", [d for d in found if not d.names_gold])):
        paths = [(path(d.named), path(d.right)) for d in rows]
        for at, level in enumerate(("l1", "l2", "l3")):
            out += share(f"levels.{setting}.{level}", [ours[at : at + 1] == gold[at : at + 1] for ours, gold in paths])
        out += share(f"levels.{setting}.named", [bool(ours) for ours, _ in paths])
    return out


TASK = Task(
    name="levels",
    what="DDXPlus patients through the agent: accuracy at MedRAG's L1, L2 and L3, with the graph and without",
    inputs=(TEXTS, CODES),
    expected="3 minutes",
    limit=200,
    by_agent=True,
    asks=AgentEvaluation(items, judge, counted),
)
