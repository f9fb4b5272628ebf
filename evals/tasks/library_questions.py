"""`library_questions`: our own questions over the starter library, asked of the whole agent.

``rephrase`` words anew what a document is there to answer, ``ood`` comes at it from elsewhere, and no document answers
``outside``. ``cited`` is the share of answers with a statement that cites a document which answers the question,
``first`` that whose first statement does; ``abstained`` the share of answers without a statement. The questions were in
view while the search was improved: these are development figures.
"""

from __future__ import annotations

from pathlib import Path

from evals.asked import AgentEvaluation, Item, Judged, Reply, Told, ask_plainly
from evals.contract import Figure, Task, TaskContext
from evals.datasets.answered_questions import OWN, OwnQuestion
from evals.datasets.rows import read_jsonl
from evals.statistics import share
from evals.tasks.cases import cited

KINDS = ("rephrase", "ood", "outside")


def items(context: TaskContext) -> list[Item]:
    """At most ``limit`` questions of each kind."""
    rows = read_jsonl(context.data / OWN.name, OwnQuestion)
    return [
        Item(f"{kind}/{place}", kind, (row.question,), ", ".join(row.documents) or "nothing is said", row)
        for kind in KINDS
        for place, row in context.sample([pair for pair in enumerate(rows) if pair[1].kind == kind])
    ]


def judge(item: Item, reply: Reply) -> Judged:
    """Whether a document that answers is cited; of a question outside the library, whether nothing is said."""
    named = cited(reply.answer)
    if item.group == "outside":
        return Judged(not reply.answer.statements, ", ".join(named) or "abstained", "No document answers this.")
    right = _right(item, named)
    why = f"{item.target} answers it, and {'is' if right else 'is not'} cited."
    return Judged(right, ", ".join(named) or "abstained", why)


def counted(context: TaskContext, told: Told) -> list[Figure]:
    """The figures of each kind."""
    del context
    out: list[Figure] = []
    for kind in KINDS:
        pairs = [(item, cited(reply.answer)) for item, reply in told if item.group == kind]
        if kind != "outside":
            out += share(f"library_questions.{kind}.cited", [_right(item, named) for item, named in pairs])
            out += share(f"library_questions.{kind}.first", [_right(item, named[:1]) for item, named in pairs])
        silent = [not reply.answer.statements for item, reply in told if item.group == kind]
        out += share(f"library_questions.{kind}.abstained", silent)
    return out


def run(context: TaskContext) -> list[Figure]:
    """Ask every question and count."""
    return ask_plainly(ASKS, context)


def _right(item: Item, named: list[str]) -> bool:
    return bool({document.partition(":")[2] for document in item.row.documents}.intersection(named))


ASKS = AgentEvaluation(items=items, judge=judge, figures=counted)

TASK = Task(
    name="library_questions",
    what="our own questions over the starter library through the agent: the right document cited, abstention",
    inputs=(OWN.name,),
    expected="3 minutes; 5 the first time",
    limit=200,
    run=run,
    by_agent=True,
    home_data=Path(OWN).parent,
    asks=ASKS,
)
