"""`anamnesis library`: a user's own documents."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from agent.assembly import STARTER_LIBRARY, open_encoder
from agent.cli.bars import Advance, bars
from agent.cli.render import console
from agent.sessions import Home
from agent.settings import load_settings, silence_telemetry
from tools.evidence import Status
from tools.library.adding import add
from tools.library.checking import check
from tools.library.monograph import read_monograph
from tools.library.removing import rebuild as embed_again
from tools.library.removing import remove
from tools.library.report import AddReport
from tools.library.shelf import Shelf, shelf_file

NONE_YET = (
    "There are no documents of your own yet; `anamnesis library add PATH` adds some. "
    "`anamnesis library list --starter` lists the texts that come with the program."
)
STOPPED = "anamnesis: Stopped. What is finished stays in the library; add the same paths again to go on.\n"
STAY = "No document is gone: other files give the same."
KINDS = 10  # ours: suffixes of skipped files that the report names
DAMAGED = 3  # the exit code of damaged data, as everywhere (prompts/errors.py)


def add_paths(paths: list[Path], *, as_json: bool, quiet: bool) -> int:
    """Add files and folders and print the report; returns 0, 1 when something failed, 2 when nothing could be read."""
    with _shelf() as shelf:
        try:
            with bars(show=not quiet) as advance:
                report = add(shelf, paths, partial(_files_done, advance))
        except KeyboardInterrupt:
            sys.stderr.write(STOPPED)
            raise
    _print_json(_as_data(report)) if as_json else _print_report(report)
    return report.exit_code


def list_documents(*, as_json: bool) -> None:
    """Print the documents."""
    if not _exists():
        _print_json([]) if as_json else console().print(NONE_YET, markup=False)
        return
    with _shelf() as shelf:
        documents = shelf.documents()
    if as_json:
        _print_json([d.model_dump() for d in documents])
        return
    table = _table("Id", "Title", "What", "Files")
    for d in documents:
        what = ", ".join(part for part in (d.kind, d.date, d.status.upper() if d.status != Status.OK else "") if part)
        table.add_row(*(escape(cell) for cell in (d.id, d.title, what, "\n".join(d.files))))
    console().print(table)
    console().print(f"{len(documents)} documents", markup=False)


def list_starter(*, as_json: bool) -> None:
    """Print the texts that come with the program: what each is on, when it was written and is to be read again."""
    fronts = [read_monograph(path).front for path in sorted(STARTER_LIBRARY.glob("*.md"))]
    if as_json:
        _print_json([f.model_dump(mode="json", exclude={"questions"}) for f in fronts])
        return
    table = _table("Id", "Title", "What", "ICD-10", "Written", "Read again by", "Reviewed")
    for f in fronts:
        reviewed = "yes" if f.clinically_reviewed else "no"
        cells = (f.id, f.title, f.kind, ", ".join(f.icd10), str(f.written), str(f.review_by), reviewed)
        table.add_row(*(escape(cell) for cell in cells))
    console().print(table)
    console().print(f"{len(fronts)} texts", markup=False)


def remove_names(names: list[str], *, as_json: bool) -> None:
    """Remove documents by id or by the path that gave them; unknown names are a mistake, and nothing is removed."""
    with _shelf() as shelf:
        gone = remove(shelf, names)
    if as_json:
        _print_json({"removed": gone})
    else:
        console().print(f"{len(gone)} documents removed: {', '.join(gone)}" if gone else STAY, markup=False)


def check_library(*, rebuild: bool, as_json: bool) -> int:
    """Examine the library, after embedding it again when asked; returns 0 when all is well, 3 otherwise."""
    if not _exists():
        _print_json([]) if as_json else console().print(NONE_YET, markup=False)
        return 0
    with _shelf(check_encoder=False) as shelf:
        if rebuild:
            with bars() as advance:
                embed_again(shelf, partial(_files_done, advance))
        found = check(shelf)
    if as_json:
        _print_json([line.model_dump() for line in found])
    else:
        for line in found:
            console().print("[green]ok  [/]" if line.ok else "[red]FAIL[/]", end=" ")
            console().print(f"{line.name}: {line.found} {line.advice}".rstrip(), markup=False)
    return 0 if all(line.ok for line in found) else DAMAGED


@contextlib.contextmanager
def _shelf(*, check_encoder: bool = True) -> Iterator[Shelf]:
    settings = load_settings()
    silence_telemetry(settings)
    home = Home(settings.home).prepare()
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
        table = _table("File", "Outcome", "Documents", "What is wrong", "What to do")
        for row in report.wrong:
            cells = (row.path, row.outcome.value, str(row.documents), row.reason, row.advice)
            table.add_row(*(escape(cell) for cell in cells))
        out.print(table)
    for reason, paths in report.skipped.items():
        kinds = ", ".join(sorted({Path(path).suffix or Path(path).name for path in paths})[:KINDS])
        out.print(f"{len(paths)} skipped ({kinds}): {reason}", markup=False)
    counts = ", ".join(f"{n} {outcome}" for outcome, n in sorted(report.counts.items()))
    documents = sum(row.documents for row in report.rows)
    out.print(f"{len(report.rows)} files: {counts}. They hold {documents} documents.", markup=False)


def _as_data(report: AddReport) -> dict[str, Any]:
    return {"files": [row.model_dump(mode="json") for row in report.rows], "counts": dict(report.counts)}


def _table(*columns: str) -> Table:
    table = Table()
    for column in columns:
        table.add_column(column, overflow="fold")  # an id or a path that is cut short is of no use
    return table


def _print_json(value: Any) -> None:
    sys.stdout.write(json.dumps(value, indent=1, ensure_ascii=False) + "\n")
