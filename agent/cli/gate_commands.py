"""The commands of `anamnesis gate`; what they do is imported when they run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from prompts.errors import InputError

gate = typer.Typer(
    help="The completeness gate: annotate cases, train the classifier that labels sentences.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]


@gate.command()
def annotate(
    cases: Annotated[Path, typer.Argument(help="JSON lines with text and reference (or diagnosis), and an id.")],
    out: Annotated[Path, typer.Option(help="The file to write: the cases with a label for every sentence.")],
    by: Annotated[Literal["graph", "model"], typer.Option(help="Who diagnoses: the graph, or ANAMNESIS_MODEL.")] = (
        "graph"
    ),
    review: Annotated[Path | None, typer.Option(help="Write a table (CSV) for a person to go through.")] = None,
    reviewed: Annotated[Path | None, typer.Option(help="Such a table with corrections, which win.")] = None,
    jobs: Annotated[int, typer.Option(min=1, max=64, help="Diagnoses at once.")] = 4,
    quiet: QuietOption = False,
) -> None:
    """Label sentences by masking (ICA-RAG); when stopped, run it again to go on."""
    from agent.cli.gate_training import Annotating, annotate_cases

    annotate_cases(Annotating(cases, out, by, review, reviewed, jobs, quiet))


@gate.command()
def train(
    annotated: Annotated[Path, typer.Argument(help="A file of `gate annotate`.")],
    out: Annotated[Path, typer.Option(help="The folder to write; a training that was stopped there goes on.")],
    head: Annotated[bool, typer.Option("--head", help="The light head on frozen vectors instead of a BERT.")] = False,
    backbone: Annotated[
        Path | None, typer.Option(help="A folder of a transformers model; else the embedded encoder.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of everything drawn.")] = 0,
    epochs: Annotated[
        int | None, typer.Option(min=1, max=100, help="At most, of a BERT (8); it stops when nothing is gained.")
    ] = None,
    data: Annotated[str, typer.Option(help="What the cases are, for the card.")] = "",
    licence: Annotated[str, typer.Option(help="Licence of the cases, for the card.")] = "",
    quiet: QuietOption = False,
) -> None:
    """Train the classifier of sentences, and write it with its card."""
    from agent.cli.gate_training import TrainingAsked, train_classifier

    if head and backbone is not None:
        raise InputError("--head and --backbone exclude each other.", "The head stands on the encoder of the settings.")
    if head and epochs is not None:
        raise InputError("--head and --epochs exclude each other.", "The head's steps are fixed; leave --epochs out.")
    train_classifier(TrainingAsked(annotated, out, head, backbone, seed, epochs, data, licence, quiet))
