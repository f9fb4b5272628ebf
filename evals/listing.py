"""`anamnesis eval list`."""

from __future__ import annotations

from rich.table import Table

from agent.cli.wide import WideConsole
from evals.tasks.registry import TASKS


def print_tasks() -> None:
    """A table of every task: name, what it measures, how long it takes with the default limit, whether it has a log."""
    table = Table("name", "what", "expected time", "limit", "log")
    for task in TASKS.values():
        table.add_row(task.name, task.what, task.expected, str(task.limit), "yes" if task.asks else "")
    WideConsole().print(table)
