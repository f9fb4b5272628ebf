"""`anamnesis questions`: the index of answered questions."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from agent.assembly import build as set_up
from agent.assembly import open_encoder
from agent.cli.bars import bars
from agent.cli.kg import open_home, print_json, writing
from agent.cli.render import console
from agent.models import open_models
from agent.questions import STARTER, build_questions, documents_of, folder_of, make_testset
from agent.sessions import Home
from agent.settings import Settings
from prompts.errors import InputError
from prompts.language_model import LanguageModels
from tools.embedding_cache import CachedEncoder
from tools.questions import stored
from tools.questions.contract import QuestionsReport
from tools.questions.index import open_questions
from tools.questions.learning import read, review_file
from tools.readers.contract import Problem

SHOWN = 20  # ours: problems that are named


class Building(NamedTuple):
    """What `questions build` was asked."""

    collection: str
    writer: str
    per_document: int | None
    matrix: str | None


class Asked(NamedTuple):
    """What `questions testset` was asked."""

    collection: str
    writer: str
    most: int
    seed: int


def build_index(asked: Building, *, as_json: bool, quiet: bool) -> None:
    """Build the index of a collection and print the report."""
    with _opened(asked.collection) as (settings, home, encoder):
        models = _models(settings, home, asked.writer)
        documents, problems = documents_of(home, asked.collection, encoder)
        chosen = settings.question_index
        if asked.per_document is not None:
            chosen = chosen.model_copy(update={"per_document": asked.per_document})
        if asked.matrix is not None:
            chosen = chosen.model_copy(update={"matrix": chosen.matrix.model_copy(update={"form": asked.matrix})})
        settings = settings.model_copy(update={"question_index": chosen})
        with bars(show=not quiet) as progress:
            report = asyncio.run(
                build_questions(settings, home, asked.collection, documents, encoder, models, progress)
            )
    if as_json:
        print_json({**report.model_dump(), "problems": [p.model_dump() for p in problems]})
    else:
        _tell(report, problems)


def show_status(collection: str, *, as_json: bool) -> None:
    """Print the report of the last build; raises DataError where nothing is built."""
    _, home = open_home()
    manifest = stored.read_report(folder_of(home, collection))
    if as_json:
        print_json(manifest.model_dump())
        return
    console().print(f"{manifest.count} questions, built {manifest.built} with {manifest.encoder}", markup=False)
    _tell(manifest.report, [])


def search_index(question: str, collection: str, limit: int, *, as_json: bool) -> None:
    """Print the nearest questions."""
    text = sys.stdin.read() if question == "-" else question
    if not text.strip():
        raise InputError("The question is empty.", "Give a question.")
    with _opened(collection) as (_, home, encoder):
        hits = open_questions(folder_of(home, collection), encoder).search(text, limit)
    if as_json:
        print_json([hit.model_dump() for hit in hits])
        return
    for hit in hits:
        console().print(f"{hit.similarity:.2f}  {hit.document}  {hit.question.text}", markup=False)
    if not hits:
        console().print("No question is near.", markup=False)


def show_learnt(*, as_json: bool) -> None:
    """Print the noted questions."""
    settings, home = open_home()
    file = review_file(home.root)
    notes = read(file)
    if as_json:
        print_json({"file": str(file), "on": settings.questions.learn, "notes": [n.model_dump() for n in notes]})
        return
    if not settings.questions.learn:
        console().print("Learning is off: ANAMNESIS_QUESTIONS__LEARN=true notes questions of evidence.", markup=False)
    for note in notes:
        mark = "accepted" if note.accept else "to review"
        console().print(f"{mark:>9}  {note.asked}x  {note.question}  (as: {note.like})", markup=False)
    console().print(f"{len(notes)} questions in {file}", markup=False)


def write_testset(asked: Asked, out: Path, *, as_json: bool) -> None:
    """Write a test set and tell how many questions were left out, and why."""
    with _opened(asked.collection) as (settings, home, encoder):
        models = _models(settings, home, asked.writer)
        documents, _ = documents_of(home, asked.collection, encoder)
        folder = folder_of(home, asked.collection)
        made = asyncio.run(make_testset(folder, documents, encoder, models, asked.most, asked.seed))
    with writing(out):
        lines = "".join(f"{probe.model_dump_json()}\n" for found in made.values() for probe in found.questions)
        out.write_text(lines, encoding="utf-8")
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
        console().print(
            f"{kind}: {row['kept']} of {row['written']} written are kept; {row['leaked']} stood word for word in the "
            f"index or the document, {row['unanswered']} were not found answered.",
            markup=False,
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
        set_up(settings, home, rebuild=False, say=lambda _: None)
    with contextlib.closing(open_encoder(settings, home)) as encoder:
        yield settings, home, encoder


def _tell(report: QuestionsReport, problems: list[Problem]) -> None:
    out = console()
    for problem in problems[:SHOWN]:
        out.print(f"not read: {problem.where}: {problem.what} {problem.advice}".rstrip(), markup=False)
    if len(problems) > SHOWN:
        out.print(f"... and {len(problems) - SHOWN} more", markup=False)
    out.print(
        f"{report.written} questions written for {report.documents} documents by {report.writer}, "
        f"{report.kept} found answered ({report.share_kept:.0%}) by {report.judge}, {report.merged} merged: "
        f"{report.questions} in the index, {report.coverage:.1f} a document. Diversity {report.diversity:.2f}.",
        markup=False,
    )
    near = {
        "question and its own document": report.nearness.question_own_document,
        "question and other documents": report.nearness.question_other_document,
        "two questions of one document": report.nearness.question_question_same_document,
        "questions of two documents": report.nearness.question_question_other_document,
    }
    for name, value in near.items():
        if value is not None:
            out.print(f"  {value:.2f}  mean cosine, {name}", markup=False)
    own = report.seconds - report.encoder_seconds
    taken = f"{report.reused} documents were written for before. " if report.reused else ""
    out.print(f"{taken}{report.seconds:.1f} s, {own:.1f} s of them beyond the encoder's.", markup=False)
    for warning in report.warnings:
        out.print(f"Warning: {warning}", markup=False)
