"""The official client of the Model Context Protocol, as tests use it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import mcp_types as types
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

MODES = ("legacy", "2026-07-28")  # with a handshake and a connection; every request by itself


@asynccontextmanager
async def over_http(url: str, key: str, mode: str = "legacy") -> AsyncIterator[Client]:
    """A client of a server's /mcp with a key, "" for none."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with (
        httpx.AsyncClient(headers=headers, timeout=30, trust_env=False) as requests,
        Client(streamable_http_client(f"{url}/mcp", http_client=requests), mode=mode) as client,
    ):
        yield client


def text_of(result: types.CallToolResult) -> str:
    """What a result says to a reader."""
    return "\n".join(part.text for part in result.content if isinstance(part, types.TextContent))


def kind_of(result: types.CallToolResult) -> str:
    """The kind of an error result, "" for a result that is none."""
    assert result.is_error == bool(result.meta and "anamnesis/error" in result.meta)
    assert not result.is_error or result.structured_content is None  # clients hold it against the tool's schema
    found: Any = (result.meta or {}).get("anamnesis/error", {})
    return str(found.get("kind", ""))
