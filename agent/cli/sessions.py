"""`anamnesis sessions`: the records of sessions, without the agent's models and indexes."""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import ValidationError
from rich.text import Text

from agent.cli.ask import read_message
from agent.cli.render import console, progress_console, show_answer
from agent.loop import run
from agent.sessions.contract import Review, SessionRecord, TurnRecord
from agent.sessions.export import SessionExport
from agent.sessions.opening import open_records
from agent.sessions.records import Records
from agent.settings import load_settings
from prompts.errors import InputError
from tools.files import write_atomic
from tools.literature.strategy import save_strategy

T = TypeVar("T")


def with_records(work: Callable[[Records], Awaitable[T]]) -> T:
    """Do something with the sessions' records, opened and closed again."""

    async def opened() -> T:
        async with open_records(load_settings()) as records:
            return await work(records)

    return run(opened())


def show_list(limit: int, before: str | None, owner: str | None, *, as_json: bool) -> None:
    """Print one line a session: id, last use (UTC), turns, title, and what is to be done."""
    found = with_records(lambda records: records.list(owner, limit, before))
    if as_json:
        sys.stdout.write(json.dumps([r.model_dump() for r in found], ensure_ascii=False, indent=2) + "\n")
        return
    for record in found:
        sys.stdout.write(line_of(record) + "\n")
    if len(found) == limit:
        progress_console().print(f"Older ones: anamnesis sessions list --before {found[-1].updated}", soft_wrap=True)


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


def show_session(session: str, *, as_json: bool) -> None:
    """Print each message with its answer."""

    async def read(records: Records) -> tuple[SessionRecord, list[TurnRecord]]:
        return await records.get(session), await records.turns(session)

    record, turns = with_records(read)
    if as_json:
        whole = {"session": record.model_dump(), "turns": [t.model_dump(mode="json") for t in turns]}
        sys.stdout.write(json.dumps(whole, ensure_ascii=False, indent=2) + "\n")
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


def review_line(review: Review) -> str:
    """A review on one line."""
    by = f" by {review.reviewer}" if review.reviewer else ""
    return f"Review: {review.verdict}{by}" + (f": {review.correction}" if review.correction else "")


def rename_session(session: str, title: str) -> None:
    """Give a session another title."""
    record = with_records(lambda records: records.rename(session, title))
    sys.stdout.write(f"Session {record.id} is now called: {record.title}\n")


def export_session(
    session: str, format: Literal["json", "markdown"], out: Path | None, strategies: Path | None
) -> None:
    """Write a session to a file, whole or not at all, or to standard output; its search strategies into a folder."""

    async def read(records: Records) -> tuple[str, str]:
        return await records.export(session, format), await records.export(session) if strategies else ""

    text, whole = with_records(read)
    if out is None:
        sys.stdout.write(text)
    else:
        _write(out, text)
    if strategies is not None:
        count = save_strategies(SessionExport.model_validate_json(whole), strategies)
        progress_console().print(f"{count} search strategies in {strategies}", markup=False)


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


def review_turn(
    session: str, turn: int, verdict: Literal["accepted", "corrected", "rejected"], correction: str, by: str
) -> None:
    """Keep a review of a turn's answer."""
    text = read_message(correction) if correction else ""
    try:
        review = Review(verdict=verdict, correction=text, reviewer=by)
    except ValidationError as error:
        why = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise InputError(f"The review cannot be taken: {why}.", "See --help.") from None
    kept = with_records(lambda records: records.review(session, turn, review))
    sys.stdout.write(f"Session {session}, turn {turn}. {review_line(kept)}\n")


def delete_sessions(sessions: Sequence[str]) -> None:
    """Delete sessions, one after another."""

    async def delete(records: Records) -> None:
        for session in sessions:
            await records.delete(session)
            sys.stdout.write(f"Session {session} is deleted.\n")

    with_records(delete)


def expire_sessions(days: float | None) -> None:
    """Delete what was not used for some days, and tell the ids."""
    kept = days if days is not None else load_settings().sessions.keep_days
    if kept is None:
        raise InputError(
            "Nothing says how long sessions are kept.", "Give --days, or set ANAMNESIS_SESSIONS__KEEP_DAYS."
        )
    for session in with_records(lambda records: records.expire(kept)):
        sys.stdout.write(f"Session {session} is deleted.\n")


def _write(path: Path, text: str) -> None:
    try:
        write_atomic(path, text.encode())
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.", "Choose another place.") from error
