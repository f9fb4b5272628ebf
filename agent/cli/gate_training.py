"""`anamnesis gate annotate` and `train`."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import NamedTuple

from agent.cli.bars import bars
from agent.cli.kg import open_home, writing
from agent.cli.render import console
from agent.gate import By, annotating, backbone, first_looks, open_ready
from graphs.completeness.annotation_files import (
    corrected,
    read_annotated,
    read_cases,
    read_review,
    write_annotated,
    write_review,
)
from graphs.completeness.annotation_run import annotate_all, counted
from graphs.completeness.classifier_card import Card
from prompts.errors import InputError


class Annotating(NamedTuple):
    """What `gate annotate` was asked."""

    cases: Path
    out: Path
    by: By
    review: Path | None
    reviewed: Path | None
    jobs: int
    quiet: bool


class TrainingAsked(NamedTuple):
    """What `gate train` was asked."""

    annotated: Path
    out: Path
    head: bool
    backbone: Path | None
    seed: int
    epochs: int | None
    data: str
    licence: str
    quiet: bool


def annotate_cases(asked: Annotating) -> None:
    """Annotate, let a person's corrections win, and write."""
    cases = read_cases(asked.cases)
    corrections = read_review(asked.reviewed) if asked.reviewed is not None else []
    _distinct(asked)
    settings, home = open_home()
    with (
        annotating(settings, home, asked.by, asked.jobs) as (diagnoser, reference),
        bars(show=not asked.quiet) as advance,
    ):
        done = asyncio.run(
            annotate_all(cases, diagnoser, reference, jobs=asked.jobs, progress=partial(advance, "cases"))
        )
        made = diagnoser.made
    if asked.reviewed is not None:
        done = corrected(done, corrections, asked.reviewed.name)
    with writing(asked.out):
        write_annotated(asked.out, done)
    out = console()
    told = counted(done)
    labels = ", ".join(f"{count} {label}" for label, count in told.labels.items())
    out.print(f"{told.cases} cases in {asked.out}, diagnosed right: {told.right}; units: {labels}", markup=False)
    out.print(f"{made} diagnoses were made, the others were known.", markup=False)
    if told.undocumented:
        out.print(f"Of {told.undocumented} cases the library has no document of the disease: all C.", markup=False)
    if corrections:
        out.print(f"{len(corrections)} labels are a person's.", markup=False)
    if asked.review is not None:
        with writing(asked.review):
            write_review(asked.review, done)
        out.print(f"Correct labels in {asked.review}, and give it with --reviewed.", markup=False)


def train_classifier(asked: TrainingAsked) -> None:
    """Train a BERT or the light head, and print what it reached."""
    cases = read_annotated(asked.annotated)
    with writing(asked.out):
        asked.out.mkdir(parents=True, exist_ok=True, mode=0o700)
        card = _head(asked) if asked.head else _bert(asked)
    out = console()
    told = {name: value for name, value in card.metrics.items() if name != "units"}
    told_of = f"{card.kind} of {card.backbone}, {card.units} units of {len(cases)} cases, seed {card.seed}"
    out.print(f"{told_of}, in {asked.out}", markup=False)
    where = "cases left out in turn" if asked.head else "cases that it never saw"
    out.print(f"On {card.metrics['units']:.0f} units of {where}:", markup=False)
    for name, value in told.items():
        out.print(f"  {name:<20} {value:.3f}", markup=False)
    use = "head" if asked.head else "trained"
    out.print(f"Use it: ANAMNESIS_GATE__LABELS={use} ANAMNESIS_GATE__CLASSIFIER={asked.out}", markup=False)


def _head(asked: TrainingAsked) -> Card:
    from graphs.completeness.classifier_card import CARD
    from graphs.completeness.classifier_head_training import rows_of, save_trained

    cases = read_annotated(asked.annotated)
    if (asked.out / CARD).exists():
        raise InputError(f"{asked.out} holds a classifier already.", "Name another folder with --out.")
    settings, home = open_home()
    encoder = open_ready(settings, home)
    look = first_looks(settings, home, encoder)
    with bars(show=not asked.quiet) as advance:
        rows = rows_of(cases, look, encoder, partial(advance, "first look-ups"))
    return save_trained(cases, rows, encoder.name, asked.out, seed=asked.seed, data=asked.data, licence=asked.licence)


def _bert(asked: TrainingAsked) -> Card:
    from graphs.completeness.classifier_training import EPOCHS, Training, train_bert

    open_home()  # among its settings: no hub is asked
    folder, name = backbone(asked.backbone)
    training = Training(folder, name, asked.seed, asked.epochs or EPOCHS, asked.data, asked.licence)
    with bars(show=not asked.quiet) as advance:
        return train_bert(read_annotated(asked.annotated), asked.out, training, partial(advance, "steps"))


def _distinct(asked: Annotating) -> None:
    """No file that is read may be written over."""
    given = [path.resolve() for path in (asked.cases, asked.out, asked.review, asked.reviewed) if path is not None]
    if len(set(given)) < len(given):
        raise InputError("One file is named twice.", "Name different files for what is read and what is written.")
