"""Every task by its name: the modules of this folder that have one."""

from __future__ import annotations

from importlib import import_module

from evals.contract import Task
from prompts.errors import InputError

NAMES = """
    differential answer_quality answers cases completeness completeness_chinese coverage depth diagnosis
    encoders effects gate injection icd10 levels library_questions literature medevidence medicines medrgag
    methods own_documents outside privacy qb_rag questions report_text segmentation trust understanding verdicts
""".split()
TASKS: dict[str, Task] = {name: import_module(f"evals.tasks.{name}").TASK for name in NAMES}


def find_task(name: str) -> Task:
    """The task of this name; raises InputError that names the others."""
    task = TASKS.get(name)
    if task is None:
        raise InputError(f"There is no evaluation {name!r}.", f"These are there: {', '.join(TASKS)}.")
    return task
