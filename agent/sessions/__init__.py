"""Sessions: where they live, what is known of them, and how they are locked, exported, reviewed and deleted."""

from agent.sessions.contract import Database, Feedback, Review, SessionRecord, TurnRecord
from agent.sessions.home import Home
from agent.sessions.ids import SessionBusy, check_session_id, new_session_id, unknown_session
from agent.sessions.locks import Locks
from agent.sessions.opening import open_database, open_records
from agent.sessions.records import Records
from agent.sessions.sqlite import open_saver, typed_database_errors

__all__ = [
    "Database",
    "Feedback",
    "Home",
    "Locks",
    "Records",
    "Review",
    "SessionBusy",
    "SessionRecord",
    "TurnRecord",
    "check_session_id",
    "new_session_id",
    "open_database",
    "open_records",
    "open_saver",
    "typed_database_errors",
    "unknown_session",
]
