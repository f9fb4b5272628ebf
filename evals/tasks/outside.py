"""`outside`: does an answer say where its knowledge ends? Cases of diseases that the graph lacks, or holds.

``told`` is the share of outside cases that were headed "no disease that I know explains these findings well",
``said_wrongly`` the same of inside cases; ``direct`` is the share that was answered without research. ``curve`` trades
one against the other: the share of outside cases that would be told if 2, 5 or 10 % of the inside cases were told
wrongly, over all sources of a side together. What the score was fitted on has no part in any figure
(`evals.outside_cases`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evals.asked import AgentEvaluation, Item, Judged, Reply, Told, ask_plainly
from evals.contract import Figure, Task, TaskContext
from evals.outside_cases import INPUTS, OPTIONAL, judged_cases
from evals.statistics import share
from graphs.answering.contract import Answer
from graphs.completeness.contract import Decision
from tools.icd10 import load_icd10
from tools.knowledge_graph.loader import read_graph
from tools.knowledge_graph.names import DiagnosisNames

SIDES = ("outside", "inside")
FALSE = (2, 5, 10)  # asked: percent of inside cases told wrongly at which the curve is told


def items(context: TaskContext) -> list[Item]:
    """Every case, first those whose disease the graph lacks."""
    from agent.sessions import Home

    table = load_icd10(Home(context.settings.home).prepare().indexes / "icd10.json")
    cases = judged_cases(context, DiagnosisNames(read_graph(), table))
    ordered = sorted(cases, key=lambda c: (c.inside, c.source))
    return [Item(f"{c.source}/{c.id}", c.source, (c.text,), c.disease or "outside", c) for c in ordered]


def judge(item: Item, reply: Reply) -> Judged:
    """Whether the edge is told where the disease lies beyond it, and only there."""
    answer = reply.answer
    first = answer.differential[0].name if answer.differential else "nothing"
    said = f"{'outside' if answer.outside else 'inside'}, {first} first{', direct' if _direct(answer) else ''}"
    return Judged(answer.outside != item.row.inside, said, f"The disease is {item.target}.")


def counted(context: TaskContext, told: Told) -> list[Figure]:
    """The figures of each source and of each side, then the curve."""
    del context
    out: list[Figure] = []
    for side in SIDES:
        rows = [(item, reply.answer) for item, reply in told if item.row.inside == (side == "inside")]
        named = "said_wrongly" if side == "inside" else "told"
        for source in ("all", *dict.fromkeys(item.group for item, _ in rows)):
            answers = [a for item, a in rows if source in ("all", item.group)]
            out += share(f"{side}.{source}.direct", [_direct(a) for a in answers])
            out += share(f"{side}.{source}.{named}", [a.outside for a in answers])
    return out + _curve(told)


def run(context: TaskContext) -> list[Figure]:
    """Ask every case and count."""
    return ask_plainly(ASKS, context)


def _direct(answer: Answer) -> bool:
    return answer.gate is not None and answer.gate.decision is Decision.DIRECT


def _curve(told: Told) -> list[Figure]:
    """The share of outside cases that is told where so many of the inside ones are told wrongly."""
    scores: dict[bool, list[float]] = {True: [], False: []}
    for item, reply in told:
        gate = reply.answer.gate
        scores[item.row.inside].append(1 - gate.parts.get("explained", 1.0) if gate is not None else 0.0)
    if not scores[True]:
        return []
    return [f for at in FALSE for f in share(f"outside.curve.told@{at}", _above(scores[False], scores[True], at))]


def _above(outside: Sequence[float], inside: Sequence[float], percent: float) -> list[bool]:
    """Which outside scores lie above the least threshold that at most this share of the inside ones is above."""
    most = int(len(inside) * percent / 100)
    threshold = float(np.sort(inside)[::-1][most])
    return [score > threshold for score in outside]


ASKS = AgentEvaluation(items=items, judge=judge, figures=counted)

TASK = Task(
    name="outside",
    what="where the graph's knowledge ends: cases of diseases that it lacks, and of diseases that it holds",
    inputs=INPUTS,
    optional=OPTIONAL,
    expected="6 minutes",
    limit=100,
    run=run,
    by_agent=True,
    asks=ASKS,
)
