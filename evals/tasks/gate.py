"""`gate`: the completeness gate in the whole agent, on written Chinese cases, complete and with most left out.

``direct`` is the share that was answered without research, ``warned`` that with the warning that too little was told,
``top1`` that with the right disease first, ``wrong_enough`` the share of direct answers whose first disease is wrong.
``complete_over_sparse.direct`` is the paired difference in points: the gate is of use where it is above 0.
`completeness` measures the gate by itself and both arms on every case; here it is what a user meets.
"""

from __future__ import annotations

from pathlib import Path

from evals.contract import AgentEvaluation, Figure, Item, Judged, Reply, Task, TaskContext, Told
from evals.datasets.cases import FIRST, SECOND, read_chinese
from evals.statistics import points, share
from graphs.completeness.contract import Decision

ARMS = ("complete", "sparse")
SETS = (FIRST.name, SECOND.name)


def items(context: TaskContext) -> list[Item]:
    """At most ``limit`` cases of each set, first all complete, then all sparse."""
    cases = [case for name in SETS for case in context.sample(read_chinese(context.data / name))]
    return [
        Item(f"{arm}/{case.id}", arm, (case.text if arm == "complete" else case.sparse,), case.disease, case)
        for arm in ARMS
        for case in cases
    ]


def judge(item: Item, reply: Reply) -> Judged:
    """Whether the right disease is first; the gate's reason beside it."""
    ranked, gate = [d.disease for d in reply.answer.differential[:1]], reply.answer.gate
    said = "no gate was asked" if gate is None else f"{gate.decision.value}: {gate.reason}"
    why = f"{item.target} is right. Gate: {said}"
    return Judged(ranked == [item.row.disease], ranked[0] if ranked else "nothing", why)


def counted(context: TaskContext, told: Told) -> list[Figure]:
    """The figures of both arms, and the difference between them."""
    out: list[Figure] = []
    direct: dict[str, list[bool]] = {}
    for arm in ARMS:
        rows = [(r.answer.gate and r.answer.gate.decision, judge(i, r).right) for i, r in told if i.group == arm]
        direct[arm] = [decision is Decision.DIRECT for decision, _ in rows]
        out += share(f"gate.{arm}.direct", direct[arm])
        out += share(f"gate.{arm}.warned", [d is Decision.RETRIEVE_WITH_WARNING for d, _ in rows])
        out += share(f"gate.{arm}.top1", [right for _, right in rows])
        out += share(f"gate.{arm}.wrong_enough", [not right for d, right in rows if d is Decision.DIRECT])
    return out + points("gate.complete_over_sparse.direct", direct["complete"], direct["sparse"], context.seed)


TASK = Task(
    name="gate",
    what="the completeness gate in the agent, on written Chinese cases, complete and sparse",
    inputs=SETS,
    expected="2 minutes; 4 the first time",
    limit=100,
    by_agent=True,
    home_data=Path(FIRST).parent,
    asks=AgentEvaluation(items, judge, counted),
)
