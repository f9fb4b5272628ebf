"""`anamnesis eval lost`: failed samples of a log, or of a run made now, grouped by the node that lost the answer."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from evals.asked import Reply
from evals.contract import Task
from evals.lost_by import KINDS, Event, Followed, Lost, gold_of, lost_by, table_of
from prompts.errors import InputError

Sample = tuple[str, str, str, Reply, list[Event]]  # id, group, target, reply, events of the last turn


def show_losses(what: str, data: Path | None, limit: int | None, json_file: Path | None) -> None:
    """Print the table and write it where asked.

    Args:
        what: a log (``.eval``) or the name of a task, which is then run plainly, without a model.
    """
    from tools.files import write_atomic

    if json_file is not None and json_file.is_dir():
        raise InputError(f"{json_file} is a folder.", "Give the name of a file with --json.")
    found = _of_log(Path(what)) if Path(what).suffix == ".eval" else _of_run(what, data, limit)
    print_losses(found)
    if json_file is not None:
        write_atomic(json_file, f"{found.model_dump_json(indent=2)}\n".encode())


def followed(task: str, samples: Iterable[Sample]) -> Followed:
    """Every sample with known gold, followed through its run."""
    known = right = 0
    lost: list[Lost] = []
    for name, group, target, reply, events in samples:
        gold = gold_of(task, group, target)
        if gold is None:
            continue
        known += 1
        loss = lost_by(gold, reply, events)
        if loss is None:
            right += 1
        else:
            lost.append(Lost(sample=name, group=group, **loss._asdict()))
    return Followed(task=task, samples=known, right=right, lost=tuple(lost))


def print_losses(found: Followed) -> None:
    """The table."""
    from rich.table import Table

    from agent.cli.wide import WideConsole

    title = f"{found.task}: {len(found.lost)} of {found.samples} samples with known gold lost their answer"
    if not found.lost:
        WideConsole().print(title)
        return
    table = Table("node", "how", title=title, title_justify="left")
    table.add_column("samples", justify="right")
    table.add_column("share", justify="right")
    table.add_column("which", overflow="fold")
    for node, how, n, named in table_of(found):
        table.add_row(node, how, str(n), f"{100 * n / len(found.lost):.0f} %", named)
    WideConsole().print(table)


def _of_log(path: Path) -> Followed:
    from evals.logged import check_installed

    check_installed()
    from evals.inspect.followed import samples_of

    if not path.is_file():
        raise InputError(f"There is no log {path}.", "`anamnesis eval run NAME --log FOLDER` writes one.")
    task, samples = samples_of(path)
    _check(task)
    return followed(task, samples)


def _of_run(name: str, data: Path | None, limit: int | None) -> Followed:
    from evals.runner import prepare
    from evals.tasks.registry import find_task

    task = find_task(name)
    _check(task.name)
    prepared = prepare(task, data, limit=limit, seed=0)
    return followed(task.name, _asked(task, prepared.context))


def _asked(task: Task, context: object) -> Iterable[Sample]:
    from evals.contract import TaskContext

    if task.asks is None or not isinstance(context, TaskContext):
        raise InputError(f"{task.name} does not ask the agent.", f"These do: {', '.join(KINDS)}.")
    items = [i for i in task.asks.items(context) if gold_of(task.name, i.group, i.target) is not None]
    with task.asks.opened(context.settings) as sittings:
        for item in context.tick(items, task.name, len(items)):
            held = sittings.hold(item)
            yield item.id, item.group, item.target, held.reply, list(held.events[-1])


def _check(task: str) -> None:
    if task not in KINDS:
        raise InputError(f"{task} knows no gold evidence to follow.", f"These do: {', '.join(KINDS)}.")
