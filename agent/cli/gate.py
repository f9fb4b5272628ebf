"""`anamnesis gate`: annotate cases for the completeness gate, and train its classifier of sentences."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from agent.cli.bars import bars
from agent.cli.console import QuietOption, group, open_home, tell, writing
from agent.gate import annotating, first_looks, open_ready
from agent.gate import backbone as named
from graphs.completeness.annotation_files import (
    corrected,
    read_annotated,
    read_cases,
    read_review,
    write_annotated,
    write_review,
)
from graphs.completeness.annotation_run import annotate_all, counted
from graphs.completeness.classifier_card import CARD, Card
from graphs.completeness.classifier_head_training import rows_of, save_trained
from graphs.completeness.classifier_training import EPOCHS, Training, train_bert
from prompts.errors import InputError

gate = group()


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
    given = read_cases(cases)
    corrections = read_review(reviewed) if reviewed is not None else []
    _distinct(cases, out, review, reviewed)
    settings, home = open_home()
    with (
        annotating(settings, home, by, jobs) as (diagnoser, reference),
        bars(show=not quiet) as advance,
    ):
        done = asyncio.run(annotate_all(given, diagnoser, reference, jobs=jobs, progress=partial(advance, "cases")))
        made = diagnoser.made
    if reviewed is not None:
        done = corrected(done, corrections, reviewed.name)
    with writing(out):
        write_annotated(out, done)
    told = counted(done)
    labels = ", ".join(f"{count} {label}" for label, count in told.labels.items())
    tell(f"{told.cases} cases in {out}, diagnosed right: {told.right}; units: {labels}")
    tell(f"{made} diagnoses were made, the others were known.")
    if told.undocumented:
        tell(f"Of {told.undocumented} cases the library has no document of the disease: all C.")
    if corrections:
        tell(f"{len(corrections)} labels are a person's.")
    if review is not None:
        with writing(review):
            write_review(review, done)
        tell(f"Correct labels in {review}, and give it with --reviewed.")


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
    if head and backbone is not None:
        raise InputError("--head and --backbone exclude each other.", "The head stands on the encoder of the settings.")
    if head and epochs is not None:
        raise InputError("--head and --epochs exclude each other.", "The head's steps are fixed; leave --epochs out.")
    cases = read_annotated(annotated)
    with writing(out):
        out.mkdir(parents=True, exist_ok=True, mode=0o700)
        if head:
            card = _head(cases, out, quiet=quiet, seed=seed, data=data, licence=licence)
        else:
            open_home()  # among its settings: no hub is asked
            folder, name = named(backbone)
            training = Training(folder, name, seed, epochs or EPOCHS, data, licence)
            with bars(show=not quiet) as advance:
                card = train_bert(cases, out, training, partial(advance, "steps"))
    told = {name: value for name, value in card.metrics.items() if name != "units"}
    told_of = f"{card.kind} of {card.backbone}, {card.units} units of {len(cases)} cases, seed {card.seed}"
    tell(f"{told_of}, in {out}")
    where = "cases left out in turn" if head else "cases that it never saw"
    tell(f"On {card.metrics['units']:.0f} units of {where}:")
    for name, value in told.items():
        tell(f"  {name:<20} {value:.3f}")
    use = "head" if head else "trained"
    tell(f"Use it: ANAMNESIS_GATE__LABELS={use} ANAMNESIS_GATE__CLASSIFIER={out}")


def _head(cases: Sequence[Any], out: Path, *, quiet: bool, **described: Any) -> Card:
    if (out / CARD).exists():
        raise InputError(f"{out} holds a classifier already.", "Name another folder with --out.")
    settings, home = open_home()
    encoder = open_ready(settings, home)
    look = first_looks(settings, home, encoder)
    with bars(show=not quiet) as advance:
        rows = rows_of(cases, look, encoder, partial(advance, "first look-ups"))
    return save_trained(cases, rows, encoder.name, out, **described)


def _distinct(*paths: Path | None) -> None:
    """No file that is read may be written over."""
    given = [path.resolve() for path in paths if path is not None]
    if len(set(given)) < len(given):
        raise InputError("One file is named twice.", "Name different files for what is read and what is written.")
