"""`medicines`: may it be taken? Interactions, contraindications and what is harmless, by writers who saw no record.

``harmful.found``: the answer warns (a verdict that the probe accepts) and a cited statement holds one of the probe's
words. ``severe.missed``: a severe one without a warning. ``harmless.false``: a warning where none is due, that is a
verdict that the probe does not accept. ``facts.right``: of open questions, a cited statement holds every group of
words that an answer must have. Silence is right for what is harmless: a baseline that never answers finds nothing and
is never false.
"""

from __future__ import annotations

from evals.contract import AgentEvaluation, Figure, Item, Judged, Reply, Task, TaskContext, Told
from evals.datasets.closed import Probe
from evals.datasets.rows import SHIPPED, read_jsonl
from evals.statistics import share
from evals.tasks.verdicts import said_of

PROBES = "unseen/medicines.jsonl"


def items(context: TaskContext) -> list[Item]:
    """Every probe."""
    probes = context.sample(read_jsonl(context.data / PROBES, Probe))
    return [Item(p.id, p.kind, p.messages, f"{p.kind}: {', '.join(p.accept)}", p) for p in probes]


def verdict_fits(probe: Probe, reply: Reply) -> bool:
    """Whether the verdict, or that there is none, is one that the probe accepts."""
    return (said_of(reply.answer) or "none") in probe.accept


def holds(probe: Probe, reply: Reply) -> bool:
    """Whether the cited statements hold a word of each group."""
    told = " ".join(s.text for s in reply.answer.statements if s.citations).lower()
    return all(any(word in told for word in group) for group in probe.words)


def right(probe: Probe, reply: Reply) -> bool:
    """Whether a probe is answered rightly."""
    return (probe.kind == "fact" or verdict_fits(probe, reply)) and holds(probe, reply)


def judge(item: Item, reply: Reply) -> Judged:
    """A reply held against its probe."""
    return Judged(right(item.row, reply), said_of(reply.answer) or "no verdict", f"Accepted: {item.target}.")


def counted(context: TaskContext, told: Told) -> list[Figure]:
    """The figures of each kind of probe."""
    del context
    of = {kind: [(i.row, r) for i, r in told if i.row.kind == kind] for kind in ("harmful", "harmless", "fact")}
    severe = [(p, r) for p, r in of["harmful"] if p.severity == "severe"]
    return [
        *share("medicines.harmful.found", [right(p, r) for p, r in of["harmful"]]),
        *share("medicines.harmful.warned", [verdict_fits(p, r) for p, r in of["harmful"]]),
        *share("medicines.severe.missed", [not verdict_fits(p, r) for p, r in severe]),
        *share("medicines.harmless.false", [not verdict_fits(p, r) for p, r in of["harmless"]]),
        *share("medicines.fact.right", [right(p, r) for p, r in of["fact"]]),
        *share("medicines.fact.abstained", [r.answer.abstained for _, r in of["fact"]]),
    ]


TASK = Task(
    name="medicines",
    what="may it be taken: interactions, contraindications, what is harmless, and facts about medicines",
    inputs=(PROBES,),
    expected="5 minutes",
    limit=400,
    home_data=SHIPPED,
    by_agent=True,
    asks=AgentEvaluation(items, judge, counted),
)
