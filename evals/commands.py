"""The commands that `evals` adds to the command line, through the entry point group ``anamnesis.commands``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from agent.cli.app import COMMANDS
from evals import agent_commands, data_commands, index_commands, reader_commands
from evals.judges import command as judging


class Added(StrEnum):
    """What `bench overhead` leaves out in the one way."""

    TRACE = "trace"
    TELEMETRY = "telemetry"
    LOG = "log"


def register(app: typer.Typer) -> None:
    """Add the commands."""
    benchmarks = typer.Typer(rich_markup_mode=None, invoke_without_command=True, callback=bench)
    benchmarks.command("vectors")(vectors)
    benchmarks.command("growth")(growth)
    benchmarks.command("mirror")(mirror)
    benchmarks.command("passages")(passages)
    benchmarks.command("queries")(queries)
    benchmarks.command("model")(model)
    benchmarks.command("faults")(faults)
    benchmarks.command("random-model")(random_model)
    benchmarks.command("overhead")(overhead)
    benchmarks.command("house")(house)
    evaluations = typer.Typer(help="List and run evaluations.", no_args_is_help=True, rich_markup_mode=None)
    evaluations.command("list")(list_tasks)
    evaluations.command("calibrate")(calibrate)
    evaluations.command("calibrate-outside")(calibrate_outside)
    evaluations.command("ledger")(ledger)
    evaluations.command("lost")(lost)
    agent_commands.register(evaluations, benchmarks)
    data_commands.register(evaluations)
    index_commands.register(benchmarks)
    judging.register(evaluations)
    reader_commands.register(app)
    COMMANDS["gate"] = (
        "evals.training.gate",
        "The completeness gate: annotate cases, train the classifier that labels sentences.",
    )
    app.add_typer(benchmarks, name="bench")
    app.add_typer(evaluations, name="eval")


def bench(
    context: typer.Context,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the figures to this file too.")] = None,
    rounds: Annotated[int, typer.Option(min=1, help="How often each question is asked.")] = 1,
) -> None:
    """Measure speed, memory and start-up of this installation (about two minutes)."""
    if context.invoked_subcommand is not None:
        return
    from evals.bench.run import run_bench

    run_bench(json_file, rounds)


def vectors(
    count: Annotated[int, typer.Option(min=1000, help="How many vectors.")] = 1_000_000,
    folder: Annotated[Path | None, typer.Option(help="Keep the index here; go on with an unfinished one.")] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the figures to this file too.")] = None,
) -> None:
    """Build and ask an index of correlated vectors (a million: about 20 minutes on two cores, 6 GB of disk)."""
    from evals.bench.vectors import bench_vectors

    bench_vectors(count, folder, json_file)


def growth(
    sizes: Annotated[list[int] | None, typer.Option("--size", min=1000, help="Passages; may be given again.")] = None,
    folder: Annotated[Path | None, typer.Option(help="Where the collections lie while they are measured.")] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the figures to this file too.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the figures as SVG to this file.")] = None,
    table: Annotated[Path | None, typer.Option(help="Write a Markdown table to this file.")] = None,
) -> None:
    """Build and ask made-up collections of growing size (up to a million: 40 minutes, 10 GB of disk meanwhile)."""
    from evals.bench.growth.run import SIZES, bench_growth

    bench_growth(sizes or SIZES, folder, json_file, plot, table)


def mirror(
    data: Annotated[Path, typer.Option(help="The folder with the data of the evaluations.")],
    records: Annotated[int, typer.Option(min=100, help="How many made-up records.")] = 1_000_000,
    folder: Annotated[Path | None, typer.Option(help="Keep the mirror here; it must be new.")] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the figures to this file too.")] = None,
) -> None:
    """Import made-up records into a mirror and ask it (a million: about 20 minutes on two cores, 8 GB of disk)."""
    from evals.bench.mirror import bench_mirror

    bench_mirror(records, data, folder, json_file)


def queries(
    minutes: Annotated[float, typer.Option(min=0.05, help="How long.")] = 10.0,
) -> None:
    """Fuzz the mirror's query language, guided by coverage (needs the extra `fuzz`)."""
    from evals.bench.fuzzing import bench_queries

    bench_queries(minutes)


def passages(
    data: Annotated[Path, typer.Option(help="The folder with the data of the evaluations.")],
    sample: Annotated[int, typer.Option(min=1, help="Full texts that are cut with the real encoder.")] = 20,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the figures to this file too.")] = None,
) -> None:
    """Cut every full text and abstract and check offsets; time and memory of SEOS; ICA-RAG's search (4 minutes)."""
    from evals.bench.passages import bench_passages

    bench_passages(data, sample, json_file)


def model(
    milliseconds: Annotated[int, typer.Option(min=0, help="What the server takes for a call.")] = 200,
    turns: Annotated[int, typer.Option(min=1, help="How many turns at once.")] = 64,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the figures to this file too.")] = None,
) -> None:
    """Measure the path by a language model at a server of this machine that plays every role (3 minutes)."""
    from evals.bench.model import bench_model

    bench_model(milliseconds, turns, json_file)


def faults(
    deadline: Annotated[float, typer.Option(min=0.1, help="Seconds that a judgement by the model may take.")] = 2.0,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write figures and turns to this file too.")] = None,
) -> None:
    """Strike every role with every fault of a model or its server (10 minutes)."""
    from evals.bench.faults import bench_faults

    bench_faults(deadline, json_file)


def random_model(
    questions: Annotated[int, typer.Option(min=1, max=50, help="How many of the benchmark's questions.")] = 50,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the figures to this file too.")] = None,
) -> None:
    """Answer with a model of random weights behind `transformers serve` (needs the extra `serve`; 10 minutes)."""
    from evals.bench.random_model import bench_random_model

    bench_random_model(questions, json_file)


def overhead(
    of: Annotated[Added, typer.Argument(help="What is left out in the one way.")],
    questions: Annotated[int, typer.Option(min=1, max=50, help="How many of the shipped questions.")] = 50,
    block: Annotated[int, typer.Option(min=1, help="Turns that are timed as one.")] = 10,
    rounds: Annotated[int, typer.Option(min=1, help="How often each way.")] = 3,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the figures to this file too.")] = None,
) -> None:
    """Measure what a trace, telemetry or an Inspect log adds to a local run, by turns in one process (5 minutes)."""
    from evals.bench.overhead import bench_overhead

    bench_overhead(of.value, questions, block, rounds, json_file)


def calibrate(
    data: Annotated[Path, typer.Option(help="The folder with the data of the evaluations.")],
    out: Annotated[Path, typer.Option(help="The folder to write calibrated.json and whole_input.json into.")],
) -> None:
    """Fit the completeness gate again on all cases of `completeness` (5 minutes, 15 the first time)."""
    from evals.completeness_shipping import ship

    for line in ship(data, out):
        typer.echo(line)


def calibrate_outside(
    data: Annotated[Path, typer.Option(help="The folder with the data of the evaluations.")],
) -> None:
    """Fit again where the starter graph's knowledge ends, on the half of the cases kept for it (5 minutes)."""
    from evals.outside_fitting import ship

    typer.echo(ship(data))


def ledger(
    reports: Annotated[Path | None, typer.Option(help="The folder of the reports; without it those shipped.")] = None,
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("REPRODUCTION.md"),
) -> None:
    """Write every published figure beside ours, from the reports of our evaluations."""
    from evals.ledger.reading import REPORTS, Reports, published
    from evals.ledger.writing import reproduction
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


def house() -> None:
    """Print how large the code is, and how much of it a turn runs through, as Markdown (from a checkout)."""
    from evals.bench.house import ROOT, table

    for line in table(ROOT):
        typer.echo(line)


def list_tasks() -> None:
    """List the evaluations: what each measures, and its expected time on two cores, warm."""
    from evals.listing import print_tasks

    print_tasks()
