"""`anamnesis questions`: the index of answered questions."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

import typer

from agent.assembly import build as set_up
from agent.assembly import open_encoder
from agent.cli.bars import bars
from agent.cli.console import JsonOption, QuietOption, group, open_home, print_json, say, tell, write_text
from agent.models import open_models
from agent.questions import STARTER, build_questions, documents_of, folder_of, make_testset
from agent.sessions import Home
from agent.settings import Settings
from prompts.errors import InputError
from prompts.language_model import LanguageModels
from tools.embedding_cache import CachedEncoder
from tools.files import named_file
from tools.questions import stored
from tools.questions.contract import QuestionsReport
from tools.questions.index import open_questions
from tools.questions.learning import read, review_file
from tools.readers.contract import Problem

SHOWN = 20  # ours: problems that are named

questions = group()
CollectionArgument = Annotated[
    str, typer.Argument(help="starter, own (your documents), or a file or folder that `library add` reads.")
]
WriterOption = Annotated[
    Literal["local", "model"],
    typer.Option(help="By the documents' own words, or by the language model of ANAMNESIS_MODEL."),
]


@questions.command()
def build(
    collection: CollectionArgument,
    writer: WriterOption = "local",
    per_document: Annotated[int | None, typer.Option(min=1, max=200, help="Questions written for a document.")] = None,
    matrix: Annotated[
        Literal["vanilla", "thresholded", "completed_random", "completed_thresholded", "full"] | None,
        typer.Option(help="Which further documents of a question are judged."),
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Write questions for each document, keep those that it answers, and index them; when stopped, run it again."""
    with _opened(collection) as (settings, home, encoder):
        models = _models(settings, home, writer)
        documents, problems = documents_of(home, collection, encoder)
        chosen = settings.question_index
        if per_document is not None:
            chosen = chosen.model_copy(update={"per_document": per_document})
        if matrix is not None:
            chosen = chosen.model_copy(update={"matrix": chosen.matrix.model_copy(update={"form": matrix})})
        settings = settings.model_copy(update={"question_index": chosen})
        with bars(show=not quiet) as progress:
            report = asyncio.run(build_questions(settings, home, collection, documents, encoder, models, progress))
    if as_json:
        print_json({**report.model_dump(), "problems": [p.model_dump() for p in problems]})
    else:
        _tell(report, problems)


@questions.command()
def status(collection: CollectionArgument = "starter", as_json: JsonOption = False) -> None:
    """Show what the last build of a collection reported."""
    _, home = open_home()
    manifest = stored.read_report(folder_of(home, collection))
    if as_json:
        print_json(manifest.model_dump())
        return
    tell(f"{manifest.count} questions, built {manifest.built} with {manifest.encoder}")
    _tell(manifest.report, [])


@questions.command()
def search(
    question: Annotated[str, typer.Argument(help="A question; - reads it from standard input.")],
    collection: Annotated[str, typer.Option(help="starter, own, or the file or folder it was built from.")] = "starter",
    limit: Annotated[int, typer.Option(min=1, max=100, help="Documents shown.")] = 5,
    as_json: JsonOption = False,
) -> None:
    """Show the nearest questions of a built index, with their documents."""
    text = sys.stdin.read() if question == "-" else question
    if not text.strip():
        raise InputError("The question is empty.", "Give a question.")
    with _opened(collection) as (_, home, encoder):
        hits = open_questions(folder_of(home, collection), encoder).search(text, limit)
    if as_json:
        print_json([hit.model_dump() for hit in hits])
        return
    for hit in hits:
        tell(f"{hit.similarity:.2f}  {hit.document}  {hit.question.text}")
    if not hits:
        tell("No question is near.")


@questions.command()
def learn(as_json: JsonOption = False) -> None:
    """Show the questions noted from use, and the file in which you accept or delete them."""
    settings, home = open_home()
    file = review_file(home.root)
    notes = read(file)
    if as_json:
        print_json({"file": str(file), "on": settings.questions.learn, "notes": [n.model_dump() for n in notes]})
        return
    if not settings.questions.learn:
        tell("Learning is off: ANAMNESIS_QUESTIONS__LEARN=true notes questions of evidence.")
    for note in notes:
        mark = "accepted" if note.accept else "to review"
        tell(f"{mark:>9}  {note.asked}x  {note.question}  (as: {note.like})")
    tell(f"{len(notes)} questions in {file}")


@questions.command("testset")
def write_testset(
    collection: CollectionArgument,
    out: Annotated[Path, typer.Option(help="The file to write (JSON lines).", callback=named_file)],
    writer: WriterOption = "local",
    count: Annotated[int, typer.Option(min=1, max=100_000, help="Questions of each kind, at most.")] = 100,
    seed: Annotated[int, typer.Option(help="Of the draw.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Write reworded questions, and ones that the index did not foresee, to test a search with."""
    with _opened(collection) as (settings, home, encoder):
        models = _models(settings, home, writer)
        documents, _ = documents_of(home, collection, encoder)
        folder = folder_of(home, collection)
        made = asyncio.run(make_testset(folder, documents, encoder, models, count, seed))
    write_text(out, "".join(f"{probe.model_dump_json()}\n" for found in made.values() for probe in found.questions))
    told = {
        kind: {
            "kept": len(found.questions),
            "written": found.written,
            "leaked": found.leaked,
            "unanswered": found.unanswered,
        }
        for kind, found in made.items()
    }
    if as_json:
        print_json(told)
        return
    for kind, row in told.items():
        tell(
            f"{kind}: {row['kept']} of {row['written']} written are kept; {row['leaked']} stood word for word in the "
            f"index or the document, {row['unanswered']} were not found answered."
        )


def _models(settings: Settings, home: Home, writer: str) -> LanguageModels | None:
    """The models, where they were asked for; raises InputError where none is named for this."""
    if writer == "local":
        return None
    models = open_models(settings, home)
    if models is None or not models.judged_by_model("questions"):
        raise InputError("No language model is set to write questions.", "Set ANAMNESIS_MODEL, or --writer local.")
    return models


@contextlib.contextmanager
def _opened(collection: str) -> Iterator[tuple[Settings, Home, CachedEncoder]]:
    """The data folder, set up first where the starter library is asked for and was never built."""
    settings, home = open_home()
    if collection == STARTER and not (home.indexes / "library").exists():
        set_up(settings, home, rebuild=False, say=say, everything=False)
    with contextlib.closing(open_encoder(settings, home)) as encoder:
        yield settings, home, encoder


def _tell(report: QuestionsReport, problems: list[Problem]) -> None:
    for problem in problems[:SHOWN]:
        tell(f"not read: {problem.where}: {problem.what} {problem.advice}".rstrip())
    if len(problems) > SHOWN:
        tell(f"... and {len(problems) - SHOWN} more")
    tell(
        f"{report.written} questions written for {report.documents} documents by {report.writer}, "
        f"{report.kept} found answered ({report.share_kept:.0%}) by {report.judge}, {report.merged} merged: "
        f"{report.questions} in the index, {report.coverage:.1f} a document. Diversity {report.diversity:.2f}."
    )
    near = {
        "question and its own document": report.nearness.question_own_document,
        "question and other documents": report.nearness.question_other_document,
        "two questions of one document": report.nearness.question_question_same_document,
        "questions of two documents": report.nearness.question_question_other_document,
    }
    for name, value in near.items():
        if value is not None:
            tell(f"  {value:.2f}  mean cosine, {name}")
    own = report.seconds - report.encoder_seconds
    taken = f"{report.reused} documents were written for before. " if report.reused else ""
    tell(f"{taken}{report.seconds:.1f} s, {own:.1f} s of them beyond the encoder's.")
    for warning in report.warnings:
        tell(f"Warning: {warning}")
