"""`report_text`: the agent's report on a case beside a reference report (MedRAG's measures of text).

Read is every file of JSON lines in the folder of ``--data``: ``id``, ``case``, ``report``; without one our four written
samples, which show the form and measure nothing. Each measure is a mean over cases, in percent. ``bleu``, ``rouge_1``,
``rouge_2``, ``rouge_l`` and ``meteor`` are of `evals.metrics.report_text`; ``bertscore_precision``, ``_recall`` and
``_f1`` need a model on disk (``ANAMNESIS_EVAL_BERTSCORE``). ``mini_cex`` has seven items of 1 to 9, by the language
model of the settings in its role ``verification``. ``words`` is the mean number of words, ``empty`` the share of cases
without a report; such a case counts 0 in every measure of text. ``--config medrag-kg`` and ``medrag-kg:without-graph``
are the two arms; the second needs a language model.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from evals.asked import SHORT, AgentEvaluation, Item, Judged, Reply, Told, ask_plainly
from evals.contract import Figure, Task, TaskContext
from evals.datasets.cases import REPORTS, SAMPLE, ReportCase, read_report_cases
from evals.judges.asking import AT_ONCE, ask_all
from evals.metrics.bertscore import open_bertscore
from evals.statistics import mean, share

if TYPE_CHECKING:
    from evals.judges.contract import ReportJudge
    from evals.metrics.bertscore import BertScore
    from graphs.reporting.contract import Report

WITHOUT = "medrag-kg:without-graph"
MEASURES = ("bleu", "rouge_1", "rouge_2", "rouge_l", "meteor")


class Written(NamedTuple):
    """A case, and the text of the agent's report on it; "" for none."""

    case: ReportCase
    text: str


def items(context: TaskContext) -> list[Item]:
    """At most ``limit`` cases, each with a report asked for."""
    open_bertscore()  # a wrong folder is told before anything is asked
    rows = context.sample(read_report_cases(context.data))
    return [Item(f"case/{row.id}", "case", (row.case,), row.report, row, report=True) for row in rows]


def judge(item: Item, reply: Reply) -> Judged:
    """Whether a report was written, and how near it is to the reference."""
    from evals.metrics.report_text import text_scores

    text = written(item, reply).text
    near = text_scores(text, item.row.report)["rouge_l"]
    if not text:
        return Judged(False, "nothing", "No report is written.")
    return Judged(True, text[:SHORT], f"ROUGE-L with the reference is {near:.2f}.")


def counted(context: TaskContext, told: Told) -> list[Figure]:
    """Hold every report to its reference."""
    from agent.sessions import Home
    from evals.judges.opening import model_judge

    judging = model_judge(context.settings, Home(context.settings.home).prepare())
    if context.settings.language_model is None:
        context.not_run[WITHOUT] = "without the graph a language model writes the report; set ANAMNESIS_MODEL"
    rows = [written(item, reply) for item, reply in told]
    return [
        *text_figures(rows, context.seed),
        *bert_figures(rows, open_bertscore(), context),
        *asyncio.run(mini_cex_figures(rows, judging, context)),
    ]


def run(context: TaskContext) -> list[Figure]:
    """Ask for a report on every case and count."""
    return ask_plainly(ASKS, context)


def written(item: Item, reply: Reply) -> Written:
    """The case with the report on it."""
    report = reply.answer.report
    return Written(item.row, text_of(report) if report is not None else "")


def text_of(report: Report) -> str:
    """A report as plain text: its statements part by part, then its questions."""
    return " ".join([*(s.statement.text for s in report.statements), *(q.text for q in report.questions)])


def text_figures(rows: Sequence[Written], seed: int) -> list[Figure]:
    """Overlap with the references, length, and the share of cases without a report."""
    from evals.metrics.report_text import text_scores, words

    scores = [text_scores(row.text, row.case.report) for row in rows]
    out = [f for m in MEASURES for f in mean(f"report_text.cases.{m}", [100 * s[m] for s in scores], seed)]
    out += mean("report_text.cases.words", [float(len(words(row.text))) for row in rows], seed)
    out += mean("report_text.references.words", [float(len(words(row.case.report))) for row in rows], seed)
    return out + share("report_text.cases.empty", [not row.text for row in rows])


def bert_figures(rows: Sequence[Written], scorer: BertScore | None, context: TaskContext) -> list[Figure]:
    """BERTScore; without a model it is told as not run."""
    from evals.metrics.bertscore import MODEL

    if scorer is None:
        context.not_run["bertscore"] = f"no model on disk is named; set {MODEL} to the folder of one"
        return []
    ticked = context.tick(rows, "bertscore", len(rows))
    scores = [scorer.score(row.text, row.case.report)._asdict() for row in ticked]
    return [
        figure
        for part in ("precision", "recall", "f1")
        for figure in mean(f"report_text.cases.bertscore_{part}", [100 * s[part] for s in scores], context.seed)
    ]


async def mini_cex_figures(rows: Sequence[Written], judge: ReportJudge | None, context: TaskContext) -> list[Figure]:
    """The seven items of the Mini-CEX, means of 1 to 9; without a model, or where it fails, told as not run."""
    if judge is None:
        context.not_run["mini_cex"] = "a language model judges; set ANAMNESIS_MODEL"
        return []
    jobs: list[Any] = [partial(judge.mini_cex, row.case.case, row.text) for row in rows if row.text]
    scores = [found for found in await ask_all(jobs, "mini_cex", context, at_once=AT_ONCE) if found is not None]
    items = list(scores[0]) if scores else []
    return [
        figure
        for item in items
        for figure in mean(f"report_text.mini_cex.{item}", [float(s[item]) for s in scores], context.seed)
    ]


ASKS = AgentEvaluation(items=items, judge=judge, figures=counted)

TASK = Task(
    name="report_text",
    what="the report on a case beside a reference: BLEU, ROUGE, METEOR, BERTScore; Mini-CEX by a model",
    inputs=(REPORTS,),
    expected="1 minute for 60 cases",
    limit=200,
    run=run,
    home_data=SAMPLE,
    by_agent=True,
    by_model=True,
    asks=ASKS,
)
