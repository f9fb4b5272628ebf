"""`anamnesis dev reader`: training the reader of sentences, and its figures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

DataOption = Annotated[Path, typer.Option(help="The folder with the evaluation data.")]


def train(
    data: DataOption,
    out: Annotated[Path, typer.Option(help="The weights to write; a checksum is written beside them.")],
    threads: Annotated[int, typer.Option(min=1, help="Of torch; one thread gives the same file again.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Of everything drawn.")] = 7,
    passes: Annotated[int | None, typer.Option(min=1, help="Over the data.")] = None,
    start: Annotated[Path | None, typer.Option(help="Weights to go on from.")] = None,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
) -> None:
    """Train on the fit part of the data and our own pairs (half an hour a pass on one core)."""
    from tools.reading.training import TrainingSettings, train_reader

    settings = TrainingSettings(threads=threads, seed=seed, device=device)
    if passes:
        settings = settings.model_copy(update={"passes": passes})
    train_reader(data, out, settings, tell=typer.echo, start=start)


def heads(
    data: DataOption,
    out: Annotated[Path | None, typer.Option(help="The weights to write; the shipped ones when not given.")] = None,
) -> None:
    """Train what sorts messages and sees emergencies, on our examples and the fit part of the data (a minute)."""
    from evals.training.message_heads import train_heads
    from tools.reading.messages import WEIGHTS

    train_heads(data, out or WEIGHTS, tell=typer.echo)


def findings(
    out: Annotated[Path | None, typer.Option(help="The weights to write; the shipped ones when not given.")] = None,
) -> None:
    """Train what hears findings in clauses, on our wordings and marked texts (six minutes)."""
    from evals.training.finding_head import train_findings
    from tools.knowledge_graph.spoken import WEIGHTS

    train_findings(out or WEIGHTS, tell=typer.echo)


def assertions(
    out: Annotated[Path | None, typer.Option(help="The weights to write; the shipped ones when not given.")] = None,
) -> None:
    """Train what tells the present from the denied, the past and other people's, on marked texts (four minutes)."""
    from evals.training.assertion_head import train_assertions
    from tools.reading.assertion import WEIGHTS

    train_assertions(out or WEIGHTS, tell=typer.echo)


def revisions(
    out: Annotated[Path | None, typer.Option(help="The weights to write; the shipped ones when not given.")] = None,
    held_out: Annotated[bool, typer.Option(help="Say first what writers not seen in training would get.")] = False,
) -> None:
    """Train what reads corrections of a case, on our examples (a quarter of an hour; twice that with --held-out)."""
    from evals.training.revision_head import train_revisions
    from tools.reading.replacing import WEIGHTS

    train_revisions(out or WEIGHTS, tell=typer.echo, held_out=held_out)


def evaluate(data: DataOption) -> None:
    """The figures of every head on the judge part of the data and of our own pairs: the evaluation `effects`."""
    from evals.runner import print_report, run_task
    from evals.tasks.registry import find_task

    print_report(run_task(find_task("effects"), data, limit=None, seed=0))


def read(
    question: Annotated[str, typer.Argument(help="A question or a claim.")],
    sentence: Annotated[str, typer.Argument(help="A sentence.")],
    title: Annotated[str, typer.Option(help="The title of its document.")] = "",
    before: Annotated[str, typer.Option(help="The sentence before it.")] = "",
) -> None:
    """What the reader makes of one sentence."""
    from tools.reading.contract import DIRECTIONS, ROLES, STANCES, Pair
    from tools.reading.reader import TrainedReader

    (reading,) = TrainedReader().read([Pair(question, sentence, title, before)])
    for names, values in ((STANCES, reading.stances), (DIRECTIONS, reading.directions), (ROLES, reading.roles)):
        told = sorted(zip(values, names, strict=True), reverse=True)
        typer.echo("  ".join(f"{name} {value:.2f}" for value, name in told))


reader = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
for _command in (train, heads, findings, assertions, revisions, evaluate, read):
    reader.command()(_command)
