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
from typing import TYPE_CHECKING, Any, NamedTuple

from evals.asked import label_of
from evals.completeness_ablations import (
    AblationCase,
    arm_figures,
    arm_settings,
    clinic_cases,
    ddxplus_cases,
    read_of,
)
from evals.contract import Figure, Task, TaskContext
from evals.datasets.clinical import CASES
from evals.datasets.ddxplus import CODES, TEXTS
from evals.datasets.mirage import EXAM, ExamQuestion, read_exam
from evals.statistics import mean, paired_ratio, quantile, share

if TYPE_CHECKING:
    from agent.settings import Settings
    from evals.agent_runs import Ask
    from graphs.answering.contract import Answer

GATES = ("gate", "gate_ours", "whole_input", "always", "never")
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
    """Every arm of both methods."""
    _tell_models(context)
    return [*_gates(context), *_medrgag(context)]


def gate_settings(context: TaskContext, arm: str) -> Settings:
    """The settings of an arm of ICA-RAG: the same retrieval, another decision."""
    from graphs.completeness.score import GateSettings

    full = arm_settings(context, "full")
    gates: dict[str, dict[str, Any]] = {
        "gate_ours": {"method": "ours"},
        "whole_input": {"method": "whole_input", "theta1": 0.5},  # as in --config ica-rag:whole-input-gate
        "never": {"method": "direct"},
    }
    if arm in gates:
        return full.model_copy(update={"gate": GateSettings(**gates[arm])})
    return arm_settings(context, "always") if arm == "always" else full


def gate_arm(arm: str, source: str, cases: Sequence[AblationCase], found: Sequence[Timed], seed: int) -> list[Figure]:
    """Precision, recall, F1, share of cases researched, and time."""
    name = f"ica_rag_{arm}.{source}"
    read = [read_of(timed.answer).among(case.documents) for case, timed in zip(cases, found, strict=True)]
    return [*arm_figures(name, cases, read, seed), *_times(name, found, seed)]


def exam_arm(arm: str, rows: Sequence[ExamQuestion], found: Sequence[Timed], seed: int) -> list[Figure]:
    """Accuracy, with an abstention as wrong, abstention, and time."""
    name = f"medrgag_{arm}.exam"
    labels = [label_of(timed.answer) for timed in found]
    return [
        *share(f"{name}.accuracy", [label == row.answer for row, label in zip(rows, labels, strict=True)]),
        *share(f"{name}.abstained", [label is None for label in labels]),
        *_times(name, found, seed),
    ]


def _gates(context: TaskContext) -> list[Figure]:
    from agent.icd10 import open_linker
    from agent.knowledge_graph import STARTER_GRAPH
    from agent.sessions import Home
    from tools.knowledge_graph.loader import read_graph

    graph = read_graph(STARTER_GRAPH)
    codes = open_linker(context.settings, Home(context.settings.home).prepare(), "strict", None).codes
    sources = {"agentclinic": clinic_cases(context, graph, codes), "ddxplus": ddxplus_cases(context, graph)}
    took: dict[tuple[str, str], list[float]] = {}
    out: list[Figure] = []
    questions: Questions = {source: [(case.text, {}) for case in cases] for source, cases in sources.items()}
    _asked(context, gate_settings(context, "always"), questions)
    for arm in GATES:
        found = _asked(context, gate_settings(context, arm), questions)
        for source, cases in sources.items():
            out += gate_arm(arm, source, cases, found[source], context.seed)
            took[arm, source] = [timed.cpu_ms for timed in found[source]]
    for arm, source in took:
        name = f"ica_rag_{arm}.{source}.percent_of_always"
        out += paired_ratio(name, took[arm, source], took["always", source], context.seed) if arm != "always" else []
    return out


def _medrgag(context: TaskContext) -> list[Figure]:
    every = [row for rows in read_exam(context.data).values() for row in rows]
    rows = context.sample_of(every, min(QUESTIONS, context.limit))
    out: list[Figure] = []
    questions = [(r.question, r.options) for r in rows]
    _asked(context, _configured(context, MEDRGAG["full"]), {"medrgag": questions})
    for arm, name in MEDRGAG.items():
        found = _asked(context, _configured(context, name), {f"medrgag {arm}": questions})
        out += exam_arm(arm, rows, found[f"medrgag {arm}"], context.seed)
    return out


def _configured(context: TaskContext, name: str) -> Settings:
    from agent.settings import load_settings

    literature = {"live": "off", "mirror": None}
    return load_settings(config=name, home=context.settings.home, model="", literature=literature).without_models()


def _asked(context: TaskContext, settings: Settings, questions: Questions) -> dict[str, list[Timed]]:
    """Every question of an arm, timed, after one that warms up."""
    from evals.agent_runs import asking

    out: dict[str, list[Timed]] = {}
    with asking(settings, keep=False) as ask:
        for name, rows in questions.items():
            for text, options in rows[:1]:
                ask(text, options)
            out[name] = [_timed(ask, text, options) for text, options in context.tick(rows, name, len(rows))]
    return out


def _timed(ask: Ask, text: str, options: Mapping[str, str]) -> Timed:
    started, spent = time.perf_counter(), time.process_time()
    answer = ask(text, options)
    return Timed(answer, 1000 * (time.perf_counter() - started), 1000 * (time.process_time() - spent))


def _times(name: str, found: Sequence[Timed], seed: int) -> list[Figure]:
    took = [timed.ms for timed in found]
    spent = mean(f"{name}.cpu_ms", [timed.cpu_ms for timed in found], seed)
    return [*mean(f"{name}.ms", took, seed), *quantile(f"{name}.p95_ms", took, SLOW, seed), *spent]


def _tell_models(context: TaskContext) -> None:
    """The arms of both methods that need a language model."""
    from agent.configurations.loading import configurations

    for method in ("ica-rag", "medrgag"):
        for name, arm in configurations()[method].arms.items():
            if arm.needs:
                context.not_run[f"{method}:{name}"] = f"needs {' and '.join(arm.needs)}"


TASK = Task(
    name="costs",
    what="ICA-RAG's gates and MedRGAG's arms without a model: what each gives beside the time that it takes",
    inputs=(CASES, TEXTS, CODES, EXAM),
    expected="8 minutes",
    limit=50,
    run=run,
)
