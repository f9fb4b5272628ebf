"""The authorisation matrix: every stranger at every endpoint. Each must be refused, and told nothing of any session.

Endpoints are those that the server's description names, each with a request that a caller who may would be given.
Strangers come without a key, with one that is no more or never was, by a log-in that is over, out of scope.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import httpx

from agent.server.access import COOKIE
from agent.server.keys import SCOPES, Keys, digest
from agent.server.tables import Tables

METHODS = ("get", "post", "put", "patch", "delete")
COMPLETION = {"model": "anamnesis", "messages": [{"role": "user", "content": "What is croup?"}]}


class Endpoint(NamedTuple):
    """A method and a path with its parameters in braces."""

    method: str
    path: str

    @property
    def of_a_session(self) -> bool:
        """Whether its path names a session."""
        return "{session}" in self.path

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


OPEN = frozenset(
    Endpoint(*pair) for pair in (("GET", "/health"), ("GET", "/ready"), ("POST", "/api/login"), ("POST", "/api/logout"))
)  # whoever calls: they tell nothing of anybody
ANY_SCOPE = frozenset({Endpoint("GET", "/api/me")})
PUT_IN = Endpoint("POST", "/api/sessions/{session}/documents")
OWN_SCOPE = {"review": "review", "trace": "traces"}  # last part of the path: its scope; every other one needs `ask`
BODIES: dict[Endpoint, Any] = {
    Endpoint("POST", "/api/sessions"): {},
    Endpoint("PATCH", "/api/sessions/{session}"): {"title": "Mine"},
    Endpoint("POST", "/api/sessions/{session}/turns"): {"text": "What is croup?"},
    Endpoint("POST", "/api/sessions/{session}/reply"): {"text": "yes"},
    Endpoint("PUT", "/api/sessions/{session}/turns/{turn}/review"): {"verdict": "accepted"},
    Endpoint("PUT", "/api/sessions/{session}/turns/{turn}/feedback"): {"helpful": True},
    Endpoint("POST", "/v1/chat/completions"): COMPLETION,
}


def endpoints(description: Mapping[str, Any]) -> list[Endpoint]:
    """All endpoints of an OpenAPI document."""
    paths = description["paths"]
    return [Endpoint(method.upper(), path) for path, said in paths.items() for method in said if method in METHODS]


def guarded(found: Iterable[Endpoint]) -> list[Endpoint]:
    """Those that need a key: all but the few that are open to everybody."""
    return [endpoint for endpoint in found if endpoint not in OPEN]


def scope_of(endpoint: Endpoint) -> str:
    """The scope that an endpoint needs, "" for any."""
    if endpoint in ANY_SCOPE:
        return ""
    return OWN_SCOPE.get(endpoint.path.rsplit("/", 1)[-1], "ask")


def request_of(endpoint: Endpoint, session: str) -> dict[str, Any]:
    """A request that would be taken, as arguments of httpx's ``request``."""
    return {
        "method": endpoint.method,
        "url": endpoint.path.format(session=session, turn=1, model="anamnesis"),
        "json": BODIES.get(endpoint),
        **({"json": None, "content": b"A letter.", "params": {"name": "letter.txt"}} if endpoint == PUT_IN else {}),
    }


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


NOT_THERE = "f" * 16  # an id that no session has
OF_THE_REQUEST = ("x-request-id", "date")  # headers that differ from one answer to the next
CHALLENGED = 401


class Cell(NamedTuple):
    """A stranger at an endpoint; ``wrong`` says what should not have been, "" for nothing."""

    stranger: str
    endpoint: str
    status: int
    wrong: str


class Owned(NamedTuple):
    """A session with a turn that belongs to somebody else, and words of it that nobody else may read."""

    session: str
    words: tuple[str, ...]


class Said(NamedTuple):
    """What an answer of the server says, without what names the request."""

    status: int
    code: str
    body: str
    headers: tuple[tuple[str, str], ...]


async def matrix(client: httpx.AsyncClient, found: Sequence[Endpoint], people: People, owned: Owned) -> list[Cell]:
    """Try everything.

    Args:
        client: of the server, without a key. found: its endpoints.
        people: makes the strangers. owned: what they want.
    """
    closed = guarded(found)
    cells = [
        await _tried(client, stranger, endpoint, owned, (CHALLENGED, stranger.code))
        for stranger in await people.outsiders()
        for endpoint in closed
    ]
    for scope in sorted({scope_of(endpoint) for endpoint in closed} - {""}):
        within = [endpoint for endpoint in closed if scope_of(endpoint) == scope]
        for stranger in await people.without(scope):
            cells += [await _tried(client, stranger, e, owned, (403, "scope_missing")) for e in within]
    for stranger in await people.others():
        of_sessions = [endpoint for endpoint in closed if endpoint.of_a_session]
        cells += [await _tried(client, stranger, e, owned, (404, "no_session")) for e in of_sessions]
        cells += await _elsewhere(client, stranger, owned)
    return cells


async def _tried(
    client: httpx.AsyncClient, stranger: Stranger, endpoint: Endpoint, owned: Owned, due: tuple[int, str]
) -> Cell:
    """One cell: refused as is due, with the same answer for a session that is not there."""
    real, unreal = [
        await _said(client, stranger, request_of(endpoint, session), session) for session in (owned.session, NOT_THERE)
    ]
    wrong = [f"said {real.status} {real.code}, not {due}"] if (real.status, real.code) != due else []
    wrong += ["tells that the session is there"] if real != unreal else []
    wrong += ["has words of it"] if any(word in real.body for word in owned.words) else []
    challenged = any(name == "www-authenticate" for name, _ in real.headers)
    wrong += ["a wrong challenge"] if challenged != (due[0] == CHALLENGED) else []
    return Cell(stranger.name, str(endpoint), real.status, "; ".join(wrong))


async def _elsewhere(client: httpx.AsyncClient, stranger: Stranger, owned: Owned) -> list[Cell]:
    """Ways to a session that are not in the path: the session's header and metadata, and the list."""
    asked = {"model": "anamnesis", "messages": [{"role": "user", "content": "Why?"}]}
    url = "/v1/chat/completions"
    ways: list[tuple[str, dict[str, Any]]] = [
        ("by X-Session-Id", {"method": "POST", "url": url, "json": asked, "headers": {"X-Session-Id": "{session}"}}),
        ("by metadata", {"method": "POST", "url": url, "json": {**asked, "metadata": {"session": "{session}"}}}),
    ]
    cells = []
    for name, request in ways:
        real, unreal = [
            await _said(client, stranger, json.loads(json.dumps(request).replace("{session}", session)), session)
            for session in (owned.session, NOT_THERE)
        ]
        wrong = [] if (real.status, real.code) == (404, "no_session") else [f"said {real.status} {real.code}"]
        wrong += ["tells that the session is there"] if real != unreal else []
        cells.append(Cell(stranger.name, f"POST {url} {name}", real.status, "; ".join(wrong)))
    listed = await client.get("/api/sessions", headers=stranger.headers)
    wrong = [] if listed.json() == {"sessions": []} else ["lists another's session"]
    return [*cells, Cell(stranger.name, "GET /api/sessions, its list", listed.status_code, "; ".join(wrong))]


async def _said(client: httpx.AsyncClient, stranger: Stranger, request: dict[str, Any], session: str) -> Said:
    headers = {**request.get("headers", {}), **stranger.headers}
    client.cookies.clear()
    response = await client.request(**{**request, "headers": headers})
    number = response.headers.get("x-request-id", "?")
    body = response.text.replace(number, "").replace(session, "SESSION")
    told = sorted((k, v) for k, v in response.headers.items() if k not in OF_THE_REQUEST)
    return Said(response.status_code, _code(response), body, tuple(told))


def _code(response: httpx.Response) -> str:
    try:
        return str(response.json()["error"]["code"])
    except (ValueError, KeyError, TypeError):
        return ""
