"""`anamnesis dev gate`: annotate cases for the completeness gate, and train its classifier of sentences.

Annotation and training over the agent's own graph, library and model.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from agent.assembly import build, open_encoder
from agent.cli.bars import bars
from agent.cli.console import QuietOption, group, open_home, say, tell, writing
from agent.icd10 import TABLE, chinese_names, open_linker
from agent.knowledge_graph import STARTER_GRAPH, open_graph
from agent.sessions import Home
from agent.settings import Settings
from evals.training.gate_annotation import (
    Diagnoser,
    annotate_all,
    corrected,
    counted,
    read_annotated,
    read_cases,
    read_review,
    write_annotated,
    write_review,
)
from evals.training.gate_diagnosers import DiagnoserByGraph, DiagnoserByModel, DiagnoserKept, Held, ReferenceByNames
from evals.training.gate_labellers import EPOCHS, Training, fine_tune, rows_of, save_trained
from graphs.completeness.labellers import CARD, Card
from prompts.errors import InputError
from prompts.language_model import LanguageModel
from tools.contract import Differential
from tools.encoders import Encoder
from tools.files import named_file
from tools.icd10 import load_icd10
from tools.knowledge_graph.loader import content_hash
from tools.knowledge_graph.lookup import KnowledgeGraph
from tools.library.collection import Library
from tools.library.joined import JoinedLibrary
from tools.text.language import language_of

By = Literal["graph", "model"]
KEPT = "diagnoses.sqlite"  # below the cache: diagnoses of annotation by content


@contextmanager
def annotating(settings: Settings, home: Home, by: By, jobs: int) -> Iterator[tuple[DiagnoserKept, ReferenceByNames]]:
    """Who diagnoses, with its diagnoses kept in the data folder, and the references.

    Raises:
        InputError: ``model`` without a language model that may judge the gate.
        DataError: the library, the graph or the tables cannot be read.
    """
    diagnoser_by_model = _by_model(settings) if by == "model" else None
    encoder = open_ready(settings, home)
    graph = open_graph(settings, home, encoder)
    diagnoser = diagnoser_by_model or graph_diagnoser(settings, graph, encoder)
    kept = DiagnoserKept(diagnoser, home.cache / "gate" / KEPT, jobs)
    try:
        yield kept, open_reference(settings, home, graph, encoder)
    finally:
        kept.close()


def open_ready(settings: Settings, home: Home) -> Encoder:
    """The encoder of the settings; what was never built is built first."""
    if not (home.indexes / "library").exists():
        build(settings, home, rebuild=False, say=say)
    return open_encoder(settings, home)


def graph_diagnoser(settings: Settings, graph: KnowledgeGraph, encoder: Encoder) -> DiagnoserByGraph:
    """The graph as diagnoser. Raises InputError where the graph is looked up by the published votes."""
    if settings.kg_mode == "paper":
        raise InputError("The graph ranks by votes (ANAMNESIS_KG_MODE=paper).", "Leave it out to annotate.")
    return DiagnoserByGraph(graph, f"{content_hash(settings.kg_graph or STARTER_GRAPH)} {encoder.name}")


def open_reference(settings: Settings, home: Home, graph: KnowledgeGraph, encoder: Encoder) -> ReferenceByNames:
    """References over the names of the graph and of ICD-10, and all documents of the library."""
    linker = open_linker(settings, home, "strict", chinese_names(settings, home))
    library = JoinedLibrary(Library.open(home.indexes / "library", encoder), home.library, encoder)
    return ReferenceByNames(graph.graph, load_icd10(home.indexes / TABLE), linker.codes, documents(library))


def documents(library: JoinedLibrary) -> list[Held]:
    """Every document of the starter collection and of the user."""
    shelf = library.shelf
    own = [shelf.document(listed.id) for listed in shelf.documents()] if shelf is not None else []
    return [Held(d.id.partition(":")[2], d.title, d.text) for d in (*library.starter.documents, *own)]


def first_looks(settings: Settings, home: Home, encoder: Encoder) -> Callable[[str], Differential]:
    """The graph's first look-up of a text, as the gate is given it."""
    graph = open_graph(settings, home, encoder)
    return lambda text: graph.look_up(text, language_of(text))


def _by_model(settings: Settings) -> Diagnoser:
    model = settings.language_model
    if model is None or model.judge("gate") == "local":  # only what `doctor` lists is called
        advice = "Set ANAMNESIS_MODEL and ANAMNESIS_ROLES__GATE__JUDGE=model, or give --by graph."
        raise InputError("No language model is set to judge completeness.", advice)
    return DiagnoserByModel(LanguageModel(model, "gate"))


def backbone_of(path: Path | None) -> tuple[Path, str]:
    """Folder and name of the model that is fine-tuned; None for the embedded encoder's. Raises InputError for none."""
    from tools.encoders import MINILM, minilm_folder

    if path is None:
        return minilm_folder(), MINILM
    if not (path / "config.json").is_file():
        raise InputError(f"{path} holds no transformers model.", "Give a folder with config.json with --backbone.")
    return path, path.resolve().name


gate = group()


@gate.command()
def annotate(
    cases: Annotated[Path, typer.Argument(help="JSON lines with text and reference (or diagnosis), and an id.")],
    out: Annotated[
        Path, typer.Option(help="The file to write: the cases with a label for every sentence.", callback=named_file)
    ],
    by: Annotated[By, typer.Option(help="Who diagnoses: the graph, or ANAMNESIS_MODEL.")] = ("graph"),
    review: Annotated[
        Path | None, typer.Option(help="Write a table (CSV) for a person to go through.", callback=named_file)
    ] = None,
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
    annotated: Annotated[Path, typer.Argument(help="A file of `dev gate annotate`.")],
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
            folder, name = backbone_of(backbone)
            training = Training(folder, name, seed, epochs or EPOCHS, data, licence)
            with bars(show=not quiet) as advance:
                card = fine_tune(cases, out, training, partial(advance, "steps"))
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
