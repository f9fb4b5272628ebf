"""`anamnesis index`: collections of publications built at scale."""

from __future__ import annotations

import contextlib
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from textwrap import shorten
from typing import Any, NamedTuple

from rich.markup import escape
from rich.table import Table

from agent.assembly import open_encoder
from agent.cli.embeddings import Progress
from agent.cli.render import console, progress_console
from agent.corpus import EngineName, backend, build_collection, corpora_folder, delete_collection
from agent.sessions import Home
from agent.settings import Settings, load_settings, silence_telemetry
from prompts.errors import DataError, InputError
from tools.corpus.collection import Corpus
from tools.corpus.contract import Counts, Method
from tools.corpus.folder import Folder, names
from tools.corpus.parts import finished
from tools.indexes.contract import Filter
from tools.library.contract import LibraryHit

WIDTH = 110  # ours: characters of a passage that is shown
DATE = re.compile(r"\d{4}(-\d\d(-\d\d)?)?")


class Wanted(NamedTuple):
    """What the command line asks to be built."""

    name: str
    paths: Sequence[Path]
    engine: EngineName
    workers: int | None
    method: Method
    afresh: bool
    verify: bool


def build_and_tell(wanted: Wanted, *, as_json: bool, quiet: bool) -> int:
    """Build and print what became of it; returns 0, or 1 when some records could not be read."""
    settings = _settings()
    report = build_collection(
        settings,
        wanted.name,
        wanted.paths,
        engine=wanted.engine,
        workers=wanted.workers,
        method=wanted.method,
        afresh=wanted.afresh,
        verify=wanted.verify,
        progress=None if quiet else Progress(lambda line: progress_console().print(line, markup=False)),
    )
    if as_json:
        _print(report.model_dump(mode="json"))
    else:
        out = console()
        out.print(f"{wanted.name}: {report.parts} parts, {report.made} of them made now", markup=False)
        out.print(_in_words(report.counts), markup=False)
        for problem in report.problems:
            out.print(f"{problem.where}: {problem.what} {problem.advice}", markup=False)
        if report.counts.unread > len(report.problems):
            out.print(f"... {report.counts.unread:,} records in all could not be read.", markup=False)
        out.print(f"Set ANAMNESIS_CORPUS={wanted.name} to search it in answers.", markup=False)
    return int(report.counts.unread > 0)


def show_status(name: str, *, as_json: bool) -> None:
    """Print the collections, or one of them."""
    root = corpora_folder(_settings())
    held = names(root)
    if name and name not in held:
        raise InputError(f"There is no collection {name}.", "`anamnesis index status` lists them.")
    rows = [_status(Folder(root, one)) for one in ([name] if name else held)]
    if as_json:
        _print(rows)
        return
    out = console()
    if not rows:
        out.print("No collection was built. `anamnesis index build FILES --name NAME` builds one.", markup=False)
    for row in rows:
        out.print(f"{row['name']}: {row['state']}", markup=False)
        if row["counts"]:
            out.print(f"  {_in_words(Counts(**row['counts']))}", markup=False)
            out.print(f"  {row['files']} files, {row['encoder']}, {row['method']}, built {row['built']}", markup=False)


def search_and_show(name: str, query: str, limit: int, since: str, until: str, *, as_json: bool) -> None:
    """Search a collection and print its documents, each with its best passage."""
    settings = _settings()
    with contextlib.closing(open_encoder(settings, Home(settings.home).prepare())) as encoder:
        corpus = Corpus(corpora_folder(settings), name, encoder, backend(settings))
        where = Filter(since=_date(since), until=_date(until)) if since or until else None
        hits = corpus.search(query, limit, where, tool="index")
    if as_json:
        _print([_as_data(hit) for hit in hits])
        return
    table = Table("Id", "Title", "Date", "Level", "Passage")
    for hit in hits:
        evidence = hit.evidence()
        cells = (evidence.id, evidence.title, evidence.date or "", evidence.level or "", shorten(evidence.text, WIDTH))
        table.add_row(*map(escape, cells))
    console().print(table if hits else "Nothing in the collection is near enough.")


def delete_and_tell(name: str) -> None:
    """Delete a collection; one that is not there is a mistake."""
    if not delete_collection(_settings(), name):
        raise InputError(f"There is no collection {name}.", "`anamnesis index status` lists them.")
    console().print(f"{name} is deleted.", markup=False)


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


def _settings() -> Settings:
    settings = load_settings()
    silence_telemetry(settings)
    Home(settings.home).prepare()
    return settings


def _print(value: object) -> None:
    sys.stdout.write(json.dumps(value, indent=1, ensure_ascii=False) + "\n")
