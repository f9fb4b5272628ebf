"""`anamnesis library`: a user's own documents."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from agent.assembly import STARTER_LIBRARY, open_encoder
from agent.cli.bars import Advance, bars
from agent.cli.console import JsonOption, QuietOption, console, group, open_home, print_json, table, tell
from agent.sessions import Home
from agent.settings import load_settings
from tools.evidence import Status
from tools.library.adding import AddReport, add
from tools.library.monograph import read_monograph
from tools.library.shelf import Shelf, shelf_file
from tools.library.upkeep import check, remove
from tools.library.upkeep import rebuild as embed_again

NONE_YET = (
    "There are no documents of your own yet; `anamnesis library add PATH` adds some. "
    "`anamnesis library list --starter` lists the texts that come with the program."
)
STOPPED = "anamnesis: Stopped. What is finished stays in the library; add the same paths again to go on.\n"
STAY = "No document is gone: other files give the same."
NAMED = 5  # ours: skipped files of a kind that the report names
DAMAGED = 3  # the exit code of damaged data, as everywhere (prompts/errors.py)

library = group()


@library.command("add")
def add_(
    paths: Annotated[
        list[Path], typer.Argument(help="Files and folders (txt, md, html, pdf, JATS, PubMed XML, RIS, nbib, jsonl).")
    ],
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Take in documents; what is known already is not embedded twice, and a bad file is a row of the report."""
    with _shelf() as shelf:
        try:
            with bars(show=not quiet) as advance:
                report = add(shelf, paths, partial(_files_done, advance))
        except KeyboardInterrupt:
            sys.stderr.write(STOPPED)
            raise
    print_json(_as_data(report)) if as_json else _print_report(report)
    raise typer.Exit(report.exit_code)


@library.command("list")
def list_(
    starter: Annotated[bool, typer.Option("--starter", help="The texts that come with the program instead.")] = False,
    as_json: JsonOption = False,
) -> None:
    """List your documents, or the starter texts."""
    if starter:
        _list_starter(as_json=as_json)
        return
    if not _exists():
        print_json([]) if as_json else tell(NONE_YET)
        return
    with _shelf() as shelf:
        documents = shelf.documents()
    if as_json:
        print_json([d.model_dump() for d in documents])
        return
    what = [", ".join(p for p in (d.kind, d.date, d.status.upper() * (d.status != Status.OK)) if p) for d in documents]
    rows = [(d.id, d.title, w, "\n".join(d.files)) for d, w in zip(documents, what, strict=True)]
    console().print(table(("Id", "Title", "What", "Files"), rows))
    tell(f"{len(documents)} documents")


@library.command("remove")
def remove_(
    names: Annotated[
        list[str], typer.Argument(help="Ids of documents, or paths of the files or folders they came from.")
    ],
    as_json: JsonOption = False,
) -> None:
    """Remove documents."""
    with _shelf() as shelf:
        gone = remove(shelf, names)
    if as_json:
        print_json({"removed": gone})
    else:
        tell(f"{len(gone)} documents removed: {', '.join(gone)}" if gone else STAY)


@library.command("check")
def check_(
    rebuild: Annotated[
        bool, typer.Option(help="Embed all stored texts again first, for example with another encoder.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Check that your documents are whole, and tell which of their files are gone or changed."""
    if not _exists():
        print_json([]) if as_json else tell(NONE_YET)
        return
    with _shelf(check_encoder=False) as shelf:
        if rebuild:
            with bars() as advance:
                embed_again(shelf, partial(_files_done, advance))
        found = check(shelf)
    if as_json:
        print_json([line.model_dump() for line in found])
    else:
        for line in found:
            console().print("[green]ok  [/]" if line.ok else "[red]FAIL[/]", end=" ")
            tell(f"{line.name}: {line.found} {line.advice}".rstrip())
    raise typer.Exit(0 if all(line.ok for line in found) else DAMAGED)


def _list_starter(*, as_json: bool) -> None:
    """Print the texts that come with the program: what each is on, when it was written and is to be read again."""
    fronts = [read_monograph(path).front for path in sorted(STARTER_LIBRARY.glob("*.md"))]
    if as_json:
        print_json([f.model_dump(mode="json", exclude={"questions"}) for f in fronts])
        return
    columns = ("Id", "Title", "What", "ICD-10", "Written", "Read again by", "Reviewed")
    reviewed = {True: "yes", False: "no"}
    rows = [
        (f.id, f.title, f.kind, ", ".join(f.icd10), str(f.written), str(f.review_by), reviewed[f.clinically_reviewed])
        for f in fronts
    ]
    console().print(table(columns, rows))
    tell(f"{len(fronts)} texts")


@contextlib.contextmanager
def _shelf(*, check_encoder: bool = True) -> Iterator[Shelf]:
    settings, home = open_home()
    with contextlib.closing(open_encoder(settings, home)) as encoder:
        shelf = Shelf(home.library, encoder, check_encoder=check_encoder)
        try:
            yield shelf
        finally:
            shelf.close()


def _exists() -> bool:
    return shelf_file(Home(load_settings().home).library).exists()


def _files_done(advance: Advance, done: int, of: int, documents: int) -> None:
    advance("files", done, of, note=f"{documents:,} documents")


def _print_report(report: AddReport) -> None:
    out = console()
    if report.wrong:
        rows = [(r.path, r.outcome.value, str(r.documents), r.reason, r.advice) for r in report.wrong]
        out.print(table(("File", "Outcome", "Documents", "What is wrong", "What to do"), rows))
    for reason, paths in report.skipped.items():
        more = f" and {len(paths) - NAMED} more" if len(paths) > NAMED else ""
        names = ", ".join(Path(path).name for path in paths[:NAMED])
        out.print(f"{len(paths)} skipped ({names}{more}): {reason}", markup=False)
    counts = ", ".join(f"{n} {outcome}" for outcome, n in sorted(report.counts.items()))
    documents = sum(row.documents for row in report.rows)
    out.print(f"{len(report.rows)} files: {counts}. They hold {documents} documents.", markup=False)


def _as_data(report: AddReport) -> dict[str, Any]:
    return {"files": [row.model_dump(mode="json") for row in report.rows], "counts": dict(report.counts)}
