"""Keys of the server, and the log-ins that the page gets for one.

A key's secret is 256 random bits, so its plain sha256 is enough: a slow hash makes guessing dear, and nobody guesses
256 bits at any price. The comparison takes the same time wherever two hashes differ. What is stored opens nothing.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from datetime import UTC, datetime, timedelta

from pydantic import BaseModel

from agent.server.tables import Row, Tables, at, now
from prompts.errors import InputError

SCOPES = ("ask", "review", "traces", "tools")
SECRET_BYTES = 32  # ours: 256 bits
ID_BYTES = 6  # ours: names a key, guards nothing
LONGEST_NAME = 80  # ours
PAGE, PAGE_SCOPES = "page on this machine", ("ask", "review", "traces")  # of the key that the one-time link opens
KEY = re.compile(r"^ana_(?P<id>[0-9a-f]{12})_(?P<secret>[A-Za-z0-9_-]{43})$")
SPAN = re.compile(r"^(?P<number>[1-9]\d{0,4})(?P<unit>[hdw])$")
UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
NOBODY = "0" * 64  # compared with for an id that is unknown, so that it takes as long
COLUMNS = "id, name, scopes, created, expires, revoked"


class KeyRecord(BaseModel):
    """What is known of a key. Times are ISO 8601 in UTC, "" for never."""

    id: str
    name: str
    scopes: tuple[str, ...]
    created: str
    expires: str = ""
    revoked: str = ""

    @property
    def expired(self) -> bool:
        """Whether its time is over."""
        return bool(self.expires) and self.expires <= now()

    @property
    def state(self) -> str:
        """In a word: valid, expired or revoked."""
        if self.revoked:
            return "revoked"
        return "expired" if self.expired else "valid"


class Keys:
    """The keys in the server's tables."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def create(self, name: str, scopes: tuple[str, ...] = ("ask",), expires: str = "") -> tuple[KeyRecord, str]:
        """A new key: its record and its text, which is stored nowhere.

        Args:
            name: whose it is, shown in lists and beside reviews.
            scopes: what it may do.
            expires: for how long, for example ``90d``, ``12h`` or ``4w``; "" for ever.

        Raises:
            InputError: a name, a scope or a time that cannot be taken.
        """
        if not name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
            raise InputError("A key needs a name.", f"Use at most {LONGEST_NAME} printable characters.")
        unknown = [scope for scope in scopes if scope not in SCOPES]
        if unknown or not scopes:
            raise InputError(f"There is no scope {', '.join(unknown) or 'given'}.", f"Scopes: {', '.join(SCOPES)}.")
        end = at(datetime.now(UTC) + span(expires)) if expires else ""
        identity, secret = secrets.token_hex(ID_BYTES), secrets.token_urlsafe(SECRET_BYTES)
        record = KeyRecord(
            id=identity, name=name.strip(), scopes=tuple(dict.fromkeys(scopes)), created=now(), expires=end
        )
        await self._tables.run(
            "insert into server_keys values (?, ?, ?, ?, ?, ?, ?)",
            *(record.id, record.name, digest(secret), " ".join(record.scopes), record.created, end, ""),
        )
        return record, f"ana_{identity}_{secret}"

    async def of_page(self) -> KeyRecord:
        """The key that stands for the page on this machine, whose text nobody has; made where there is none."""
        for record in await self.all():
            if record.name == PAGE and record.state == "valid":
                return record
        return (await self.create(PAGE, PAGE_SCOPES))[0]

    async def all(self) -> list[KeyRecord]:
        """All keys, oldest first."""
        return [
            _record(row) for row in await self._tables.run(f"select {COLUMNS} from server_keys order by created, id")
        ]

    async def revoke(self, identity: str) -> KeyRecord:
        """Take a key back, with its log-ins, at once; InputError for one that is unknown."""
        found = await self._named(identity)
        if found is None:
            raise InputError(f"There is no key {identity[:80]}.", "`anamnesis keys list` shows them.")
        await self._tables.run("update server_keys set revoked = ? where id = ? and revoked = ''", now(), identity)
        await self._tables.run("delete from server_logins where id = ?", identity)
        return await self._named(identity) or found

    async def check(self, text: str) -> KeyRecord | None:
        """The key with this text, whatever its state; None when there is none."""
        parts = KEY.match(text)
        row = await self._hashed(parts["id"]) if parts else []
        known = row[0][-1] if row else NOBODY
        same = hmac.compare_digest(digest(parts["secret"] if parts else ""), known)
        return _record(row[0]) if same and row else None

    async def login(self, record: KeyRecord, hours: float) -> str:
        """A token for the page's cookie, which stands for a key; only its hash is stored."""
        token = secrets.token_urlsafe(SECRET_BYTES)
        end = at(datetime.now(UTC) + timedelta(hours=hours))
        end = min(end, record.expires) if record.expires else end
        await self._tables.run("delete from server_logins where expires <= ?", now())
        await self._tables.run("insert into server_logins values (?, ?, ?)", digest(token), record.id, end)
        return token

    async def logged_in(self, token: str) -> KeyRecord | None:
        """The key that a token stands for, None when it stands for none any more."""
        found = await self._tables.run(
            "select id from server_logins where hash = ? and expires > ?", digest(token), now()
        )  # an index look-up of a hash tells nothing about the token
        return await self._named(str(found[0][0])) if found else None

    async def logout(self, token: str) -> None:
        """Forget a token."""
        await self._tables.run("delete from server_logins where hash = ?", digest(token))

    async def _named(self, identity: str) -> KeyRecord | None:
        found = await self._tables.run(f"select {COLUMNS} from server_keys where id = ?", identity)
        return _record(found[0]) if found else None

    async def _hashed(self, identity: str) -> list[Row]:
        return await self._tables.run(f"select {COLUMNS}, hash from server_keys where id = ?", identity)


def digest(secret: str) -> str:
    """sha256 of a secret, in hexadecimal."""
    return hashlib.sha256(secret.encode()).hexdigest()


def span(text: str) -> timedelta:
    """``90d``, ``12h``, ``4w`` as a time; InputError for anything else."""
    match = SPAN.match(text.strip())
    if match is None:
        raise InputError(f"{text[:40]!r} is no time.", "Write for example 90d, 12h or 4w.")
    return int(match["number"]) * UNITS[match["unit"]]


def _record(row: Row) -> KeyRecord:
    identity, name, scopes, created, expires, revoked = row[:6]
    return KeyRecord(
        id=identity, name=name, scopes=tuple(scopes.split()), created=created, expires=expires, revoked=revoked
    )
