"""The commands that run an evaluation, compare two runs, show logs, and hold the smoke set to what is expected."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(evaluations: typer.Typer, benchmarks: typer.Typer) -> None:
    """Add the commands."""
    evaluations.command("run")(run_one)
    evaluations.command("compare")(compare)
    evaluations.command("view")(view)
    evaluations.command("smoke")(smoke)
    benchmarks.command("shelf")(shelf)
    benchmarks.command("server")(server)
    benchmarks.command("sizing")(sizing)


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
    from evals.tasks.registry import find_task
    from prompts.errors import InputError

    if json_file is not None and json_file.is_dir():
        raise InputError(f"{json_file} is a folder.", "Give the name of a file with --json.")
    task = find_task(name)
    if log is None:
        if resume or by_model or parallel is not None:
            raise InputError("--resume, --by-model and --parallel need a log.", "Give a folder with --log.")
        report = run_task(task, data, limit=limit, seed=seed, config=config)
    else:
        from evals.logged import PARALLEL, Logging, check_logged

        check_logged(task)
        from evals.inspect.running import run_logged

        prepared = prepare(task, data, limit=limit, seed=seed, config=config, by_model=by_model)
        report, place = run_logged(task, prepared, Logging(log, resume, parallel or PARALLEL))
        typer.echo(f"log: {place}", err=True)
    if json_file is not None:
        write_report(report, json_file)
    print_report(report)


def compare(
    first: Annotated[Path, typer.Argument(help="A report, a log, or a folder of them (its newest).")],
    second: Annotated[Path, typer.Argument(help="What is held against it.")],
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the comparison to this file too.")] = None,
) -> None:
    """Compare two runs figure by figure, and sample by sample where both have a log."""
    from evals.comparing.command import print_comparison

    print_comparison(first, second, json_file)


def view(
    folder: Annotated[Path, typer.Argument(help="The folder of the logs.")],
    port: Annotated[int, typer.Option(min=1024, max=65535, help="The port on this machine.")] = 7575,
) -> None:
    """Show logs in Inspect's viewer, on this machine alone; Ctrl-C ends it."""
    from evals.logged import show

    show(folder, port)


def smoke(
    update: Annotated[bool, typer.Option("--update", help="Write what is measured as what is expected.")] = False,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the figures to this file too.")] = None,
) -> None:
    """Run the smoke set (under three minutes) and hold its figures to what is expected."""
    from evals.smoke.gate import hold

    raise typer.Exit(hold(update=update, json_file=json_file))


def shelf(
    data: Annotated[Path, typer.Option(help="Folder of the evaluation data.")],
    documents: Annotated[int, typer.Option(min=1, help="How many abstracts.")] = 5000,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the figures to this file too.")] = None,
) -> None:
    """Ask over thousands of own documents and over none (5,000: ten minutes, most of them to add these)."""
    from evals.bench.shelf import bench_shelf

    bench_shelf(data, documents, json_file)


def server(
    only: Annotated[
        list[str] | None,
        typer.Option(
            help="same-case, access, overhead, kill, load, workers, rolling, rate, clients, soak or schemathesis; "
            "repeat it. Else all."
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A short form, to see that all of it runs.")] = False,
    database: Annotated[str, typer.Option(help="A PostgreSQL for the two workers; else one is started.")] = "",
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write figures and details to this file too.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the soak's memory by turns into this SVG file.")] = None,
) -> None:
    """Measure the server: clients, strangers, overhead, kills, load, two workers (an hour; --quick: ten minutes)."""
    from evals.bench.server.run import bench_server

    if not bench_server(only or [], json_file, database, plot, quick=quick):
        raise typer.Exit(1)


def sizing(
    measure: Annotated[
        bool, typer.Option("--measure", help="Measure turns and abstracts here (five minutes).")
    ] = False,
    turns: Annotated[int, typer.Option(min=0, help="Turns of each kind; 0 keeps what was measured before.")] = 15,
    abstracts: Annotated[int, typer.Option(min=100, help="Abstracts that are cut and embedded.")] = 400,
    data: Annotated[Path | None, typer.Option(help="The folder with the data, for real abstracts.")] = None,
    costs: Annotated[
        Path | None, typer.Option(help="Unit costs of an earlier --json, in place of those shipped.")
    ] = None,
    growth: Annotated[Path | None, typer.Option(help="A file of `bench growth --json`, for the index.")] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the unit costs to this file too.")] = None,
) -> None:
    """Work out what a site needs, for 1, 10, 100 turns a second and 1, 10, 38 million abstracts, from unit costs."""
    from evals.bench.sizing.run import bench_sizing

    bench_sizing(measure, turns, abstracts, data, costs, growth, json_file)
