"""The commands of `anamnesis sessions`; what they do is imported when they run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

sessions = typer.Typer(
    help="Sessions: list, show, rename, export, review, delete. Without a command they are listed.",
    rich_markup_mode=None,
)
SessionArgument = Annotated[str, typer.Argument(help="The session's id.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@sessions.callback(invoke_without_command=True)
def sessions_(
    context: typer.Context,
    delete: Annotated[str | None, typer.Option(help="Delete this session and all that it left.")] = None,
) -> None:
    """Sessions: list, show, rename, export, review, delete. Without a command they are listed."""
    if delete is not None:
        delete_([delete])
    elif context.invoked_subcommand is None:
        list_()


@sessions.command("list")
def list_(
    limit: Annotated[int, typer.Option(help="Most of a page.", min=1, max=1000)] = 50,
    before: Annotated[str | None, typer.Option(help="Only those used before this time (the last one's).")] = None,
    owner: Annotated[str | None, typer.Option(help="Only those of this key; all by default.")] = None,
    as_json: JsonOption = False,
) -> None:
    """List sessions, last used first."""
    from agent.cli.sessions import show_list

    show_list(limit, before, owner, as_json=as_json)


@sessions.command()
def show(session: SessionArgument, as_json: JsonOption = False) -> None:
    """Show a session: each message with its answer, and what was said of it in a review."""
    from agent.cli.sessions import show_session

    show_session(session, as_json=as_json)


@sessions.command()
def rename(session: SessionArgument, title: Annotated[str, typer.Argument(help="The new title.")]) -> None:
    """Give a session another title."""
    from agent.cli.sessions import rename_session

    rename_session(session, title)


@sessions.command()
def export(
    session: SessionArgument,
    format_: Annotated[Literal["json", "markdown"], typer.Option("--format", help="The form.")] = "markdown",
    out: Annotated[Path | None, typer.Option(help="Write this file; standard output without it.")] = None,
    strategies: Annotated[
        Path | None, typer.Option(help="Also write each search strategy into this folder, for `search --rerun`.")
    ] = None,
) -> None:
    """Export a session with its citations, quotes, reviews and search strategies."""
    from agent.cli.sessions import export_session

    export_session(session, format_, out, strategies)


@sessions.command()
def review(
    session: SessionArgument,
    turn: Annotated[int, typer.Argument(help="The turn, from 1.")],
    verdict: Annotated[Literal["accepted", "corrected", "rejected"], typer.Option(help="What is said of the answer.")],
    correction: Annotated[str, typer.Option(help="With corrected: what it should say; - reads standard input.")] = "",
    by: Annotated[str, typer.Option(help="The name of the reviewer.")] = "",
) -> None:
    """Keep a clinician's verdict beside an answer. It is shown and exported, and never used as evidence."""
    from agent.cli.sessions import review_turn

    review_turn(session, turn, verdict, correction, by)


@sessions.command("delete")
def delete_(session: Annotated[list[str], typer.Argument(help="Ids of sessions.")]) -> None:
    """Delete sessions with their checkpoints, traces, texts, records and reviews."""
    from agent.cli.sessions import delete_sessions

    delete_sessions(session)


@sessions.command()
def expire(
    days: Annotated[
        float | None, typer.Option(help="Not used for so many days; ANAMNESIS_SESSIONS__KEEP_DAYS without it.")
    ] = None,
) -> None:
    """Delete the sessions that were not used for some days."""
    from agent.cli.sessions import expire_sessions

    expire_sessions(days)
