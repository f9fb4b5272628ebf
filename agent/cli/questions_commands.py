"""The commands of `anamnesis questions`; what they do is imported when they run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

questions = typer.Typer(
    help="Questions that your documents answer, prepared offline: build, search, learn, test sets.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
CollectionArgument = Annotated[
    str, typer.Argument(help="starter, own (your documents), or a file or folder that `library add` reads.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]
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
    from agent.cli.questions import Building, build_index

    build_index(Building(collection, writer, per_document, matrix), as_json=as_json, quiet=quiet)


@questions.command()
def status(collection: CollectionArgument = "starter", as_json: JsonOption = False) -> None:
    """Show what the last build of a collection reported."""
    from agent.cli.questions import show_status

    show_status(collection, as_json=as_json)


@questions.command()
def search(
    question: Annotated[str, typer.Argument(help="A question; - reads it from standard input.")],
    collection: Annotated[str, typer.Option(help="starter, own, or the file or folder it was built from.")] = "starter",
    limit: Annotated[int, typer.Option(min=1, max=100, help="Documents shown.")] = 5,
    as_json: JsonOption = False,
) -> None:
    """Show the nearest questions of a built index, with their documents."""
    from agent.cli.questions import search_index

    search_index(question, collection, limit, as_json=as_json)


@questions.command()
def learn(as_json: JsonOption = False) -> None:
    """Show the questions noted from use, and the file in which you accept or delete them."""
    from agent.cli.questions import show_learnt

    show_learnt(as_json=as_json)


@questions.command("testset")
def make_testset(
    collection: CollectionArgument,
    out: Annotated[Path, typer.Option(help="The file to write (JSON lines).")],
    writer: WriterOption = "local",
    count: Annotated[int, typer.Option(min=1, max=100_000, help="Questions of each kind, at most.")] = 100,
    seed: Annotated[int, typer.Option(help="Of the draw.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Write reworded questions, and ones that the index did not foresee, to test a search with."""
    from agent.cli.questions import Asked, write_testset

    write_testset(Asked(collection, writer, count, seed), out, as_json=as_json)
