"""Ids of sessions, the errors that name a session, and times of records."""

from __future__ import annotations

import secrets
import threading
from datetime import UTC, datetime, timedelta

from agent.trace import SESSION_NAME
from prompts.errors import InputError


class SessionBusy(InputError):  # noqa: N818
    """The session's turn runs in another process."""


class UnknownSession(InputError):  # noqa: N818
    """There is no such session, or it is another owner's."""


def new_session_id() -> str:
    """A session id that nobody can guess."""
    return secrets.token_hex(8)


def check_session_id(session: str) -> str:
    """The id, when it can be one; raises InputError otherwise."""
    if not isinstance(session, str) or not SESSION_NAME.match(session):
        raise InputError(
            f"{str(session)[:80]!r} is no session id.",
            "Use letters, digits, '.', '_' and '-', at most 80 characters; None opens a new session.",
        )
    return session


def unknown_session(session: str) -> UnknownSession:
    """The error for a session that is not there, and for one of another owner: the two cannot be told apart."""
    return UnknownSession(f"There is no session {session}.", "`anamnesis sessions` lists them.")


def busy_session(session: str) -> SessionBusy:
    """The error for a session that another process holds."""
    return SessionBusy(f"Session {session} is in use by another process.", "Wait for its turn to end.")


# Times of records: UTC, ISO 8601 with microseconds, so that they order as text; no two of a process are the same.

_lock = threading.Lock()
_last = datetime.min.replace(tzinfo=UTC)


def now() -> str:
    """The time now, later than every time given before by this process."""
    global _last
    with _lock:
        _last = max(datetime.now(UTC), _last + timedelta(microseconds=1))
        return stamp(_last)


def stamp(at: datetime) -> str:
    """A time as records write it."""
    return at.astimezone(UTC).isoformat(timespec="microseconds")
