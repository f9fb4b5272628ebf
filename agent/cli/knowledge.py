"""`anamnesis knowledge`: open sources, imported beside the starter library."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from agent.cli.bars import bars
from agent.cli.console import JsonOption, QuietOption, console, group, open_home, print_json, table, tell
from agent.knowledge import Imported, add, paths_of, read_imported, remove
from agent.settings import Settings
from prompts.errors import InputError
from tools.knowledge.catalogue import Entry, catalogue, entry_of
from tools.knowledge.staging import StagingReport

STOPPED = "anamnesis: Stopped. What is finished is kept; run the same again to go on.\n"
STANDS = "What was imported before stands unchanged: mend or leave out what could not be read, and run it again."

knowledge = group()
NameArgument = Annotated[str, typer.Argument(help="The source, as `anamnesis knowledge list` names it.")]


@knowledge.command("list")
def list_(as_json: JsonOption = False) -> None:
    """List the sources: what each is good for, on what terms, and what of it was imported."""
    settings, _ = open_home()
    rows = [(entry, read_imported(settings, entry.name)) for entry in catalogue().values()]
    if as_json:
        print_json([_as_data(*row) for row in rows])
        return
    columns = ("Name", "What", "Good for", "Licence", "Size", "Imported")
    cells = [(e.name, e.title, e.good_for, e.licence, e.size, _state(found)) for e, found in rows]
    console().print(table(columns, cells))


@knowledge.command()
def show(name: NameArgument, as_json: JsonOption = False) -> None:
    """Show all of a source: publisher, terms, how it is had, what its reader was tried on, what was imported."""
    settings, _ = open_home()
    entry, found = entry_of(name), read_imported(settings, name)
    if as_json:
        print_json(_as_data(entry, found))
        return
    had = [*entry.addresses, *([f"{entry.listing.address} (names its files)"] if entry.listing else [])]
    lines = {
        "what": entry.title,
        "publisher": entry.publisher,
        "licence": f"{entry.licence} ({entry.terms})",
        "renewed": entry.renewed,
        "size": entry.size,
        "good for": entry.good_for,
        "had": "; ".join(had) or "your own files, with --from",
        "tried": entry.tried,
        "caution": entry.caution,
        "imported": _state(found),
        "from": "; ".join(found.paths or ["downloaded"]) if found else "",
    }
    for label, value in lines.items():
        if value:
            tell(f"{label}: {value}")


@knowledge.command("add")
def add_(
    name: NameArgument,
    source: Annotated[
        list[Path] | None, typer.Option("--from", help="Your own files, folders and archives of it; may be repeated.")
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Import a source, from your own files or downloaded, in the place of what was imported of it before; what cannot
    be read is a row of the report."""
    settings, _ = open_home()
    _import(settings, entry_of(name), source or [], as_json=as_json, quiet=quiet)


@knowledge.command()
def update(name: NameArgument, as_json: JsonOption = False, quiet: QuietOption = False) -> None:
    """Import a source again from where it was imported; only what changed is embedded."""
    settings, _ = open_home()
    entry_of(name)
    _import(settings, entry_of(name), paths_of(settings, name), as_json=as_json, quiet=quiet)


@knowledge.command("remove")
def remove_(name: NameArgument) -> None:
    """Remove an imported source, with what was downloaded of it."""
    if not remove(open_home()[0], name):
        raise InputError(f"{name} was not imported.", "`anamnesis knowledge list` says what was.")
    tell(f"{name} is removed.")


def _import(settings: Settings, entry: Entry, paths: list[Path], *, as_json: bool, quiet: bool) -> None:
    stood = read_imported(settings, entry.name) is not None
    try:
        with bars(show=not quiet) as advance:
            report = add(settings, entry.name, paths, advance)
    except KeyboardInterrupt:
        sys.stderr.write(STOPPED)
        raise
    if as_json:
        print_json(report.model_dump(mode="json"))
    else:
        _print(entry, report, stood=stood)
    raise typer.Exit(2 if not report.records else int(bool(report.failed or report.wrong)))


def _print(entry: Entry, report: StagingReport, *, stood: bool) -> None:
    if report.rows:
        rows = [(r.file, r.where, r.what, r.advice) for r in report.rows]
        console().print(table(("File", "Where", "What is wrong", "What to do"), rows))
        if report.failed + report.wrong > len(rows):
            tell(f"... {report.failed + report.wrong:,} in all.")
    counts = f"{report.files:,} files read, {report.failed:,} not, {report.skipped:,} of other kinds passed over"
    tell(
        f"{counts}. {report.wrong:,} records are none; {report.joined:,} were joined with another of the same subject."
    )
    if report.records and not (stood and report.failed):
        tell(
            f"{entry.name}: {report.records:,} documents, {entry.licence}. They are searched from the next question on."
        )
        tell(entry.caution) if entry.caution else None
    elif stood:
        tell(STANDS)
    else:
        tell("Nothing was imported.")


def _state(found: Imported | None) -> str:
    return found.in_words().partition(": ")[2] if found else "no"


def _as_data(entry: Entry, found: Imported | None) -> dict[str, Any]:
    return {**entry.model_dump(mode="json"), "imported": found.model_dump(mode="json") if found else None}
