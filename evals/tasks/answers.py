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
from dataclasses import dataclass

from evals.asked import AgentEvaluation, Item, Judged, Reply, Told, ask_plainly, label_of
from evals.cmmqa import CMMQA, read_cmmqa
from evals.contract import Figure, Task, TaskContext
from evals.datasets.mirage import EXAM, read_exam
from evals.datasets.pubmedqa import PubMedQuestion, read_pubmedqa
from evals.statistics import exact_mcnemar, paired_difference, share
from tools.reading.corpus import PUBMEDQA

WHAT = "exam questions and PubMedQA through the agent: accuracy, abstention"
CLOSED = 3  # yes, no, maybe
HIDDEN, SHOWN = "pubmedqa.hidden", "pubmedqa.shown"
NARRATIVE, PLAIN = "cmmqa.narrative", "cmmqa.question"


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


def items(context: TaskContext) -> list[Item]:
    """Every question of the files that are there: the exam, narratives, PubMedQA without and with the abstract."""
    out = [
        Item(f"exam.{name}/{row.id}", f"exam.{name}", (row.question,), row.answer, row, options=row.options)
        for name, rows in (read_exam(context.data) if _is_there(context, EXAM) else {}).items()
        for row in context.sample(rows)
    ]
    out += _narratives(context) if _is_there(context, CMMQA) else []
    closed = context.sample(read_pubmedqa(context.data)) if _is_there(context, PUBMEDQA) else []
    out += [Item(f"{HIDDEN}/{row.id}", HIDDEN, (row.question,), row.answer, row) for row in closed]
    return out + [
        Item(f"{SHOWN}/{row.id}", SHOWN, (row.question,), row.answer, row, given=(abstract(row),)) for row in closed
    ]


def _is_there(context: TaskContext, file: str) -> bool:
    return (context.data / file).is_file()


def _narratives(context: TaskContext) -> list[Item]:
    """The multiple-choice questions told as narratives, and the same as they were; open ones are told as not run."""
    rows = read_cmmqa(context.data)
    choices = context.sample([row for row in rows if row.options])
    if len(rows) > (count := sum(bool(row.options) for row in rows)):
        context.not_run["cmmqa.open"] = f"{len(rows) - count} open questions have no reference answer"
    return [
        Item(f"{group}/{row.id}", group, (text,), row.answer, row, options=row.options)
        for group in (NARRATIVE, PLAIN)
        for row in choices
        for text in [row.narrative if group == NARRATIVE else row.question]
    ]


def judge(item: Item, reply: Reply) -> Judged:
    """Whether the gold answer was chosen."""
    label, answer = label_of(reply.answer), reply.answer
    if label is None:
        return Judged(False, "no choice", f"Nothing was chosen; {item.target} is right.")
    told = answer.verdict or answer.choice
    reason = told.reason if told is not None else ""
    return Judged(label == item.target, label, f"{item.target} is right. {reason}")


def counted(context: TaskContext, told: Told) -> list[Figure]:
    """The figures of every setting, and PubMedQA's two against each other on the same questions."""
    given: dict[str, list[Given]] = {}
    for item, reply in told:
        given.setdefault(item.group, []).append(_given(item, reply))
    figures = [figure for group, answers in given.items() for figure in choice_figures(group, answers)]
    shown, hidden = given.get(SHOWN, []), given.get(HIDDEN, [])
    told_as, plain = given.get(NARRATIVE, []), given.get(PLAIN, [])
    figures += compare("cmmqa.narrative_over_question", told_as, plain, context.seed)
    return figures + compare("pubmedqa.shown_over_hidden", shown, hidden, context.seed)


def run(context: TaskContext) -> list[Figure]:
    """Ask every question and count."""
    return ask_plainly(ASKS, context)


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


def _given(item: Item, reply: Reply) -> Given:
    return Given(item.target, label_of(reply.answer), len(item.options) or CLOSED)


ASKS = AgentEvaluation(items=items, judge=judge, figures=counted)

TASK = Task(
    name="answers",
    what=WHAT,
    inputs=(EXAM, PUBMEDQA, CMMQA),
    expected="4 minutes; 6 the first time",
    limit=100,
    run=run,
    by_agent=True,
    asks=ASKS,
    any_of=True,
)
