"""How far a judge agrees with people: a file of labels, and LiveQA's graded answers.

``people.KIND``: ``agreement`` is the share of items on which all raters agree, ``kappa`` Cohen's for two raters and
Fleiss' for more. ``judge.KIND``: for ``answerability`` agreement and Cohen's kappa with the label that most people
gave (the lower one of a tie); for ``relevancy`` and ``adherence`` Spearman and Pearson with the mean of five points.
``liveqa_relevancy`` and ``liveqa_adherence``: the same with the grades (1 to 4) of LiveQA's answers; the guideline is
the first reference answer. Grades mix truth and fit, so that neither judge can reach 1. ``relevant_of_good`` and
``relevant_of_bad`` are shares of answers judged relevant among those of grade 3 and above, and of grade 1.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from evals.contract import Figure
from evals.datasets.judged_labels import LabelledText
from evals.datasets.liveqa import GOOD, Graded
from evals.judges.asking import AT_ONCE, ask_all
from evals.metrics.agreement import cohen, correlation, fleiss
from evals.statistics import share
from tools.questions.contract import Question, SourceDocument, Verdict

if TYPE_CHECKING:
    from evals.contract import TaskContext
    from evals.judges.contract import AnswerJudge
    from tools.questions.contract import AnswerabilityJudge

WORTH = {Verdict.NO: 0, Verdict.PART: 1, Verdict.FULL: 2}
SCORED = ("relevancy", "adherence")


def people_figures(rows: Sequence[LabelledText], context: TaskContext) -> list[Figure]:
    """Agreement between the raters, by kind."""
    out: list[Figure] = []
    for kind in ("answerability", *SCORED):
        labels = [list(row.labels.values()) for row in rows if row.kind == kind]
        several = [given for given in labels if len(given) > 1]
        if not several:
            continue
        out += share(f"people.{kind}.agreement", [len(set(given)) == 1 for given in several])
        kappa = _kappa([row for row in rows if row.kind == kind and len(row.labels) > 1])
        if kappa is None:
            context.not_run[f"people.{kind}.kappa"] = "items have different numbers of raters, or all labels are alike"
        else:
            out.append(Figure(name=f"people.{kind}.kappa", value=kappa, n=len(several)))
    return out


async def judge_figures(
    rows: Sequence[LabelledText], judge: AnswerJudge, answerability: AnswerabilityJudge, context: TaskContext
) -> list[Figure]:
    """The judges against people, by kind."""
    return [
        *await _answerability([row for row in rows if row.kind == "answerability"], answerability),
        *[figure for kind in SCORED for figure in await _scored(kind, rows, judge, context)],
    ]


async def liveqa_figures(rows: Sequence[Graded], judge: AnswerJudge, context: TaskContext) -> list[Figure]:
    """Relevancy and adherence against LiveQA's grades."""
    relevancy: list[Any] = [partial(judge.relevancy, row.question, row.answer) for row in rows]
    with_golden = [row for row in rows if row.golden]
    adherence: list[Any] = [partial(judge.adherence, r.question, r.golden, r.answer) for r in with_golden]
    found = await ask_all(relevancy, "liveqa: relevancy", context, at_once=_at_once(judge))
    kept = [(row, own) for row, own in zip(rows, found, strict=True) if own is not None]
    out = _correlations("liveqa_relevancy", [r.grade for r, _ in kept], [own.score for _, own in kept], context)
    good = [own.relevant for row, own in kept if row.grade >= GOOD]
    out += share("judge.liveqa_relevancy.relevant_of_good", good)
    out += share("judge.liveqa_relevancy.relevant_of_bad", [own.relevant for row, own in kept if row.grade == 1])
    scored = await ask_all(adherence, "liveqa: adherence", context, at_once=_at_once(judge))
    pairs = [(row.grade, own.score) for row, own in zip(with_golden, scored, strict=True) if own is not None]
    return out + _correlations("liveqa_adherence", [g for g, _ in pairs], [s for _, s in pairs], context)


def documents_of(rows: Sequence[LabelledText]) -> list[SourceDocument]:
    """The documents of the rows on answerability, each once: the collection that the local judge searches."""
    texts = dict.fromkeys(row.text for row in rows if row.kind == "answerability")
    return [SourceDocument(id=f"labelled:{n}", text=text) for n, text in enumerate(texts)]


def most_common(labels: Sequence[int]) -> int:
    """The label that most raters gave, the lower one of a tie."""
    counted = Counter(labels)
    return min(label for label, count in counted.items() if count == max(counted.values()))


async def _answerability(rows: Sequence[LabelledText], judge: AnswerabilityJudge) -> list[Figure]:
    if not rows:
        return []
    by_text = {document.text: document for document in documents_of(rows)}
    pairs = [(Question(text=row.question, answers=(), writer="people"), by_text[row.text]) for row in rows]
    judged = [WORTH[judgement.verdict] for judgement in await judge.judge(pairs)]
    wanted = [most_common(list(row.labels.values())) for row in rows]
    out = share("judge.answerability.agreement", [a == b for a, b in zip(judged, wanted, strict=True)])
    kappa = cohen(judged, wanted)
    return out if kappa is None else [*out, Figure(name="judge.answerability.kappa", value=kappa, n=len(rows))]


async def _scored(kind: str, rows: Sequence[LabelledText], judge: AnswerJudge, context: TaskContext) -> list[Figure]:
    own = [row for row in rows if row.kind == kind]
    jobs: list[Any] = [
        partial(judge.relevancy, row.question, row.text)
        if kind == "relevancy"
        else partial(judge.adherence, row.question, row.golden, row.text)
        for row in own
    ]
    found = await ask_all(jobs, f"labels: {kind}", context, at_once=_at_once(judge))
    pairs = [
        (sum(row.labels.values()) / len(row.labels), verdict.score)
        for row, verdict in zip(own, found, strict=True)
        if verdict is not None
    ]
    return _correlations(kind, [a for a, _ in pairs], [b for _, b in pairs], context)


def _correlations(name: str, people: Sequence[float], judged: Sequence[float], context: TaskContext) -> list[Figure]:
    out = correlation(f"judge.{name}.spearman", "spearman", people, judged, context.seed)
    out += correlation(f"judge.{name}.pearson", "pearson", people, judged, context.seed)
    if people and not out:
        context.not_run[f"judge.{name}"] = "fewer than three items, or all labels or all scores are alike"
    return out


def _kappa(rows: Sequence[LabelledText]) -> float | None:
    raters = {tuple(sorted(row.labels)) for row in rows}
    if len(raters) == 1 and len(names := raters.pop()) == 2:
        first, second = names
        return cohen([row.labels[first] for row in rows], [row.labels[second] for row in rows])
    if len({len(row.labels) for row in rows}) > 1:
        return None
    return fleiss([list(row.labels.values()) for row in rows])


def _at_once(judge: AnswerJudge) -> int:
    return 1 if judge.name == "local" else AT_ONCE


def run_validation(
    labels: Sequence[LabelledText], graded: Sequence[Graded], judge: AnswerJudge, context: TaskContext,
    answerability: AnswerabilityJudge,
) -> list[Figure]:  # fmt: skip
    """Every figure, in one event loop, because a model belongs to one."""

    async def every() -> list[Figure]:
        out = await judge_figures(labels, judge, answerability, context)
        return out + (await liveqa_figures(graded, judge, context) if graded else [])

    return [*people_figures(labels, context), *asyncio.run(every())]
