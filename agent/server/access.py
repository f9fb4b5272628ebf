"""Who calls: a key in the Authorization header, or the page's log-in cookie, becomes a `Caller` with scopes.

Keys are looked up at every request, so that one that is taken back, in any process, is refused with the next.
"""

from __future__ import annotations

from dataclasses import dataclass

from agent.server.keys import SCOPES, KeyRecord, Keys
from agent.server.limits import Rate
from agent.server.problems import Refusal

COOKIE = "anamnesis_login"
CHALLENGE = {"WWW-Authenticate": "Bearer"}


class AccessRefused(Refusal):
    """A caller who may not: 401 for who they are, 403 for what they may do, 429 for how often they ask."""


@dataclass(frozen=True)
class Caller:
    """Who calls. ``id`` is the key's, the owner of their sessions; "" where no key is asked for."""

    id: str
    name: str
    scopes: frozenset[str]

    def require(self, scope: str) -> None:
        """Raise AccessRefused 403 without this scope."""
        if scope not in self.scopes:
            what = f"This key has no scope {scope!r}."
            raise AccessRefused(403, "scope_missing", what, "Ask the operator for a key that has it.")


LOCAL = Caller("", "local", frozenset(SCOPES))


class Access:
    """Lets callers in.

    Args:
        keys: the keys; rate: how often each may ask.
        enabled: False lets everybody in as the owner "" with all scopes; for loopback only.
    """

    COOKIE = COOKIE

    def __init__(self, keys: Keys, rate: Rate, *, enabled: bool = True) -> None:
        self.keys, self.enabled, self._rate = keys, enabled, rate

    async def authenticate(self, authorization: str | None = None, cookie: str | None = None) -> Caller:
        """Who calls, counted against how often they may.

        Args:
            authorization: the header's value, ``Bearer ana_...``; it stands above a cookie.
            cookie: the value of the cookie `COOKIE`.

        Raises:
            AccessRefused: 401 without a valid key, 429 with ``retry_after`` for one that asks too often.
            DataError: the keys cannot be read.
        """
        caller = LOCAL
        if self.enabled:
            record = await self._record(authorization, cookie)
            caller = Caller(record.id, record.name, frozenset(record.scopes))
        try:
            self._rate.take(caller.id)
        except Refusal as refusal:
            raise AccessRefused(
                refusal.status, refusal.code, refusal.what, refusal.advice, retry_after=refusal.retry_after
            ) from None
        return caller

    async def login(self, text: str, hours: float) -> str:
        """The cookie's value for a key; raises AccessRefused 401."""
        return await self.keys.login(await self._by_key(text), hours)

    async def logout(self, cookie: str) -> None:
        """Forget a log-in."""
        await self.keys.logout(cookie)

    async def _record(self, authorization: str | None, cookie: str | None) -> KeyRecord:
        if authorization:
            scheme, _, text = authorization.partition(" ")
            if scheme.lower() != "bearer":
                raise _unknown("The Authorization header is not of the form Bearer.")
            return await self._by_key(text.strip())
        if cookie:
            found = await self.keys.logged_in(cookie)
            if found is None:
                raise AccessRefused(401, "logged_out", "The log-in is over.", "Log in again.", headers=CHALLENGE)
            return _valid(found)
        raise AccessRefused(
            401, "no_key", "A key is needed.", "Send the header Authorization: Bearer KEY.", headers=CHALLENGE
        )

    async def _by_key(self, text: str) -> KeyRecord:
        found = await self.keys.check(text)
        if found is None:
            raise _unknown("The key is not known.")
        return _valid(found)


def _valid(record: KeyRecord) -> KeyRecord:
    if record.state != "valid":
        what, advice = f"The key is {record.state}.", "Ask the operator for a new one."
        raise AccessRefused(401, f"key_{record.state}", what, advice, headers=CHALLENGE)
    return record


def _unknown(what: str) -> AccessRefused:
    return AccessRefused(401, "wrong_key", what, "See `anamnesis keys`.", headers=CHALLENGE)
