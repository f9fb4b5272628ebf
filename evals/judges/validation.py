"""`anamnesis eval judges`: how far a judge agrees with people, by a file of labels, and LiveQA's graded answers.

``people.KIND``: ``agreement`` is the share of items on which all raters agree, ``kappa`` Cohen's for two raters and
Fleiss' for more. ``judge.KIND``: for ``answerability`` agreement and Cohen's kappa with the label that most people
gave (the lower one of a tie); for ``relevancy`` and ``adherence`` Spearman and Pearson with the mean of five points.
``liveqa_relevancy`` and ``liveqa_adherence``: the same with the grades (1 to 4) of LiveQA's answers; the guideline is
the first reference answer. Grades mix truth and fit, so that neither judge can reach 1. ``relevant_of_good`` and
``relevant_of_bad`` are shares of answers judged relevant among those of grade 3 and above, and of grade 1;
``agreement`` is the share of both together on which judge and grade agree.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
import warnings
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from agent.models import open_models
from agent.settings import load_settings, silence_telemetry
from evals.contract import Figure, Report, TaskContext
from evals.datasets.judged_labels import LabelledText, read_labels
from evals.datasets.liveqa import GOOD, LIVEQA, LIVEQA_ANSWERS, Graded, read_graded
from evals.judges.by_model import open_judge
from evals.judges.contract import AT_ONCE, AnswerJudge, ask_all
from evals.ledger.code import code_sha256
from evals.runner import data_sha256, progress
from evals.sessions import encoders
from evals.statistics import ends, share
from tools.encoders import Encoder
from tools.questions.by_model import JudgeByModel
from tools.questions.collection import Collection
from tools.questions.contract import AnswerabilityJudge, Question, SourceDocument, Verdict
from tools.questions.round_trip import RoundTrip

WORTH = {Verdict.NO: 0, Verdict.PART: 1, Verdict.FULL: 2}
SCORED = ("relevancy", "adherence")
RESAMPLES = 2000  # ours: a rank correlation of thousands of pairs is too slow for more
FEWEST = 3  # ours: pairs below which a correlation says nothing
Kind = Literal["spearman", "pearson"]


def validate(labels: Path | None, data: Path | None, limit: int | None, seed: int) -> Report:
    """The report of a comparison.

    Args:
        labels: a file of JSON lines with people's labels. data: a folder with LiveQA's graded answers.
        limit: most graded answers.

    Raises:
        DataError: a file is missing or a row is damaged. ServiceError: a model judged nothing.
    """
    started = time.perf_counter()
    rows = read_labels(labels) if labels is not None else []
    graded = read_graded(data) if data is not None else []
    settings = load_settings(model_cache="evaluation")
    silence_telemetry(settings)
    folder = data or (labels.parent if labels is not None else Path())
    context = TaskContext(folder, limit or max(len(graded), 1), seed, settings, progress)
    with encoders(settings, context.home) as (_, cached):
        judge = open_judge(settings, context.home, cached)
        answerability = _answerability_judge(rows, context, cached)

        async def every() -> list[Figure]:  # in one event loop, because a model belongs to one
            out = await judge_figures(rows, judge, answerability, context)
            return out + (await liveqa_figures(context.sample(graded), judge, context) if graded else [])

        figures = [*people_figures(rows, context), *asyncio.run(every())]
    parts = [data_sha256(labels.parent, (labels.name,))] if labels is not None else []
    parts += [data_sha256(data, (LIVEQA, LIVEQA_ANSWERS))] if data is not None else []
    return Report(
        task="judges",
        settings={"judge": judge.name, "answerability": answerability.name, "limit": limit, "seed": seed}
        | ({"not_run": context.not_run} if context.not_run else {}),
        data_sha256=parts[0] if len(parts) == 1 else hashlib.sha256("".join(parts).encode()).hexdigest(),
        seconds=round(time.perf_counter() - started, 3),
        figures=tuple(figures),
        code=code_sha256("judges"),
    )


def _answerability_judge(rows: list[LabelledText], context: TaskContext, encoder: Encoder) -> AnswerabilityJudge:
    """Who judges whether a document answers: the model of the settings, else a search over the labelled documents."""
    models = open_models(context.settings, context.home)
    if models is not None:
        return JudgeByModel(models.of("questions"), encoder)
    collection = Collection(documents_of(rows))
    collection.embed(encoder)
    return RoundTrip(collection, encoder)


def people_figures(rows: Sequence[LabelledText], context: TaskContext) -> list[Figure]:
    """Agreement between the raters, by kind."""
    out: list[Figure] = []
    for kind in ("answerability", *SCORED):
        several = [row.labels for row in rows if row.kind == kind and len(row.labels) > 1]
        if not several:
            continue
        given = [list(labels.values()) for labels in several]
        out += share(f"people.{kind}.agreement", [len(set(labels)) == 1 for labels in given])
        raters = {tuple(sorted(labels)) for labels in several}
        names = next(iter(raters))
        kappa = None
        if len(raters) == 1 and len(names) == 2:
            kappa = cohen(*([labels[name] for labels in several] for name in names))
        elif len({len(labels) for labels in given}) == 1:
            kappa = fleiss(given)
        if kappa is None:
            context.not_run[f"people.{kind}.kappa"] = "items have different numbers of raters, or all labels are alike"
        else:
            out.append(Figure(name=f"people.{kind}.kappa", value=kappa, n=len(several)))
    return out


async def judge_figures(
    rows: Sequence[LabelledText], judge: AnswerJudge, answerability: AnswerabilityJudge, context: TaskContext
) -> list[Figure]:
    """The judges against people, by kind."""
    out = await _answerability([row for row in rows if row.kind == "answerability"], answerability)
    for kind in SCORED:
        own = [row for row in rows if row.kind == kind]
        jobs: list[Any] = [
            partial(judge.relevancy, row.question, row.text)
            if kind == "relevancy"
            else partial(judge.adherence, row.question, row.golden, row.text)
            for row in own
        ]
        found = await ask_all(jobs, f"labels: {kind}", context, at_once=_at_once(judge))
        means = [sum(row.labels.values()) / len(row.labels) for row in own]
        pairs = [(people, verdict.score) for people, verdict in zip(means, found, strict=True) if verdict is not None]
        out += _correlations(kind, pairs, context)
    return out


async def liveqa_figures(rows: Sequence[Graded], judge: AnswerJudge, context: TaskContext) -> list[Figure]:
    """Relevancy and adherence against LiveQA's grades."""
    relevancy: list[Any] = [partial(judge.relevancy, row.question, row.answer) for row in rows]
    with_golden = [row for row in rows if row.golden]
    adherence: list[Any] = [partial(judge.adherence, r.question, r.golden, r.answer) for r in with_golden]
    found = await ask_all(relevancy, "liveqa: relevancy", context, at_once=_at_once(judge))
    kept = [(row.grade, own) for row, own in zip(rows, found, strict=True) if own is not None]
    out = _correlations("liveqa_relevancy", [(grade, own.score) for grade, own in kept], context)
    out += share("judge.liveqa_relevancy.relevant_of_good", [own.relevant for grade, own in kept if grade >= GOOD])
    out += share("judge.liveqa_relevancy.relevant_of_bad", [own.relevant for grade, own in kept if grade == 1])
    clear = [(grade >= GOOD) is own.relevant for grade, own in kept if grade >= GOOD or grade == 1]
    out += share("judge.liveqa_relevancy.agreement", clear)
    scored = await ask_all(adherence, "liveqa: adherence", context, at_once=_at_once(judge))
    pairs = [(row.grade, own.score) for row, own in zip(with_golden, scored, strict=True) if own is not None]
    return out + _correlations("liveqa_adherence", pairs, context)


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


def _correlations(name: str, pairs: Sequence[tuple[float, float]], context: TaskContext) -> list[Figure]:
    people, judged = [a for a, _ in pairs], [b for _, b in pairs]
    out = correlation(f"judge.{name}.spearman", "spearman", people, judged, context.seed)
    out += correlation(f"judge.{name}.pearson", "pearson", people, judged, context.seed)
    if pairs and not out:
        context.not_run[f"judge.{name}"] = "fewer than three items, or all labels or all scores are alike"
    return out


def _at_once(judge: AnswerJudge) -> int:
    return 1 if judge.name == "local" else AT_ONCE


def cohen(first: Sequence[object], second: Sequence[object]) -> float | None:
    """Cohen's kappa (1960) of two raters of the same items; None where chance alone agrees always."""
    n = len(first)
    if not n:
        raise ValueError("no item was rated")
    seen = sum(a == b for a, b in zip(first, second, strict=True)) / n
    left, right = Counter(first), Counter(second)
    chance = sum(left[label] * right[label] for label in left) / n**2
    return None if chance == 1 else (seen - chance) / (1 - chance)


def fleiss(items: Sequence[Sequence[object]]) -> float | None:
    """Fleiss' kappa (1971) of items that equally many raters labelled; None where chance alone agrees always.

    Raises:
        ValueError: no items, fewer than two labels an item, or not equally many.
    """
    raters = {len(labels) for labels in items}
    if len(raters) != 1 or (each := raters.pop()) < 2:
        raise ValueError("every item needs equally many labels, two at least")
    counts = [Counter(labels) for labels in items]
    seen = sum((sum(c * c for c in count.values()) - each) / (each * (each - 1)) for count in counts) / len(items)
    totals = sum(counts, Counter[object]())
    chance = sum((total / (each * len(items))) ** 2 for total in totals.values())
    return None if chance == 1 else (seen - chance) / (1 - chance)


def correlation(name: str, kind: Kind, first: Sequence[float], second: Sequence[float], seed: int) -> list[Figure]:
    """A correlation with a paired bootstrap interval; nothing where a side does not vary or pairs are too few."""
    from scipy.stats import rankdata

    if len(first) < FEWEST or len(set(first)) < 2 or len(set(second)) < 2:
        return []
    pairs = np.array(list(zip(first, second, strict=True)), dtype=np.float64)

    def of(rows: np.ndarray) -> float:  # NaN for a resample in which a side does not vary
        left, right = (rankdata(side) if kind == "spearman" else side for side in rows.T)
        return float(np.corrcoef(left, right)[0, 1])

    rng = np.random.default_rng(seed)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)
        drawn = [of(pairs[rng.integers(0, len(pairs), len(pairs))]) for _ in range(RESAMPLES)]
    return [Figure(name=name, value=of(pairs), n=len(pairs), ci95=ends(drawn))]
