"""`answers`: exam questions and PubMedQA through the whole agent, without a model and without PubMed.

Accuracy counts an abstention as wrong; ``accuracy_answered`` leaves it out. Beside them stand two baselines over the
same rows: chance, and the answer that is right most often. A setting is one collection of the exam, or PubMedQA with
the abstract's contexts ``hidden`` or ``shown`` (given with the question); the same questions are asked both ways.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evals.contract import Figure, Task, TaskContext
from evals.datasets.exams import EXAM, PUBMEDQA, ExamQuestion, PubMedQuestion, read_exam, read_pubmedqa
from evals.statistics import exact_mcnemar, paired_difference, share

if TYPE_CHECKING:
    from evals.agent_runs import Ask

WHAT = "exam questions and PubMedQA through the agent: accuracy, abstention"
CLOSED = 3  # yes, no, maybe


@dataclass(frozen=True)
class Given:
    """A gold answer, the answer given (None for an abstention), and how many there were to choose from."""

    gold: str
    label: str | None
    of: int

    @property
    def right(self) -> bool:
        """Whether the gold answer was given."""
        return self.label == self.gold


def run(context: TaskContext) -> list[Figure]:
    """Ask every question and count."""
    from evals.agent_runs import asking

    exam = {name: context.sample(rows) for name, rows in read_exam(context.data).items()}
    closed = context.sample(read_pubmedqa(context.data))
    figures: list[Figure] = []
    with asking(context.settings) as ask:
        for name, rows in exam.items():
            given = [_choose(ask, row) for row in context.tick(rows, name, len(rows))]
            figures += choice_figures(f"exam.{name}", given)
        hidden = [_closed(ask, row) for row in context.tick(closed, "pubmedqa hidden", len(closed))]
        shown = [_closed(ask, row, [abstract(row)]) for row in context.tick(closed, "pubmedqa shown", len(closed))]
    figures += choice_figures("pubmedqa.hidden", hidden) + choice_figures("pubmedqa.shown", shown)
    return figures + compare("pubmedqa.shown_over_hidden", shown, hidden, context.seed)


def choice_figures(name: str, given: Sequence[Given]) -> list[Figure]:
    """Accuracy, abstention, accuracy where answered, and the two baselines, in percent."""
    if not given:
        return []
    n = len(given)
    chance = 100 * sum(1 / g.of for g in given) / n
    majority = 100 * Counter(g.gold for g in given).most_common(1)[0][1] / n
    return [
        *share(f"{name}.accuracy", [g.right for g in given]),
        *share(f"{name}.abstained", [g.label is None for g in given]),
        *share(f"{name}.accuracy_answered", [g.right for g in given if g.label is not None]),
        Figure(name=f"{name}.chance", value=chance, n=n),
        Figure(name=f"{name}.majority", value=majority, n=n),
    ]


def compare(name: str, first: Sequence[Given], second: Sequence[Given], seed: int) -> list[Figure]:
    """Difference of two accuracies on the same questions in points, and p of McNemar's exact test, two-sided."""
    if not first:
        return []
    a, b = [g.right for g in first], [g.right for g in second]
    points = paired_difference(f"{name}.accuracy", [100.0 * x for x in a], [100.0 * x for x in b], seed)
    return [*points, Figure(name=f"{name}.p", value=exact_mcnemar(a, b), n=len(a))]


def abstract(row: PubMedQuestion) -> str:
    """The abstract without its conclusion, a section a line."""
    return "\n".join(f"{c.label.capitalize()}: {c.text}" if c.label else c.text for c in row.contexts)


def _choose(ask: Ask, row: ExamQuestion) -> Given:
    choice = ask(row.question, row.options).choice
    return Given(row.answer, choice.label if choice else None, len(row.options))


def _closed(ask: Ask, row: PubMedQuestion, given: Sequence[str] = ()) -> Given:
    choice = ask(row.question, given=given).choice
    return Given(row.answer, choice.label if choice else None, CLOSED)


TASK = Task(
    name="answers",
    what=WHAT,
    inputs=(EXAM, PUBMEDQA),
    expected="4 minutes; 6 the first time",
    limit=100,
    run=run,
    by_agent=True,
)
