"""What can be set of sessions."""

from __future__ import annotations

from pydantic import BaseModel, Field


class SessionSettings(BaseModel):
    """Sessions, as ``ANAMNESIS_SESSIONS__...``.

    Attributes:
        keep_days: a session that was not used for so many days is deleted with all that it left, when a server starts
            and by `anamnesis sessions expire`; None keeps all.
        wait: seconds to wait for a session whose turn runs in another process; 0 refuses at once. PostgreSQL takes a
            moment to give back the lock of a worker that was killed.
        connections: PostgreSQL: most connections that a worker opens for checkpoints, and again for records.
    """

    keep_days: float | None = Field(default=None, gt=0)
    wait: float = Field(default=1.0, ge=0, le=3600)  # ours
    connections: int = Field(default=4, ge=1, le=100)
