"""Times of records: UTC, ISO 8601 with microseconds, so that they order as text; no two of a process are the same."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

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
