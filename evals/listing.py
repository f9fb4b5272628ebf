"""`anamnesis eval list`."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from evals.tasks.registry import TASKS


def print_tasks() -> None:
    """A table of every task: name, what it measures, and how long it takes with the default limit."""
    table = Table("name", "what", "expected time", "limit")
    for task in TASKS.values():
        table.add_row(task.name, task.what, task.expected, str(task.limit))
    Console().print(table)
