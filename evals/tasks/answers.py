"""`answers`: exam questions and PubMedQA through the whole agent, without a model and without PubMed.

Accuracy counts an abstention as wrong; ``accuracy_answered`` leaves it out. Beside them stand two baselines over the
same rows: chance, and the answer that is right most often. A setting is one collection of the exam, or PubMedQA with
the abstract's contexts ``hidden`` or ``shown`` (given with the question); the same questions are asked both ways.
``cmmqa.narrative`` are questions told as narratives (`anamnesis eval build-cmmqa`), ``cmmqa.question`` the same as they
were. One of the three files is enough.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from evals.cmmqa import CMMQA, read_cmmqa
from evals.contract import AgentEvaluation, Figure, Item, Judged, Reply, Task, TaskContext, Told, label_of
from evals.datasets.mirage import EXAM, read_exam
from evals.datasets.pubmedqa import PubMedQuestion, read_pubmedqa
from evals.statistics import exact_mcnemar, points, share
from tools.reading.corpus import PUBMEDQA

CLOSED = 3  # yes, no, maybe
HIDDEN, SHOWN = "pubmedqa.hidden", "pubmedqa.shown"
NARRATIVE, PLAIN = "cmmqa.narrative", "cmmqa.question"


class Given(NamedTuple):
    """A gold answer, the answer given (None for an abstention), and how many there were to choose from."""

    gold: str
    label: str | None
    of: int

    @property
    def right(self) -> bool:
        """Whether the gold answer was given."""
        return self.label == self.gold


def items(context: TaskContext) -> list[Item]:
    """Every question of the files that are there: the exam, narratives, PubMedQA without and with the abstract."""
    out = [
        Item(f"exam.{name}/{row.id}", f"exam.{name}", (row.question,), row.answer, row, options=row.options)
        for name, rows in (read_exam(context.data) if context.has(EXAM) else {}).items()
        for row in context.sample(rows)
    ]
    if context.has(CMMQA):
        rows = read_cmmqa(context.data)
        choices = [row for row in rows if row.options]
        if len(rows) > len(choices):
            context.not_run["cmmqa.open"] = f"{len(rows) - len(choices)} open questions have no reference answer"
        choices = context.sample(choices)
        told = {NARRATIVE: [row.narrative for row in choices], PLAIN: [row.question for row in choices]}
        for group, texts in told.items():
            for row, text in zip(choices, texts, strict=True):
                out.append(Item(f"{group}/{row.id}", group, (text,), row.answer, row, options=row.options))
    closed = context.sample(read_pubmedqa(context.data)) if context.has(PUBMEDQA) else []
    for group in (HIDDEN, SHOWN):
        for own in closed:
            given = (abstract(own),) if group == SHOWN else ()
            out.append(Item(f"{group}/{own.id}", group, (own.question,), own.answer, own, given=given))
    return out


def judge(item: Item, reply: Reply) -> Judged:
    """Whether the gold answer was chosen."""
    label, told = label_of(reply.answer), reply.answer.verdict or reply.answer.choice
    if label is None:
        return Judged(False, "no choice", f"Nothing was chosen; {item.target} is right.")
    return Judged(label == item.target, label, f"{item.target} is right. {told.reason if told is not None else ''}")


def counted(context: TaskContext, told: Told) -> list[Figure]:
    """The figures of every setting, and both ways of the same questions against each other."""
    given: dict[str, list[Given]] = {}
    for item, reply in told:
        answer = Given(item.target, label_of(reply.answer), len(item.options) or CLOSED)
        given.setdefault(item.group, []).append(answer)
    out = [figure for group, answers in given.items() for figure in choice_figures(group, answers)]
    for name, first, second in (
        ("cmmqa.narrative_over_question", NARRATIVE, PLAIN),
        ("pubmedqa.shown_over_hidden", SHOWN, HIDDEN),
    ):
        out += compare(name, given.get(first, []), given.get(second, []), context.seed)
    return out


def choice_figures(name: str, given: Sequence[Given]) -> list[Figure]:
    """Accuracy, abstention, accuracy where answered, and the two baselines, in percent."""
    if not given:
        return []
    n = len(given)
    majority = 100 * Counter(g.gold for g in given).most_common(1)[0][1] / n
    return [
        *share(f"{name}.accuracy", [g.right for g in given]),
        *share(f"{name}.abstained", [g.label is None for g in given]),
        *share(f"{name}.accuracy_answered", [g.right for g in given if g.label is not None]),
        Figure(name=f"{name}.chance", value=100 * sum(1 / g.of for g in given) / n, n=n),
        Figure(name=f"{name}.majority", value=majority, n=n),
    ]


def compare(name: str, first: Sequence[Given], second: Sequence[Given], seed: int) -> list[Figure]:
    """Difference of two accuracies on the same questions in points, and p of McNemar's exact test, two-sided."""
    if not first:
        return []
    a, b = [g.right for g in first], [g.right for g in second]
    p = Figure(name=f"{name}.p", value=exact_mcnemar(a, b), n=len(a))
    return [*points(f"{name}.accuracy", a, b, seed), p]


def abstract(row: PubMedQuestion) -> str:
    """The abstract without its conclusion, a section a line."""
    return "\n".join(f"{c.label.capitalize()}: {c.text}" if c.label else c.text for c in row.contexts)


TASK = Task(
    name="answers",
    what="exam questions and PubMedQA through the agent: accuracy, abstention",
    inputs=(EXAM, PUBMEDQA, CMMQA),
    expected="4 minutes; 6 the first time",
    limit=100,
    by_agent=True,
    asks=AgentEvaluation(items, judge, counted),
    any_of=True,
)
