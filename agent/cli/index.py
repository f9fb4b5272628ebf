"""`anamnesis index`: collections of publications built at scale."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from textwrap import shorten
from typing import Annotated, Any, Literal

import typer

from agent.assembly import open_encoder
from agent.cli.console import JsonOption, QuietOption, console, group, open_home, print_json, say, table, tell
from agent.cli.embeddings import Progress, embeddings
from agent.corpus import backend, build_collection, corpora_folder, delete_collection
from prompts.errors import DataError, InputError
from tools.corpus.collection import Corpus
from tools.corpus.contract import Counts
from tools.corpus.folder import Folder, names
from tools.corpus.parts import finished
from tools.indexes.contract import Filter
from tools.library.contract import LibraryHit

WIDTH = 110  # ours: characters of a passage that is shown
DATE = re.compile(r"\d{4}(-\d\d(-\d\d)?)?")

index = group()
index.add_typer(embeddings, name="embeddings", help="NCBI's published vectors of PubMed.")
NameArgument = Annotated[str, typer.Argument(help="The collection.")]


@index.command()
def build(
    source: Annotated[list[Path], typer.Argument(help="Files and folders of PubMed XML or JSON lines; .gz too.")],
    name: Annotated[str, typer.Option(help="The collection: a-z, 0-9, - and _.")],
    engine: Annotated[Literal["local", "ray"], typer.Option(help="On this machine, or on a Ray cluster.")] = "local",
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes that embed (local: 1; ray: one a processor).")
    ] = None,
    passages: Annotated[
        Literal["seos", "seos_paper", "whole"], typer.Option(help="How abstracts are cut; whole: not at all.")
    ] = "seos",
    afresh: Annotated[bool, typer.Option("--afresh", help="From another source or otherwise than before.")] = False,
    verify: Annotated[bool, typer.Option("--verify", help="Mend damaged parts, and make the index anew.")] = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Build a collection; when stopped, run it again to go on: no finished part is made twice."""
    settings, _ = open_home()
    report = build_collection(
        settings,
        name,
        source,
        engine=engine,
        workers=workers,
        method=passages,
        afresh=afresh,
        verify=verify,
        progress=None if quiet else Progress(say),
    )
    if as_json:
        print_json(report.model_dump(mode="json"))
    else:
        tell(f"{name}: {report.parts} parts, {report.made} of them made now")
        tell(_in_words(report.counts))
        for problem in report.problems:
            tell(f"{problem.where}: {problem.what} {problem.advice}")
        if report.counts.unread > len(report.problems):
            tell(f"... {report.counts.unread:,} records in all could not be read.")
        tell(f"Set ANAMNESIS_CORPUS={name} to search it in answers.")
    raise typer.Exit(int(report.counts.unread > 0))


@index.command()
def status(
    name: Annotated[str, typer.Argument(help="The collection; without it all are shown.")] = "",
    as_json: JsonOption = False,
) -> None:
    """Show collections: what they hold, and how far an unfinished build is."""
    root = corpora_folder(open_home()[0])
    held = names(root)
    if name and name not in held:
        raise InputError(f"There is no collection {name}.", "`anamnesis index status` lists them.")
    rows = [_status(Folder(root, one)) for one in ([name] if name else held)]
    if as_json:
        print_json(rows)
        return
    if not rows:
        tell("No collection was built. `anamnesis index build FILES --name NAME` builds one.")
    for row in rows:
        tell(f"{row['name']}: {row['state']}")
        if row["counts"]:
            tell(f"  {_in_words(Counts(**row['counts']))}")
            tell(f"  {row['files']} files, {row['encoder']}, {row['method']}, built {row['built']}")


@index.command()
def search(
    name: NameArgument,
    query: Annotated[str, typer.Argument(help="What to search for.")],
    limit: Annotated[int, typer.Option(min=1, max=200, help="Documents shown.")] = 10,
    since: Annotated[str, typer.Option(help="Published on or after this date (ISO).")] = "",
    until: Annotated[str, typer.Option(help="Published on or before this date (ISO).")] = "",
    as_json: JsonOption = False,
) -> None:
    """Search a finished collection by words and by meaning."""
    settings, home = open_home()
    with contextlib.closing(open_encoder(settings, home)) as encoder:
        corpus = Corpus(corpora_folder(settings), name, encoder, backend(settings))
        where = Filter(since=_date(since), until=_date(until)) if since or until else None
        hits = corpus.search(query, limit, where, tool="index")
    if as_json:
        print_json([_as_data(hit) for hit in hits])
        return
    found = [hit.evidence() for hit in hits]
    rows = [(e.id, e.title, e.date or "", e.level or "", shorten(e.text, WIDTH)) for e in found]
    none = "Nothing in the collection is near enough."
    console().print(table(("Id", "Title", "Date", "Level", "Passage"), rows) if rows else none)


@index.command()
def delete(name: NameArgument) -> None:
    """Delete a collection with its parts and its index."""
    if not delete_collection(open_home()[0], name):
        raise InputError(f"There is no collection {name}.", "`anamnesis index status` lists them.")
    tell(f"{name} is deleted.")


def _status(folder: Folder) -> dict[str, Any]:
    try:
        plan, standing = folder.plan(), folder.standing()
    except DataError as error:
        return {"name": folder.name, "state": str(error), "counts": {}}
    parts = finished(folder.parts)
    unfinished = plan is not None and (
        standing is None or plan.files != standing.files or plan.recipe != standing.recipe
    )
    state = "finished" if standing else "not finished"
    if unfinished:
        state += f"; a build is under way or was stopped, with {parts:,} parts on disk: run again, it goes on"
    return {
        "name": folder.name,
        "state": state,
        "parts": parts,
        "files": len(standing.files) if standing else 0,
        "counts": standing.counts.model_dump() if standing else {},
        "encoder": standing.recipe.encoder if standing else "",
        "method": standing.recipe.method if standing else "",
        "built": standing.built[:10] if standing else "",
    }


def _in_words(counts: Counts) -> str:
    said = [
        f"{counts.publications:,} publications ({counts.retracted:,} retracted, never found)",
        f"{counts.passages:,} passages",
        f"{counts.without_text:,} without an abstract",
        f"{counts.replaced:,} replaced or deleted later",
        f"{counts.unread:,} not read",
    ]
    return ", ".join(said)


def _date(text: str) -> str:
    """A date as it was given; InputError for what would be compared with dates and is none."""
    if text and not DATE.fullmatch(text):
        raise InputError(f"{text!r} is no date.", "Write it as 2026-01-31.")
    return text


def _as_data(hit: LibraryHit) -> dict[str, Any]:
    return {"score": hit.score, **hit.evidence().model_dump(mode="json")}
