"""`anamnesis sessions`: the records of sessions, without the agent's models and indexes."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

import typer
from pydantic import ValidationError
from rich.text import Text

from agent.cli.console import (
    JsonOption,
    console,
    open_home,
    print_json,
    progress_console,
    read_message,
    say,
    write_text,
)
from agent.cli.references import say_references
from agent.cli.render import show_answer
from agent.loop import run
from agent.sessions.contract import Review, SessionRecord, TurnRecord
from agent.sessions.export import SessionExport
from agent.sessions.opening import open_records
from agent.sessions.records import Records
from agent.settings import load_settings
from prompts.errors import InputError
from tools.files import named_file
from tools.literature.strategy import save_strategy
from tools.references.contract import Collected
from tools.references.forms import FORMS

if TYPE_CHECKING:
    from agent.changes import Changes

T = TypeVar("T")
BECAME = {
    "new": "New since",
    "gone": "Gone",
    "retracted": "RETRACTED since",
    "concern": "EXPRESSION OF CONCERN since",
    "corrected": "Corrected since",
    "revised": "Revised since",
}

sessions = typer.Typer(rich_markup_mode=None)
SessionArgument = Annotated[str, typer.Argument(help="The session's id.")]


@sessions.callback(invoke_without_command=True)
def sessions_(
    context: typer.Context,
    delete: Annotated[str | None, typer.Option(help="Delete this session and all that it left.")] = None,
) -> None:
    """Sessions: list, show, rename, export, changes, review, delete. Without a command they are listed."""
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
    found = with_records(lambda records: records.list(owner, limit, before))
    if as_json:
        print_json([r.model_dump() for r in found])
        return
    for record in found:
        sys.stdout.write(line_of(record) + "\n")
    if len(found) == limit:
        progress_console().print(f"Older ones: anamnesis sessions list --before {found[-1].updated}", soft_wrap=True)


@sessions.command()
def show(session: SessionArgument, as_json: JsonOption = False) -> None:
    """Show a session: each message with its answer, and what was said of it in a review."""

    async def read(records: Records) -> tuple[SessionRecord, list[TurnRecord]]:
        return await records.get(session), await records.turns(session)

    record, turns = with_records(read)
    if as_json:
        print_json({"session": record.model_dump(), "turns": [t.model_dump(mode="json") for t in turns]})
        return
    out = console()
    out.print(Text(line_of(record), style="bold"))
    for turn in turns:
        out.print(Text(f"\n{turn.turn} > {turn.asked}", style="bold"))
        if turn.answer is None:
            out.print(Text("No answer: the turn was cut off.", style="yellow"))
        else:
            show_answer(out, turn.answer)
        if turn.review is not None:
            out.print(Text(review_line(turn.review), style="bold"))


@sessions.command()
def rename(session: SessionArgument, title: Annotated[str, typer.Argument(help="The new title.")]) -> None:
    """Give a session another title."""
    record = with_records(lambda records: records.rename(session, title))
    sys.stdout.write(f"Session {record.id} is now called: {record.title}\n")


@sessions.command()
def export(
    session: SessionArgument,
    format_: Annotated[
        Literal["json", "markdown", "ris", "nbib", "bibtex", "csl-json", "docx"],
        typer.Option("--format", help="All as JSON, Markdown or Word, or what it cites, for a reference manager."),
    ] = "markdown",
    out: Annotated[
        Path | None, typer.Option(help="Write this file; standard output without it.", callback=named_file)
    ] = None,
    turn: Annotated[int | None, typer.Option(min=1, help="Only this turn.")] = None,
    strategies: Annotated[
        Path | None, typer.Option(help="Also write each search strategy into this folder, for `search --rerun`.")
    ] = None,
) -> None:
    """Export a session with its citations, quotes, reviews and search strategies; or the references it cites."""

    if format_ == "docx" and out is None:
        raise InputError("A Word document is no text.", "Name the file to write with --out FILE.docx.")

    async def read(records: Records) -> tuple[str | bytes, str, Collected | None]:
        if format_ == "docx":
            text: str | bytes = await records.document(session, turn=turn)
        else:
            text = await records.export(session, format_, turn=turn)
        whole = await records.export(session, turn=turn) if strategies else ""
        return text, whole, await records.references(session, turn=turn) if format_ in FORMS else None

    text, whole, references = with_records(read)
    if references is not None:
        say_references(references, format_)
    if out is None:
        sys.stdout.write(str(text))
    else:
        write_text(out, text)
    if strategies is not None:
        count = save_strategies(SessionExport.model_validate_json(whole), strategies)
        progress_console().print(f"{count} search strategies in {strategies}", markup=False)


@sessions.command()
def changes(
    session: SessionArgument,
    turn: Annotated[int | None, typer.Option(min=1, help="Only this turn.")] = None,
    mirror: Annotated[Path | None, typer.Option(help="Ask this local mirror instead of live PubMed.")] = None,
    as_json: JsonOption = False,
) -> None:
    """What has changed since its answers: asks its searches again, and looks at what they cite. Changes nothing."""
    settings, home = open_home()
    if mirror is not None:
        settings = settings.model_copy(update={"literature": settings.literature.model_copy(update={"mirror": mirror})})

    async def found() -> list[Changes]:
        from agent.assembly import library_documents

        async with open_records(settings, library_documents(settings, home, say)) as records:
            turns = await records.turns(session, only=None if turn is None else {turn})
            if not any(t.answer for t in turns):
                raise InputError("There is no answer to look at again.", "`anamnesis sessions show` lists the turns.")
            return [await records.changes(session, t.turn) for t in turns if t.answer is not None]

    told = run(found())
    if as_json:
        print_json([c.model_dump() for c in told])
    else:
        for one in told:
            _show_changes(one)
    raise typer.Exit(int(any(c.not_asked for c in told)))


@sessions.command()
def review(
    session: SessionArgument,
    turn: Annotated[int, typer.Argument(help="The turn, from 1.")],
    verdict: Annotated[Literal["accepted", "corrected", "rejected"], typer.Option(help="What is said of the answer.")],
    correction: Annotated[str, typer.Option(help="With corrected: what it should say; - reads standard input.")] = "",
    by: Annotated[str, typer.Option(help="The name of the reviewer.")] = "",
) -> None:
    """Keep a clinician's verdict beside an answer. It is shown and exported, and never used as evidence."""
    text = read_message(correction) if correction else ""
    try:
        given = Review(verdict=verdict, correction=text, reviewer=by)
    except ValidationError as error:
        why = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise InputError(f"The review cannot be taken: {why}.", "See --help.") from None
    kept = with_records(lambda records: records.review(session, turn, given))
    sys.stdout.write(f"Session {session}, turn {turn}. {review_line(kept)}\n")


@sessions.command("delete")
def delete_(session: Annotated[list[str], typer.Argument(help="Ids of sessions.")]) -> None:
    """Delete sessions with their checkpoints, traces, texts, records and reviews."""

    async def delete(records: Records) -> None:
        for one in session:
            await records.delete(one)
            sys.stdout.write(f"Session {one} is deleted.\n")

    with_records(delete)


@sessions.command()
def expire(
    days: Annotated[
        float | None, typer.Option(help="Not used for so many days; ANAMNESIS_SESSIONS__KEEP_DAYS without it.")
    ] = None,
) -> None:
    """Delete the sessions that were not used for some days."""
    kept = days if days is not None else load_settings().sessions.keep_days
    if kept is None:
        raise InputError(
            "Nothing says how long sessions are kept.", "Give --days, or set ANAMNESIS_SESSIONS__KEEP_DAYS."
        )
    for session in with_records(lambda records: records.expire(kept)):
        sys.stdout.write(f"Session {session} is deleted.\n")


def _show_changes(told: Changes) -> None:
    out = console()
    out.print(Text(f"{told.turn} > {told.asked}", style="bold"))
    asked = f"; asked now: {told.source}" if told.source else ""
    out.print(
        f"Answered on {told.answered or 'an unknown day'}, looked at again on {told.at[:10]}{asked}", markup=False
    )
    for why in told.not_asked:
        out.print(Text(f"! {why}", style="yellow"))
    for change in told.changes:
        cited = ", cited in the answer" if change.cited else ""
        style = "" if change.what == "new" else "bold red" if change.what == "retracted" else "yellow"
        date = f" ({change.date})" if change.date else ""
        name = change.title.rstrip(".") or change.id
        out.print(Text(f"{BECAME[change.what]}{cited}: {name}{date}, {change.id}", style=style))
        if change.quote:
            out.print(Text(f"  It no longer says: “{change.quote}”"))
    known = f"{told.looked_at} of its sources were looked at again" + ("." if told.changes else ": none has changed.")
    if told.looked_at or not told.not_asked:
        out.print(known if told.looked_at else "It has no sources that could change.", markup=False)
    other = sum(q.now != q.then for q in told.queries)
    if told.queries:
        asked = "1 query was" if len(told.queries) == 1 else f"{len(told.queries)} queries were"
        out.print(f"{asked} asked again, {other} with another number of records.", markup=False)


def with_records(work: Callable[[Records], Awaitable[T]]) -> T:
    """Do something with the sessions' records, opened and closed again."""

    async def opened() -> T:
        async with open_records(load_settings()) as records:
            return await work(records)

    return run(opened())


def line_of(record: SessionRecord) -> str:
    """A session on one line."""
    marks = [
        f"unfinished: anamnesis resume {record.id}" if record.unfinished else "",
        "review asked" if record.needs_review else "",
        f"of key {record.owner}" if record.owner else "",
    ]
    told = "; ".join(m for m in marks if m)
    return f"{record.id}  {record.updated[:16].replace('T', ' ')}  {record.turns:>3}  {record.title}" + (
        f"  ({told})" if told else ""
    )


def review_line(review: Review) -> str:
    """A review on one line."""
    by = f" by {review.reviewer}" if review.reviewer else ""
    return f"Review: {review.verdict}{by}" + (f": {review.correction}" if review.correction else "")


def save_strategies(export: SessionExport, folder: Path) -> int:
    """Write each search strategy of a session as ``turn-1-search-2.json``; returns how many there are."""
    found = [
        (f"turn-{turn.turn}-search-{number}.json", strategy)
        for turn in export.turns
        for number, strategy in enumerate((s for search in turn.searches for s in search.strategies), start=1)
    ]
    for name, strategy in found:
        save_strategy(strategy, folder / name)
    return len(found)
