"""Who calls: a key in the Authorization header, or the page's log-in cookie, becomes a `Caller` with scopes.

Keys are looked up at every request, so that one that is taken back, in any process, is refused with the next.
"""

from __future__ import annotations

import ipaddress
import secrets
from dataclasses import dataclass
from time import monotonic

from agent.server.keys import SCOPES, SECRET_BYTES, KeyRecord, Keys, digest
from agent.server.limits import Rate
from agent.server.problems import Refusal

COOKIE = "anamnesis_login"
CHALLENGE = {"WWW-Authenticate": "Bearer"}
ONCE = "once_"  # begins a word that logs in one time
OFFERED = 600.0  # ours: seconds for which such a word holds
MOST_OPENED = 10_000  # ours: keys and log-ins that are remembered to have opened something
NETWORK = 64  # code: bits of an IPv6 address that name a network (RFC 4291); one machine has all the others to itself


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
        failures: how often an address may try what is no key. Keys that have opened something here go on to, so that
            nobody is locked out by another behind the same address.
        enabled: False lets everybody in as the owner "" with all scopes; for loopback only.
    """

    COOKIE = COOKIE

    def __init__(self, keys: Keys, rate: Rate, failures: Rate, *, enabled: bool = True) -> None:
        self.keys, self.enabled, self._rate, self._failures = keys, enabled, rate, failures
        self._opened: set[str] = set()  # digests of what has opened something
        self._offered: dict[str, tuple[KeyRecord, float]] = {}  # digest of a word for one log-in: whose, until when

    async def authenticate(
        self, authorization: str | None = None, cookie: str | None = None, address: str = ""
    ) -> Caller:
        """Who calls, counted against how often they may.

        Args:
            authorization: the header's value, ``Bearer ana_...``; it stands above a cookie.
            cookie: the value of the cookie `COOKIE`.
            address: whence the request comes.

        Raises:
            AccessRefused: 401 without a valid key, 429 with ``retry_after`` for a key that asks too often, or an
                address from which too much came that was no key.
            DataError: the keys cannot be read.
        """
        caller = LOCAL
        if self.enabled:
            record = await self._tried(authorization, cookie, network(address))
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

    def offer(self, record: KeyRecord) -> str:
        """A word that logs the page in as the owner of a key: one time, within `OFFERED`, and in this process alone."""
        word = ONCE + secrets.token_urlsafe(SECRET_BYTES)
        self._offered[digest(word)] = record, monotonic() + OFFERED
        return word

    async def redeem(self, word: str, hours: float, address: str = "") -> str:
        """The cookie's value for a word that was offered; raises AccessRefused 401 for any other, or 429."""
        source = network(address)
        self._wait(source)
        record, until = self._offered.pop(digest(word), (None, 0.0))
        if record is None or monotonic() > until:
            self._failures.count(source)
            what = "The link to log in was used already, or its time is over."
            raise AccessRefused(401, "wrong_key", what, "Start the server again for another.", headers=CHALLENGE)
        return await self.keys.login(record, hours)

    async def logout(self, cookie: str) -> None:
        """Forget a log-in."""
        await self.keys.logout(cookie)

    async def _tried(self, authorization: str | None, cookie: str | None, source: str) -> KeyRecord:
        """The key; what is none is counted, and after too many of them not even looked up."""
        given = authorization or cookie
        if given is None:
            return await self._record(authorization, cookie)
        known = digest(given)
        if known not in self._opened:
            self._wait(source)
        try:
            record = await self._record(authorization, cookie)
        except AccessRefused:
            self._failures.count(source)
            raise
        if len(self._opened) >= MOST_OPENED:
            self._opened.clear()
        self._opened.add(known)
        return record

    def _wait(self, source: str) -> None:
        """Raise AccessRefused 429 for an address from which too much came that was no key."""
        wait = self._failures.wait(source)
        if wait:
            what, advice = "Too much came from this address that is no key.", "Wait, then try the right one."
            raise AccessRefused(429, "too_many_failures", what, advice, retry_after=wait)

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


def network(address: str) -> str:
    """What counts as one address: of IPv6 its network, of anything else itself."""
    try:
        known = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(known, ipaddress.IPv6Address) and known.ipv4_mapped is None:
        return str(ipaddress.ip_network((known, NETWORK), strict=False))
    return address


def _valid(record: KeyRecord) -> KeyRecord:
    if record.state != "valid":
        what, advice = f"The key is {record.state}.", "Ask the operator for a new one."
        raise AccessRefused(401, f"key_{record.state}", what, advice, headers=CHALLENGE)
    return record


def _unknown(what: str) -> AccessRefused:
    return AccessRefused(401, "wrong_key", what, "See `anamnesis keys`.", headers=CHALLENGE)
