"""Which session a conversation belongs to, where a client sends only its messages.

A client of chat completions sends the whole conversation each time and no session. After each turn the hash of the
conversation so far leads to its session; the hash holds the owner, so that nobody finds another's session by the same
words. What is kept is the hash alone; it goes with its session.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import NamedTuple

from agent.server.tables import Tables


class Said(NamedTuple):
    """A message: ``user`` or ``assistant``, and its text."""

    role: str
    text: str


class Place(NamedTuple):
    """A session, and how many turns of it a conversation holds."""

    session: str
    turns: int


class Histories:
    """Conversations by their hash."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def find(self, owner: str, said: Sequence[Said]) -> Place | None:
        """Where a conversation stands, None when it is not known."""
        sql = "select session, turns from server_histories where hash = ?"
        found = await self._tables.run(sql, hash_of(owner, said))
        return Place(str(found[0][0]), int(found[0][1])) if found else None

    async def note(self, owner: str, said: Sequence[Said], place: Place) -> None:
        """Remember where a conversation stands; the last one with these words counts."""
        sql = (
            "insert into server_histories values (?, ?, ?) "
            "on conflict (hash) do update set session = excluded.session, turns = excluded.turns"
        )
        await self._tables.run(sql, hash_of(owner, said), place.session, place.turns)

    async def forget(self, session: str) -> None:
        """Forget all that leads to a session."""
        await self._tables.run("delete from server_histories where session = ?", session)
        await self._tables.scrub(session)

    async def sessions(self) -> list[str]:
        """Sessions that something leads to."""
        rows = await self._tables.run("select distinct session from server_histories")
        return [str(row[0]) for row in rows]


def hash_of(owner: str, said: Sequence[Said]) -> str:
    """sha256 over the owner and all messages; blanks around a text do not count, because clients trim them."""
    whole = [owner, *([message.role, message.text.strip()] for message in said)]
    return hashlib.sha256(json.dumps(whole).encode()).hexdigest()
