"""`anamnesis mirror`: a PubMed of one's own."""

from __future__ import annotations

import contextlib
import json
import signal
import sys
from functools import partial
from pathlib import Path

from rich.markup import escape
from rich.table import Table

from agent.cli.bars import Advance, bars
from agent.cli.render import console
from agent.sessions import Home
from agent.settings import load_settings, silence_telemetry
from tools.mirror.engine import Mirror
from tools.mirror.exporting import export
from tools.mirror.importing import FileReport, import_files

SHOWN = 20  # ours: problems printed; --json has up to a hundred a file
EVERY = 1000  # ours: records between two steps of a progress bar


def import_paths(files: list[Path], *, folder: Path | None, as_json: bool, quiet: bool) -> int:
    """Apply files and print what they held; returns 0, or 1 when some of their records could not be read.

    When a file fails, those before it are told all the same.
    """
    place = mirror_folder(folder)
    reports: list[FileReport] = []
    try:
        with bars(show=not quiet) as advance:
            import_files(place, files, progress=partial(_read_so_far, advance), done=reports.append)
    finally:
        if as_json:
            _print([report.model_dump(mode="json") for report in reports])
        elif reports:
            _show_reports(reports)
    if not as_json:
        with contextlib.closing(Mirror.open(place)) as mirror:
            console().print(f"{mirror.manifest().records:,} records in {place}", markup=False)
    return int(any(report.unread for report in reports))


def show_status(*, folder: Path | None, as_json: bool) -> None:
    """Print what the mirror holds."""
    place = mirror_folder(folder)
    with contextlib.closing(Mirror.open(place)) as mirror:
        held = mirror.manifest()
    if as_json:
        _print({"folder": str(place)} | held.model_dump(mode="json"))
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
    table = Table("File", "Records", "Deleted", "Not read", "State", "sha256")
    for file in held.files:
        state = "applied" if file.done else "not finished: import it again to go on"
        cells = (file.name, str(file.records), str(file.deleted), str(file.unread), state, file.sha256[:12])
        table.add_row(*map(escape, cells))
    if held.files:
        out.print(table)


def export_records(path: Path, *, folder: Path | None, quiet: bool) -> None:
    """Write all records to a file."""
    opened = Mirror.open(mirror_folder(folder))
    with contextlib.closing(opened) as mirror, bars(show=not quiet) as advance:
        of = opened.manifest().records
        count = export(mirror, path, lambda done: advance("records", done, of) if done % EVERY == 0 else None)
    console().print(f"{count:,} records in {path}", markup=False)


def serve(*, folder: Path | None, host: str, port: int, rate: int) -> None:
    """Serve the mirror until interrupted or terminated."""
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
    table = Table("File", "Format", "Outcome", "Records", "Deleted", "Not read")
    for r in reports:
        table.add_row(*map(escape, (r.name, r.format, r.outcome, str(r.records), str(r.deleted), str(r.unread))))
    out.print(table)
    problems = [(r.name, p) for r in reports for p in r.problems]
    for name, problem in problems[:SHOWN]:
        out.print(f"{name}, {problem.where}: {problem.what} {problem.advice}", markup=False)
    unread = sum(r.unread for r in reports)
    if unread > min(len(problems), SHOWN):
        out.print(f"... {unread} in all were not read.", markup=False)


def _read_so_far(advance: Advance, name: str, steps: int, records: int) -> None:
    advance("read", steps, note=f"{name}, {records:,} records in the mirror")


def _print(value: object) -> None:
    sys.stdout.write(json.dumps(value, indent=1, ensure_ascii=False) + "\n")
