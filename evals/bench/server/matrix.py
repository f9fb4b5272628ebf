"""The authorisation matrix: every stranger at every endpoint. Each must be refused, and told nothing of any session."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from evals.bench.server.endpoints import Endpoint, guarded, request_of, scope_of
from evals.bench.server.strangers import People, Stranger

if TYPE_CHECKING:
    import httpx

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
