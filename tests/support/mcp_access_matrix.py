"""The authorisation matrix of the Model Context Protocol: every method for whoever has no key, every tool and kind of
resource for whoever lacks its scope, every way to another's session."""

from __future__ import annotations

from typing import Any

from support.access_matrix import CHALLENGED, NOT_THERE, Cell, Owned, People, Stranger
from support.mcp_clients import over_http

TAKES = {"Accept": "application/json, text/event-stream"}
VERSIONS = ("2025-11-25", "2026-07-28")  # with a handshake, and without
QUERY = {"query": "croup"}
CALLS: dict[str, tuple[str, dict[str, Any]]] = {  # tool: its scope, arguments that would be taken
    "ask": ("ask", {"message": "What is croup?"}),
    "search_literature": ("tools", QUERY),
    "retrieve_passages": ("tools", {**QUERY, "documents": ["library:croup"]}),
    "lookup_differential": ("tools", {"case": "A barking cough."}),
    "fill_knowledge_gaps": ("tools", {"question": "What is croup?"}),
    "find_answered_question": ("tools", {"question": "What is croup?"}),
}
KINDS = {"trace": "traces", "session": "ask", "session-markdown": "ask"}  # kind of resource: its scope
HELLO = {"protocolVersion": VERSIONS[0], "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}


async def mcp_matrix(url: str, people: People, owned: Owned) -> list[Cell]:
    """Try everything at a server's /mcp.

    Raises:
        RuntimeError: the server offers a tool or a kind of resource that this table does not know.
    """
    addresses = await _offered(url, await people.key("whole"))
    cells = [cell for stranger in await people.outsiders() for cell in await _outside(url, stranger, owned)]
    for stranger in await people.others():
        if "Authorization" not in stranger.headers:
            cells += await _outside(url, stranger, owned)
    for scope in ("ask", "tools", "traces"):
        stranger = (await people.without(scope))[0]
        cells += await _without(url, stranger, scope, addresses, owned)
    return [*cells, *(await _another(url, (await people.others())[0], addresses, owned))]


async def _offered(url: str, key: str) -> dict[str, str]:
    """The templates of addresses by kind."""
    async with over_http(url, key) as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        found = (await client.list_resource_templates()).resource_templates
    kinds = {str(kind.name): str(kind.uri_template) for kind in found}
    if not tools <= set(CALLS) or set(kinds) != set(KINDS):
        raise RuntimeError(f"not in the table: {sorted(tools - set(CALLS)) + sorted(set(kinds) ^ set(KINDS))}")
    return kinds


async def _outside(url: str, stranger: Stranger, owned: Owned) -> list[Cell]:
    """Every method over plain HTTP."""
    import httpx

    asked: dict[str, dict[str, Any]] = {
        "initialize": HELLO,
        "ping": {},
        "tools/list": {},
        "tools/call": {"name": "ask", "arguments": {"message": "Why?", "session": owned.session}},
        "resources/list": {},
        "resources/templates/list": {},
        "resources/read": {"uri": f"anamnesis://sessions/{owned.session}"},
        "prompts/list": {},
        "prompts/get": {"name": "case"},
    }
    due = (
        CHALLENGED,
        stranger.code if "Authorization" in stranger.headers else "no_key",
    )  # a log-in opens nothing here
    cells = []
    async with httpx.AsyncClient(base_url=url, headers=TAKES, timeout=30, trust_env=False) as client:
        for version in VERSIONS:
            headers = {"MCP-Protocol-Version": version, **stranger.headers}
            for method, params in asked.items():
                body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
                response = await client.post("/mcp", json=body, headers=headers)
                said = (response.status_code, response.json().get("error", {}).get("code"))
                wrong = "" if said == due else f"said {said}"
                cells.append(Cell(stranger.name, f"MCP {version} {method}", response.status_code, wrong))
    return cells


async def _without(url: str, stranger: Stranger, scope: str, addresses: dict[str, str], owned: Owned) -> list[Cell]:
    """What a key without a scope is not to do."""
    cells = []
    async with over_http(url, _key(stranger)) as client:
        listed = {tool.name for tool in (await client.list_tools()).tools}
        for tool, (needed, arguments) in CALLS.items():
            if needed == scope:
                kind = _kind(await client.call_tool(tool, arguments))
                wrong = "" if kind == "scope" and tool not in listed else f"said {kind!r}"
                cells.append(Cell(stranger.name, f"MCP {tool}", 0, wrong))
        for name, address in addresses.items():
            if KINDS[name] == scope:
                told = await _read(client, address.format(session=owned.session, turn=1))
                cells.append(Cell(stranger.name, f"MCP {name}", 0, "" if "lacks the scope" in told else told))
    return cells


async def _another(url: str, stranger: Stranger, addresses: dict[str, str], owned: Owned) -> list[Cell]:
    """Every way to another's session says what it says of one that is not there."""
    cells = []
    async with over_http(url, _key(stranger)) as client:
        for name, address in addresses.items():
            told = [
                (await _read(client, address.format(session=session, turn=1))).replace(session, "SESSION")
                for session in (owned.session, NOT_THERE)
            ]
            cells.append(Cell(stranger.name, f"MCP {name}", 0, _same(told)))
        asked = []
        for session in (owned.session, NOT_THERE):
            result = await client.call_tool("ask", {"message": "Why?", "session": session})
            asked.append(f"{_kind(result)} {result.content}".replace(session, "SESSION"))
        cells.append(Cell(stranger.name, "MCP ask", 0, _same(asked)))
        found = (await client.list_resources()).resources
        cells.append(Cell(stranger.name, "MCP resources/list", 0, "lists something" if found else ""))
    return cells


async def _read(client: Any, address: str) -> str:
    """What reading an address is refused with, "" where it is not."""
    from mcp.shared.exceptions import MCPError

    try:
        await client.read_resource(address)
    except MCPError as error:
        return str(error)
    return ""


def _same(told: list[str]) -> str:
    if "There is no session SESSION." not in told[0]:
        return f"said {told[0][:200]!r}"
    return "" if told[0] == told[1] else "tells that the session is there"


def _kind(result: Any) -> str:
    """The kind of an error result, "" for a result that is none."""
    return str((result.meta or {}).get("anamnesis/error", {}).get("kind", "")) if result.is_error else ""


def _key(stranger: Stranger) -> str:
    return stranger.headers["Authorization"].removeprefix("Bearer ")
