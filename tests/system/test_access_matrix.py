"""The authorisation matrix on a fast agent: every stranger at every endpoint, from the application's own routes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from agent.agent import Agent
from agent.loop import run
from agent.server.tables import Tables
from support.access_matrix import OPEN, Cell, Owned, People, endpoints, guarded, matrix
from support.machine_parts import parts
from support.mcp_access_matrix import mcp_matrix
from support.served import Served, served

UNDESCRIBED = {
    "/openapi.json",
    "/",
    "/docs",
    "/web",
    "/mcp",
}  # the description, the pages' files, MCP: no data of anybody, or below
WORDS = ("Mrs Miller", "orthopnoea")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Agent(home=tmp_path_factory.mktemp("home"), parts=parts()) as agent, served(agent) as running:
        yield running


@pytest.fixture(scope="module")
def people(server: Served) -> People:
    return People(run(Tables(server.agent.database).open()))


@pytest.fixture(scope="module")
def owned(server: Served) -> Owned:
    with server.client() as client:
        session: str = client.post("/api/sessions", json={"title": WORDS[0]}).json()["id"]
        assert client.post(f"/api/sessions/{session}/turns", json={"text": WORDS[1]}).status_code == 200
    return Owned(session, WORDS)


def whole(server: Served, session: str) -> Any:
    return run(server.agent.records.export(session)).partition('"exported_at"')[2].partition("\n")[2]


def test_no_route_is_outside_of_the_matrix(server: Served) -> None:
    described = {endpoint.path for endpoint in endpoints(server.app.openapi())}
    routes = {getattr(route, "path", "") for route in server.app.routes}
    assert routes - described - {""} == UNDESCRIBED
    assert {endpoint.path for endpoint in OPEN} <= described
    assert len(guarded(endpoints(server.app.openapi()))) > 10


def test_every_stranger_is_refused_everywhere_and_told_nothing(server: Served, people: People, owned: Owned) -> None:
    async def tried() -> list[Cell]:
        async with httpx.AsyncClient(base_url=server.url, timeout=30, trust_env=False) as client:
            return await matrix(client, endpoints(server.app.openapi()), people, owned)

    before = whole(server, owned.session)
    cells = asyncio.run(tried())
    assert [cell for cell in cells if cell.wrong] == []
    assert len(cells) > 250
    assert {cell.status for cell in cells} == {200, 401, 403, 404}  # 200: the empty list of one's own sessions
    assert whole(server, owned.session) == before


def test_every_stranger_is_refused_by_the_model_context_protocol(server: Served, people: People, owned: Owned) -> None:
    before = whole(server, owned.session)
    cells = asyncio.run(mcp_matrix(server.url, people, owned))
    assert [cell for cell in cells if cell.wrong] == []
    assert len(cells) > 150
    assert whole(server, owned.session) == before


def test_an_endpoint_that_lets_somebody_in_is_seen(server: Served, people: People, owned: Owned) -> None:
    """The matrix itself: a server without authentication fails nearly everywhere."""

    async def tried() -> list[Cell]:
        server.app.state.access.enabled = False
        try:
            async with httpx.AsyncClient(base_url=server.url, timeout=30, trust_env=False) as client:
                found = [e for e in endpoints(server.app.openapi()) if e.method == "GET"]
                return await matrix(client, found, people, owned)
        finally:
            server.app.state.access.enabled = True

    cells = asyncio.run(tried())
    wrong = [cell for cell in cells if cell.wrong]
    assert len(wrong) > 0.8 * len(cells)
