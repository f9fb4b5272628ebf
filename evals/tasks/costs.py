"""`costs`: what an arm gives beside what it takes, for methods that are published with both; no model is called.

``ica_rag_ARM``: F1 of disease entities and wall time a case, over the cases of the ablations of `completeness` (its
module says which, and how entities are counted without a model). ``gate`` is the published configuration with the
trained labels, ``gate_ours`` our gate before the same retrieval, ``whole_input`` one classifier over the whole case,
``always`` and ``never`` no decision. ``percent_of_always`` is paired: processor time as percent of that of ``always``.
``medrgag_ARM``: accuracy on a sample of the exams and wall time a question, by the arms of `--config medrgag` that run
without a model. ``ms`` is the mean of the wall time, ``p95_ms`` its 95th percentile, ``cpu_ms`` the mean of the
processor time, all cores together, which a busy machine changes less. No vector of a query is kept on disk. Every
question is asked once before any arm is timed: what a text was read as (its sentences, its words) stays in the process,
so that the first arm would pay for all.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from agent.configurations.loading import configurations
from agent.knowledge_graph import STARTER_GRAPH
from agent.settings import Settings
from evals.contract import Figure, Task, TaskContext, label_of
from evals.datasets.clinical import CASES
from evals.datasets.ddxplus import CODES, TEXTS
from evals.datasets.mirage import EXAM, ExamQuestion, read_exam
from evals.runner import local_settings
from evals.sessions import asking
from evals.statistics import mean, paired_ratio, quantile, share
from evals.tasks.completeness.ablations import ARMS, AblationCase, arm_figures, read_of, sources_of
from graphs.answering.contract import Answer
from graphs.completeness.score import GateSettings
from tools.knowledge_graph.loader import read_graph

GATES = ("gate", "gate_ours", "whole_input", "always", "never")
OWN_GATES: dict[str, dict[str, Any]] = {
    "gate_ours": {"method": "ours"},
    "whole_input": {"method": "whole_input", "theta1": 0.5},  # as in --config ica-rag:whole-input-gate
    "never": {"method": "direct"},
}
MEDRGAG = {
    "full": "medrgag",
    "without_generation": "medrgag:without-generation",
    "without_kads": "medrgag:without-kads",
    "merge_all_ten": "medrgag:merge-all-ten",
}
QUESTIONS = 50  # ours: of the exams, so that four arms take a few minutes
SLOW = 0.95
Questions = Mapping[str, Sequence[tuple[str, Mapping[str, str]]]]  # by what they are counted with: text and options


class Timed(NamedTuple):
    """An answer, its wall time, and the time of the processor that it took, in milliseconds."""

    answer: Answer
    ms: float
    cpu_ms: float


def run(context: TaskContext) -> list[Figure]:
    """Every arm of both methods; those that need a language model are told."""
    for method in ("ica-rag", "medrgag"):
        for name, told in configurations()[method].arms.items():
            if told.needs:
                context.not_run[f"{method}:{name}"] = f"needs {' and '.join(told.needs)}"
    sources = sources_of(context, read_graph(STARTER_GRAPH))
    questions: Questions = {source: [(case.text, {}) for case in cases] for source, cases in sources.items()}
    timed(context, gate_settings(context, "always"), questions)
    took: dict[tuple[str, str], list[float]] = {}
    out: list[Figure] = []
    for arm in GATES:
        found = timed(context, gate_settings(context, arm), questions)
        for source, cases in sources.items():
            out += gate_arm(arm, source, cases, found[source], context.seed)
            took[arm, source] = [one.cpu_ms for one in found[source]]
    for arm, source in took:
        name = f"ica_rag_{arm}.{source}.percent_of_always"
        out += paired_ratio(name, took[arm, source], took["always", source], context.seed) if arm != "always" else []
    return out + medrgag(context)


def gate_settings(context: TaskContext, arm: str) -> Settings:
    """The settings of an arm of ICA-RAG: the same retrieval, another decision."""
    settings = local_settings(ARMS["always" if arm == "always" else "full"], home=context.settings.home)
    return settings.model_copy(update={"gate": GateSettings(**OWN_GATES[arm])}) if arm in OWN_GATES else settings


def gate_arm(arm: str, source: str, cases: Sequence[AblationCase], found: Sequence[Timed], seed: int) -> list[Figure]:
    """Precision, recall, F1, share of cases researched, and time."""
    name = f"ica_rag_{arm}.{source}"
    return [*arm_figures(name, cases, [read_of(one.answer) for one in found], seed), *_times(name, found, seed)]


def medrgag(context: TaskContext) -> list[Figure]:
    """The arms of MedRGAG."""
    every = [row for rows in read_exam(context.data).values() for row in rows]
    rows = context.sample_of(every, min(QUESTIONS, context.limit))
    questions = [(r.question, r.options) for r in rows]
    settings = {arm: local_settings(name, home=context.settings.home) for arm, name in MEDRGAG.items()}
    timed(context, settings["full"], {"medrgag": questions})
    out: list[Figure] = []
    for arm, own in settings.items():
        found = timed(context, own, {f"medrgag {arm}": questions})
        out += exam_arm(arm, rows, found[f"medrgag {arm}"], context.seed)
    return out


def exam_arm(arm: str, rows: Sequence[ExamQuestion], found: Sequence[Timed], seed: int) -> list[Figure]:
    """Accuracy, with an abstention as wrong, abstention, and time."""
    name = f"medrgag_{arm}.exam"
    labels = [label_of(one.answer) for one in found]
    return [
        *share(f"{name}.accuracy", [label == row.answer for row, label in zip(rows, labels, strict=True)]),
        *share(f"{name}.abstained", [label is None for label in labels]),
        *_times(name, found, seed),
    ]


def timed(context: TaskContext, settings: Settings, questions: Questions) -> dict[str, list[Timed]]:
    """Every question of an arm, timed, after one that warms up."""
    out: dict[str, list[Timed]] = {}
    with asking(settings, keep=False) as ask:
        for name, rows in questions.items():
            for text, options in rows[:1]:
                ask(text, options)
            out[name] = []
            for text, options in context.each(rows, name):
                started, spent = time.perf_counter(), time.process_time()
                answer = ask(text, options)
                wall, cpu = time.perf_counter() - started, time.process_time() - spent
                out[name].append(Timed(answer, 1000 * wall, 1000 * cpu))
    return out


def _times(name: str, found: Sequence[Timed], seed: int) -> list[Figure]:
    took = [one.ms for one in found]
    spent = mean(f"{name}.cpu_ms", [one.cpu_ms for one in found], seed)
    return [*mean(f"{name}.ms", took, seed), *quantile(f"{name}.p95_ms", took, SLOW, seed), *spent]


TASK = Task(
    name="costs",
    what="ICA-RAG's gates and MedRGAG's arms without a model: what each gives beside the time that it takes",
    inputs=(CASES, TEXTS, CODES, EXAM),
    expected="8 minutes",
    limit=50,
    run=run,
)
