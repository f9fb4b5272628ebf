"""`gate`: the completeness gate in the whole agent, on written Chinese cases, complete and with most left out.

``direct`` is the share that was answered without research, ``warned`` that with the warning that too little was told,
``top1`` that with the right disease first, ``wrong_enough`` the share of direct answers whose first disease is wrong.
``complete_over_sparse.direct`` is the paired difference in points: the gate is of use where it is above 0.
`completeness` measures the gate by itself and both arms on every case; here it is what a user meets.
"""

from __future__ import annotations

from pathlib import Path

from evals.asked import AgentEvaluation, Item, Judged, Reply, Told, ask_plainly
from evals.contract import Figure, Task, TaskContext
from evals.datasets.cases import FIRST, SECOND, ChineseCase, read_chinese
from evals.statistics import paired_difference, share
from graphs.completeness.contract import Decision

ARMS = ("complete", "sparse")
SETS = (FIRST.name, SECOND.name)


def items(context: TaskContext) -> list[Item]:
    """At most ``limit`` cases of each set, first all complete, then all sparse."""
    cases = [case for name in SETS for case in context.sample(read_chinese(context.data / name))]
    return [_item(arm, case) for arm in ARMS for case in cases]


def judge(item: Item, reply: Reply) -> Judged:
    """Whether the right disease is first; the gate's reason beside it."""
    answer = reply.answer
    first = answer.differential[0].disease if answer.differential else "nothing"
    gate = answer.gate
    said = "no gate was asked" if gate is None else f"{gate.decision.value}: {gate.reason}"
    return Judged(_right(item, reply), first, f"{item.target} is right. Gate: {said}")


def counted(context: TaskContext, told: Told) -> list[Figure]:
    """The figures of both arms, and the difference between them."""
    out: list[Figure] = []
    direct: dict[str, list[float]] = {}
    for arm in ARMS:
        pairs = [(item, reply) for item, reply in told if item.group == arm]
        went = [_decided(reply, Decision.DIRECT) for _, reply in pairs]
        direct[arm] = [100.0 * value for value in went]
        out += share(f"gate.{arm}.direct", went)
        out += share(f"gate.{arm}.warned", [_decided(reply, Decision.RETRIEVE_WITH_WARNING) for _, reply in pairs])
        out += share(f"gate.{arm}.top1", [_right(item, reply) for item, reply in pairs])
        at_once = [pair for pair, straight in zip(pairs, went, strict=True) if straight]
        out += share(f"gate.{arm}.wrong_enough", [not _right(item, reply) for item, reply in at_once])
    points = paired_difference("gate.complete_over_sparse.direct", direct["complete"], direct["sparse"], context.seed)
    return out + points


def run(context: TaskContext) -> list[Figure]:
    """Ask every case both ways and count."""
    return ask_plainly(ASKS, context)


def _item(arm: str, case: ChineseCase) -> Item:
    text = case.text if arm == "complete" else case.sparse
    return Item(f"{arm}/{case.id}", arm, (text,), case.disease, case)


def _right(item: Item, reply: Reply) -> bool:
    return [d.disease for d in reply.answer.differential[:1]] == [item.row.disease]


def _decided(reply: Reply, decision: Decision) -> bool:
    return reply.answer.gate is not None and reply.answer.gate.decision is decision


ASKS = AgentEvaluation(items=items, judge=judge, figures=counted)

TASK = Task(
    name="gate",
    what="the completeness gate in the agent, on written Chinese cases, complete and sparse",
    inputs=SETS,
    expected="2 minutes; 4 the first time",
    limit=100,
    run=run,
    by_agent=True,
    home_data=Path(FIRST).parent,
    asks=ASKS,
)
