"""The commands of `anamnesis index`; what they do is imported when they run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

index = typer.Typer(help="Collections of publications built at scale.", no_args_is_help=True, rich_markup_mode=None)

NameArgument = Annotated[str, typer.Argument(help="The collection.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


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
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Build a collection; when stopped, run it again to go on: no finished part is made twice."""
    from agent.cli.index import Wanted, build_and_tell

    wanted = Wanted(name, source, engine, workers, passages, afresh, verify)
    raise typer.Exit(build_and_tell(wanted, as_json=as_json, quiet=quiet))


@index.command()
def status(
    name: Annotated[str, typer.Argument(help="The collection; without it all are shown.")] = "",
    as_json: JsonOption = False,
) -> None:
    """Show collections: what they hold, and how far an unfinished build is."""
    from agent.cli.index import show_status

    show_status(name, as_json=as_json)


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
    from agent.cli.index import search_and_show

    search_and_show(name, query, limit, since, until, as_json=as_json)


@index.command()
def delete(name: NameArgument) -> None:
    """Delete a collection with its parts and its index."""
    from agent.cli.index import delete_and_tell

    delete_and_tell(name)
