"""What deletion takes away beside checkpoints and texts."""

from __future__ import annotations

import contextlib
import shutil
from typing import Any

from agent.sessions.contract import Database
from agent.sessions.home import Home
from agent.sessions.sqlite import purge_checkpoints
from tools.store import ContentStore, ReplyStore


def purge_traces(home: Home, session: str) -> None:
    """Delete the session's traces."""
    shutil.rmtree(home.traces / session, ignore_errors=True)


def purge_replies(home: Home, session: str) -> None:
    """Delete the replies of models that were kept for this session alone, whether or not they are kept now."""
    if home.replies.exists():
        with contextlib.closing(ReplyStore(home.replies)) as replies:
            replies.purge(session)


def purge_replays(home: Home, session: str) -> None:
    """Delete the requests and replies that were written down as files for this session, and texts made of them."""
    for named in home.replays.glob("*/*/session"):
        if named.read_text(encoding="utf-8") == session:
            shutil.rmtree(named.parent, ignore_errors=True)
            for made in named.parent.parent.glob("*.md"):
                made.unlink(missing_ok=True)


async def purge_records(database: Database, session: str) -> None:
    """Delete the session's records, documents, reviews and feedback; its own row goes last."""
    asked, corrections, reasons, titles, documents, *_ = await database.execute(
        ("select asked from turns where session = ?", (session,)),
        ("select correction from reviews where session = ?", (session,)),
        ("select reason from feedback where session = ?", (session,)),
        ("select title from sessions where id = ?", (session,)),
        ("select about from documents where session = ?", (session,)),
        ("delete from reviews where session = ?", (session,)),
        ("delete from feedback where session = ?", (session,)),
        ("delete from documents where session = ?", (session,)),
        ("delete from traces where session = ?", (session,)),
        ("delete from turns where session = ?", (session,)),
        ("delete from sessions where id = ?", (session,)),
    )
    await database.scrub(session, *(str(text) for (text,) in (*asked, *corrections, *reasons, *titles, *documents)))


async def purge_session(home: Home, saver: Any, store: ContentStore, session: str) -> None:
    """Delete a session's checkpoints in SQLite, its traces and the texts that only it owned; records stay."""
    await purge_checkpoints(saver, home, session)
    store.purge(session)
    purge_replies(home, session)
    purge_replays(home, session)
    purge_traces(home, session)
    (home.locks / f"{session}.lock").unlink(missing_ok=True)
