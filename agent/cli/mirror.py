"""`anamnesis mirror`: a PubMed of one's own."""

from __future__ import annotations

import contextlib
import signal
import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from agent.cli.bars import Advance, bars
from agent.cli.console import JsonOption, QuietOption, console, group, print_json, table, tell
from agent.sessions import Home
from agent.settings import load_settings, silence_telemetry
from tools.files import named_file
from tools.mirror.engine import Mirror
from tools.mirror.exporting import export as export_to
from tools.mirror.importing import FileReport, import_files

SHOWN = 20  # ours: problems printed; --json has up to a hundred a file
EVERY = 1000  # ours: records between two steps of a progress bar

mirror = group()
FolderOption = Annotated[
    Path | None, typer.Option(help="The mirror's folder; else ANAMNESIS_LITERATURE__MIRROR, else in the data folder.")
]


@mirror.command("import")
def import_(
    files: Annotated[list[Path], typer.Argument(help="PubMed XML, PubTator, JSON lines, MeSH descriptors; .gz too.")],
    folder: FolderOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Add files to the mirror, NLM's in the order of their numbers; when stopped, run it again to go on."""
    place = mirror_folder(folder)
    reports: list[FileReport] = []
    try:
        with bars(show=not quiet) as advance:
            import_files(place, files, progress=partial(_read_so_far, advance), done=reports.append)
    finally:
        if as_json:
            print_json([report.model_dump(mode="json") for report in reports])
        elif reports:
            _show_reports(reports)
    if not as_json:
        with contextlib.closing(Mirror.open(place)) as mirror:
            tell(f"{mirror.manifest().records:,} records in {place}")
    raise typer.Exit(int(any(report.unread for report in reports)))


@mirror.command()
def status(folder: FolderOption = None, as_json: JsonOption = False) -> None:
    """Show records, dates, size and the files that were applied."""
    place = mirror_folder(folder)
    with contextlib.closing(Mirror.open(place)) as mirror:
        held = mirror.manifest()
    if as_json:
        print_json({"folder": str(place)} | held.model_dump(mode="json"))
        return
    out = console()
    rows = {
        "folder": str(place),
        "records": f"{held.records:,}",
        "newest by publication": held.newest_published or "not known",
        "newest by entry": held.newest_entered or "not known",
        "last written": held.updated or "never",
        "size": f"{held.bytes / 1e6:,.0f} MB, {held.segments} segments, format {held.format}",
        "MeSH terms": f"{held.descriptors:,}" if held.descriptors else "none: narrower headings are not included",
    }
    for name, text in rows.items():
        out.print(f"{name:>22}  {text}", markup=False)
    state = {True: "applied", False: "not finished: import it again to go on"}
    files = [(f.name, str(f.records), str(f.deleted), str(f.unread), state[f.done], f.sha256[:12]) for f in held.files]
    if files:
        out.print(table(("File", "Records", "Deleted", "Not read", "State", "sha256"), files))


@mirror.command()
def export(
    file: Annotated[Path, typer.Argument(help="Ends in .jsonl or .xml, and in .gz to pack it.", callback=named_file)],
    folder: FolderOption = None,
    quiet: QuietOption = False,
) -> None:
    """Write all records to a file; imported, it gives the same mirror."""
    opened = Mirror.open(mirror_folder(folder))
    with contextlib.closing(opened) as mirror, bars(show=not quiet) as advance:
        of = opened.manifest().records
        count = export_to(mirror, file, lambda done: advance("records", done, of) if done % EVERY == 0 else None)
    tell(f"{count:,} records in {file}")


@mirror.command()
def serve(
    folder: FolderOption = None,
    host: Annotated[str, typer.Option(help="Where to listen; other machines can ask only beyond loopback.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 8765,
    rate: Annotated[int, typer.Option(min=0, help="Requests a second, all clients together; 0 for no limit.")] = 100,
) -> None:
    """Serve the mirror as E-utilities (esearch, efetch, esummary, epost, elink, espell, einfo)."""
    from tools.mirror.eutils.server import MirrorServer

    mirror = Mirror.open(mirror_folder(folder))
    with contextlib.closing(mirror), MirrorServer(mirror, host, port, rate) as server:
        sys.stderr.write(f"E-utilities of {mirror.manifest().records:,} records at {server.address} (Ctrl-C ends it)\n")
        sys.stderr.flush()
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        with contextlib.suppress(KeyboardInterrupt):
            server.serve_forever(poll_interval=0.2)


def mirror_folder(folder: Path | None) -> Path:
    """The folder that is meant: the option's, the setting's, or that in the data folder."""
    settings = load_settings()
    silence_telemetry(settings)
    return folder or settings.literature.mirror or Home(settings.home).prepare().root / "mirror"


def _show_reports(reports: list[FileReport]) -> None:
    out = console()
    rows = [(r.name, r.format, r.outcome, str(r.records), str(r.deleted), str(r.unread)) for r in reports]
    out.print(table(("File", "Format", "Outcome", "Records", "Deleted", "Not read"), rows))
    problems = [(r.name, p) for r in reports for p in r.problems]
    for name, problem in problems[:SHOWN]:
        out.print(f"{name}, {problem.where}: {problem.what} {problem.advice}", markup=False)
    unread = sum(r.unread for r in reports)
    if unread > min(len(problems), SHOWN):
        out.print(f"... {unread} in all were not read.", markup=False)


def _read_so_far(advance: Advance, name: str, steps: int, records: int) -> None:
    advance("read", steps, note=f"{name}, {records:,} records in the mirror")
