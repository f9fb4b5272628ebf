"""The commands of `anamnesis mirror`; what they do is imported when they run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

mirror = typer.Typer(help="A PubMed of one's own.", no_args_is_help=True, rich_markup_mode=None)

FolderOption = Annotated[
    Path | None, typer.Option(help="The mirror's folder; else ANAMNESIS_LITERATURE__MIRROR, else in the data folder.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]


@mirror.command("import")
def import_(
    files: Annotated[list[Path], typer.Argument(help="PubMed XML, PubTator, JSON lines, MeSH descriptors; .gz too.")],
    folder: FolderOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Add files to the mirror, NLM's in the order of their numbers; when stopped, run it again to go on."""
    from agent.cli.mirror import import_paths

    raise typer.Exit(import_paths(files, folder=folder, as_json=as_json, quiet=quiet))


@mirror.command()
def status(folder: FolderOption = None, as_json: JsonOption = False) -> None:
    """Show records, dates, size and the files that were applied."""
    from agent.cli.mirror import show_status

    show_status(folder=folder, as_json=as_json)


@mirror.command()
def export(
    file: Annotated[Path, typer.Argument(help="Ends in .jsonl or .xml, and in .gz to pack it.")],
    folder: FolderOption = None,
    quiet: QuietOption = False,
) -> None:
    """Write all records to a file; imported, it gives the same mirror."""
    from agent.cli.mirror import export_records

    export_records(file, folder=folder, quiet=quiet)


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
    from agent.cli.mirror import serve as run

    run(folder=folder, host=host, port=port, rate=rate)
