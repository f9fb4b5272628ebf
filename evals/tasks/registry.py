"""Every task by its name."""

from __future__ import annotations

from evals.contract import Task
from evals.tasks import (
    answer_quality,
    answers,
    cases,
    completeness,
    completeness_chinese,
    costs,
    coverage,
    depth,
    diagnosis,
    differential,
    effects,
    encoders,
    gate,
    icd10,
    injection,
    levels,
    library,
    library_questions,
    literature,
    medevidence,
    medrgag,
    mirror,
    outside,
    own_documents,
    privacy,
    questions,
    report_text,
    segmentation,
    trust,
    understanding,
    verdicts,
)
from prompts.errors import InputError

TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        differential.TASK,
        answer_quality.TASK,
        answers.TASK,
        cases.TASK,
        completeness.TASK,
        completeness_chinese.TASK,
        costs.TASK,
        coverage.TASK,
        depth.TASK,
        diagnosis.TASK,
        encoders.TASK,
        effects.TASK,
        gate.TASK,
        injection.TASK,
        icd10.TASK,
        levels.TASK,
        library.TASK,
        library_questions.TASK,
        literature.TASK,
        medevidence.TASK,
        medrgag.TASK,
        mirror.TASK,
        own_documents.TASK,
        outside.TASK,
        privacy.TASK,
        questions.TASK,
        report_text.TASK,
        segmentation.TASK,
        trust.TASK,
        understanding.TASK,
        verdicts.TASK,
    )
}


def find_task(name: str) -> Task:
    """The task of this name; raises InputError that names the others."""
    task = TASKS.get(name)
    if task is None:
        raise InputError(f"There is no evaluation {name!r}.", f"These are there: {', '.join(TASKS)}.")
    return task
