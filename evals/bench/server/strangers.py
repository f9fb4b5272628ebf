"""Callers who may not: without a key, with one that is no more or never was, by a log-in that is over, out of scope."""

from __future__ import annotations

from typing import NamedTuple

from agent.server.access import COOKIE
from agent.server.keys import SCOPES, Keys, digest
from agent.server.tables import Tables

PAST = "2020-01-01T00:00:00Z"
HOURS = 1.0  # of a log-in
BEFORE_SECRET = len("ana_") + 12  # characters of a key before the line that begins its secret
SAME_SITE = {"Sec-Fetch-Site": "same-origin"}  # what a browser sends from the server's own page


class Stranger(NamedTuple):
    """A caller.

    Attributes:
        name: for the report. headers: what they send.
        code: of the 401 that they get everywhere; "" for a valid key.
        scopes: what a valid key may do.
    """

    name: str
    headers: dict[str, str]
    code: str = ""
    scopes: tuple[str, ...] = ()


class People:
    """Makes keys in a server's tables. Its methods are awaited on any loop."""

    def __init__(self, tables: Tables) -> None:
        self._tables, self._keys = tables, Keys(tables)

    async def key(self, name: str, scopes: tuple[str, ...] = SCOPES) -> str:
        """The text of a new key."""
        return (await self._keys.create(name, scopes))[1]

    async def outsiders(self) -> list[Stranger]:
        """Everybody whom no endpoint may let in."""
        good, expired, revoked = [await self.key(name) for name in ("good", "expired", "revoked")]
        cookies = await self._log_ins(good)
        await self._tables.run("update server_keys set expires = ? where id = ?", PAST, _id(expired))
        await self._keys.revoke(_id(revoked))
        flipped = good[:-1] + ("A" if good[-1] != "A" else "B")
        headers = {
            "no key": ("", "no_key"),
            "wrong secret": (f"Bearer {flipped}", "wrong_key"),
            "unknown id": (f"Bearer ana_{'0' * 12}{good[BEFORE_SECRET:]}", "wrong_key"),
            "expired": (f"Bearer {expired}", "key_expired"),
            "revoked": (f"Bearer {revoked}", "key_revoked"),
            "malformed: no secret": (f"Bearer {good[:BEFORE_SECRET]}", "wrong_key"),
            "malformed: too long": (f"Bearer {good}x", "wrong_key"),
            "malformed: twice": (f"Bearer {good} {good}", "wrong_key"),
            "malformed: nothing": ("Bearer", "wrong_key"),
            "malformed: no scheme": (good, "wrong_key"),
            "malformed: another scheme": (f"Basic {good}", "wrong_key"),
            "malformed: quotes": ("Bearer ' or 1=1 --", "wrong_key"),
        }
        by_header = [
            Stranger(name, {"Authorization": value} if value else {}, code) for name, (value, code) in headers.items()
        ]
        return [
            *by_header,
            *cookies,
            Stranger(
                "a bad key beside a good cookie",
                {**(await self._in(good)), "Authorization": f"Bearer {flipped}"},
                "wrong_key",
            ),
        ]

    async def without(self, scope: str) -> list[Stranger]:
        """Who may do all but this, by key and by log-in."""
        scopes = tuple(other for other in SCOPES if other != scope)
        return await self._both(f"no scope {scope}", scopes)

    async def others(self) -> list[Stranger]:
        """Who may do all, in their own sessions."""
        return await self._both("another's session", SCOPES)

    async def _both(self, name: str, scopes: tuple[str, ...]) -> list[Stranger]:
        key = await self.key(name, scopes)
        by_key = Stranger(name, {"Authorization": f"Bearer {key}"}, scopes=scopes)
        return [by_key, Stranger(f"{name}, by cookie", await self._in(key), scopes=scopes)]

    async def _log_ins(self, good: str) -> list[Stranger]:
        """Cookies that open nothing any more, or never did."""
        gone, expired = await self.key("gone"), await self.key("old")
        out, over, of_gone, of_old = [await self._in(key) for key in (good, good, gone, expired)]
        await self._keys.logout(out["Cookie"].partition("=")[2])
        token = digest(over["Cookie"].partition("=")[2])
        await self._tables.run("update server_logins set expires = ? where hash = ?", PAST, token)
        await self._keys.revoke(_id(gone))
        await self._tables.run("update server_keys set expires = ? where id = ?", PAST, _id(expired))
        return [
            Stranger("cookie: unknown", _cookie("x" * 43), "logged_out"),
            Stranger("cookie: a key's text", _cookie(good), "logged_out"),
            Stranger("cookie: logged out", out, "logged_out"),
            Stranger("cookie: over", over, "logged_out"),
            Stranger("cookie: of a revoked key", of_gone, "logged_out"),
            Stranger("cookie: of an expired key", of_old, "key_expired"),
        ]

    async def _in(self, key: str) -> dict[str, str]:
        record = await self._keys.check(key)
        if record is None:
            raise RuntimeError("a key that was just made is not known")
        return _cookie(await self._keys.login(record, HOURS))


def _cookie(token: str) -> dict[str, str]:
    return {"Cookie": f"{COOKIE}={token}", **SAME_SITE}


def _id(key: str) -> str:
    return key.split("_")[1]
