"""The commands that `evals` adds to the command line, through the entry point group ``anamnesis.commands``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agent.cli.app import COMMANDS, DEVELOPMENT, EVERYBODY, MOVED, Entry
from evals import agent_commands, data_commands
from evals.replay.commands import replay


def register(app: typer.Typer) -> None:
    """Add the commands to the table; each is imported when it is called."""
    del app
    COMMANDS["eval"] = Entry(DEVELOPMENT, "evals.commands", "Run evaluations, compare and look at them.", "evaluations")
    COMMANDS["dev bench"] = Entry(
        EVERYBODY, "evals.bench.commands", "Measure speed and memory of this installation, and of parts."
    )
    COMMANDS["dev gate"] = Entry(
        EVERYBODY, "evals.training.gate", "The completeness gate: annotate cases, train on them."
    )
    COMMANDS["dev reader"] = Entry(
        EVERYBODY, "evals.reader_commands", "The trained reader: what a sentence says of a question."
    )
    MOVED.update({name: f"dev {name}" for name in ("bench", "gate", "reader")})


def calibrate(
    data: Annotated[Path, typer.Option(help="The folder with the data of the evaluations.")],
    out: Annotated[Path, typer.Option(help="The folder to write calibrated.json and whole_input.json into.")],
) -> None:
    """Fit the completeness gate again on all cases of `completeness` (5 minutes, 15 the first time)."""
    from evals.training.completeness_gate import ship

    for line in ship(data, out):
        typer.echo(line)


def calibrate_outside(
    data: Annotated[Path, typer.Option(help="The folder with the data of the evaluations.")],
) -> None:
    """Fit again where the starter graph's knowledge ends, on the half of the cases kept for it (5 minutes)."""
    from evals.training.edge import ship

    typer.echo(ship(data))


def ledger(
    reports: Annotated[Path | None, typer.Option(help="The folder of the reports; without it those shipped.")] = None,
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("REPRODUCTION.md"),
) -> None:
    """Write every published figure beside ours, from the reports of our evaluations."""
    from evals.ledger.page import REPORTS, Reports, published, reproduction
    from tools.files import write_atomic

    write_atomic(out, reproduction(published(), Reports(reports or REPORTS)).encode())
    typer.echo(f"{out} is written.")


def lost(
    what: Annotated[str, typer.Argument(help="A log (.eval), or a task with known gold, which is then run.")],
    data: Annotated[Path | None, typer.Option(help="The folder with the data, for a task.")] = None,
    limit: Annotated[int | None, typer.Option(help="Most rows a setting, for a task.")] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write every lost sample to this file.")] = None,
) -> None:
    """Group failed samples by the node that lost the answer."""
    from evals.losses import show_losses

    show_losses(what, data, limit, json_file)


def list_tasks() -> None:
    """List the evaluations: what each measures, and its expected time on two cores, warm."""
    from rich.table import Table

    from agent.cli.wide import WideConsole
    from evals.tasks.registry import TASKS

    table = Table("name", "what", "expected time", "limit", "log")
    for task in TASKS.values():
        table.add_row(task.name, task.what, task.expected, str(task.limit), "yes" if task.asks else "")
    WideConsole().print(table)


evaluations = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
for _command in (list_tasks, calibrate, calibrate_outside, ledger, lost):
    evaluations.command("list" if _command is list_tasks else None)(_command)
agent_commands.register(evaluations)
data_commands.register(evaluations)
evaluations.add_typer(
    replay, name="replay", help="Play a model by hand or record one, and compare its answers with ours."
)
