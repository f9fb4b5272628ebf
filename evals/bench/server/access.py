"""The authorisation matrix on the real server and its real data."""

from __future__ import annotations

from typing import Any

from evals.bench.figures import Figure
from evals.bench.server.clients import bearer, native
from evals.bench.server.endpoints import endpoints
from evals.bench.server.essence import TURNS
from evals.bench.server.matrix import Cell, Owned, matrix
from evals.bench.server.mcp_matrix import mcp_matrix
from evals.bench.server.part import Bench, Part
from evals.bench.server.process import keys, serving, with_people
from evals.bench.server.strangers import People

WORDS = ("palpitations", "pulmonary")  # of the conversation that nobody else may read


def strangers_refused(bench: Bench) -> Part:
    """Every stranger at every endpoint of the description, and of MCP."""
    import httpx

    owner = keys(bench.home, 1)[0]
    with serving(bench.home, bench.home / "access.log", ANAMNESIS_SERVER__FAILED_KEYS="1000000") as server:
        session = native(server.url, owner, TURNS)[0].session
        owned = Owned(session, WORDS)
        url = f"{server.url}/api/sessions/{session}"

        async def tried(people: People) -> tuple[list[Cell], list[Cell]]:
            async with httpx.AsyncClient(base_url=server.url, timeout=60, trust_env=False) as client:
                found = endpoints((await client.get("/openapi.json")).json())
                over_http = await matrix(client, found, people, owned)
            return over_http, await mcp_matrix(server.url, people, owned)

        before = _whole(url, owner)
        over_http, over_mcp = with_people(bench.home, tried)
        changed = _whole(url, owner) != before
        faults = server.faults()
    cells = [*over_http, *over_mcp]
    faults += [f"{cell.stranger} at {cell.endpoint}: {cell.wrong}" for cell in cells if cell.wrong]
    faults += ["the session was changed"] if changed else []
    figures = [_figure("http", over_http), _figure("mcp", over_mcp)]
    return Part(figures=figures, faults=faults, details={"cells": [list(cell) for cell in cells]})


def _whole(url: str, key: str) -> Any:
    import httpx

    return httpx.get(url, headers=bearer(key), timeout=60, trust_env=False).raise_for_status().json()


def _figure(name: str, cells: list[Cell]) -> Figure:
    refused = sum(not cell.wrong for cell in cells)
    return Figure(name=f"access.refused_{name}", value=100 * refused / len(cells), unit="%", n=len(cells), asked="100")
