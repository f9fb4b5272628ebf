"""The commands that run an evaluation, compare two runs, show logs, and hold the smoke set to what is expected."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(evaluations: typer.Typer) -> None:
    """Add the commands."""
    evaluations.command("run")(run_one)
    evaluations.command("judges")(judges)
    evaluations.command("compare")(compare)
    evaluations.command("view")(view)
    evaluations.command("smoke")(smoke)


def run_one(
    name: Annotated[str, typer.Argument(help="The evaluation.")],
    data: Annotated[Path | None, typer.Option(help="The folder with the data.")] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the report to this file.")] = None,
    limit: Annotated[int | None, typer.Option(help="Most rows a setting.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of samples and bootstraps.")] = 0,
    config: Annotated[str, typer.Option(help="A published configuration that answers, as medrgag:without-kads.")] = "",
    log: Annotated[
        Path | None, typer.Option(help="Write an Inspect log into this folder, the report beside it.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run that was cut off, by its log.")] = False,
    parallel: Annotated[int | None, typer.Option(min=1, help="Sessions at once, with a log (default 4).")] = None,
    by_model: Annotated[
        bool, typer.Option("--by-model", help="Let the language model of the settings judge, with a log.")
    ] = False,
) -> None:
    """Run an evaluation, print its figures and write them as JSON."""
    from evals.runner import prepare, print_report, run_task, write_report
    from evals.tasks.registry import TASKS, find_task
    from prompts.errors import InputError

    if json_file is not None and json_file.is_dir():
        raise InputError(f"{json_file} is a folder.", "Give the name of a file with --json.")
    task = find_task(name)
    if log is None:
        if resume or by_model or parallel is not None:
            raise InputError("--resume, --by-model and --parallel need a log.", "Give a folder with --log.")
        report = run_task(task, data, limit=limit, seed=seed, config=config)
    else:
        from evals.inspect import PARALLEL, Logging, check_installed

        if task.asks is None:
            logged = ", ".join(t.name for t in TASKS.values() if t.asks)
            raise InputError(
                f"{name} does not ask the agent: there is nothing to log.", f"Leave --log out. Logged: {logged}."
            )
        check_installed()
        from evals.inspect.running import run_logged

        prepared = prepare(task, data, limit=limit, seed=seed, config=config, by_model=by_model)
        report, place = run_logged(task, prepared, Logging(log, resume, parallel or PARALLEL))
        typer.echo(f"log: {place}", err=True)
    if json_file is not None:
        write_report(report, json_file)
    print_report(report)


def judges(
    labels: Annotated[Path | None, typer.Option(help="A file of JSON lines with people's labels.")] = None,
    data: Annotated[
        Path | None, typer.Option(help="A data folder: compare with the grades of LiveQA's answers.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=3, help="Most graded answers, drawn by the seed.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of samples and bootstraps.")] = 0,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the report to this file too.")] = None,
) -> None:
    """Compare the judges of answers with people: agreement, kappas, correlations."""
    from evals.judges.validation import validate
    from evals.runner import print_report, write_report
    from prompts.errors import InputError

    if labels is None and data is None:
        raise InputError("There is nothing to compare with.", "Give --labels FILE, --data DIR, or both.")
    report = validate(labels, data, limit, seed)
    if json_file is not None:
        write_report(report, json_file)
    print_report(report)


def compare(
    first: Annotated[Path, typer.Argument(help="A report, a log, or a folder of them (its newest).")],
    second: Annotated[Path, typer.Argument(help="What is held against it.")],
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the comparison to this file too.")] = None,
) -> None:
    """Compare two runs figure by figure, and sample by sample where both have a log."""
    from evals.comparison import print_comparison

    print_comparison(first, second, json_file)


def view(
    folder: Annotated[Path, typer.Argument(help="The folder of the logs.")],
    port: Annotated[int, typer.Option(min=1024, max=65535, help="The port on this machine.")] = 7575,
) -> None:
    """Show logs in Inspect's viewer, on this machine alone; Ctrl-C ends it."""
    from evals.inspect import show

    show(folder, port)


def smoke(
    update: Annotated[bool, typer.Option("--update", help="Write what is measured as what is expected.")] = False,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the figures to this file too.")] = None,
) -> None:
    """Run the smoke set (under three minutes) and hold its figures to what is expected."""
    from evals.smoke.gate import hold

    raise typer.Exit(hold(update=update, json_file=json_file))
