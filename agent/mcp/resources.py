"""What can be read by address: the traces of the caller's turns, and the caller's sessions whole."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import mcp_types as types
from mcp.shared.exceptions import MCPError

from agent.mcp.asking import known
from agent.mcp.callers import ASK, TRACES, Caller, need
from prompts.errors import AnamnesisError, InputError

if TYPE_CHECKING:
    from agent.agent import Agent

ADDRESS = re.compile(r"^anamnesis://(?P<kind>traces|sessions)/(?P<session>[^/]+)(?:/(?P<part>[^/]+))?$")
LISTED = 50  # ours: sessions listed, last used first; every other one can be read by its address
JSON, MARKDOWN = "application/json", "text/markdown"
TEMPLATES = (
    types.ResourceTemplate(
        name="trace",
        title="Trace of a turn",
        uri_template="anamnesis://traces/{session}/{turn}",
        description="What a turn did: its steps, queries, what was kept and dropped and why.",
        mime_type=JSON,
    ),
    types.ResourceTemplate(
        name="session",
        title="Session",
        uri_template="anamnesis://sessions/{session}",
        description="A whole session: messages, answers with their evidence, search strategies.",
        mime_type=JSON,
    ),
    types.ResourceTemplate(
        name="session-markdown",
        title="Session as Markdown",
        uri_template="anamnesis://sessions/{session}/markdown",
        description="The same, to be read.",
        mime_type=MARKDOWN,
    ),
)


def templates(caller: Caller) -> list[types.ResourceTemplate]:
    """The kinds of address that the caller's scopes open."""
    scopes = {"trace": TRACES}
    return [t for t in TEMPLATES if scopes.get(t.name, ASK) in caller.scopes]


async def listed(agent: Agent, caller: Caller) -> list[types.Resource]:
    """The caller's sessions, last used first, each followed by the traces of its turns."""
    from agent.loop import arun

    found: list[types.Resource] = []
    for record in await arun(agent.records.list(owner=caller.id, limit=LISTED)):
        if ASK in caller.scopes:
            uri = f"anamnesis://sessions/{record.id}"
            found.append(types.Resource(name=record.id, title=record.title, uri=uri, mime_type=JSON))
        if TRACES in caller.scopes:
            found += [trace_resource(record.id, turn) for turn in range(1, record.turns + 1)]
    return found


def trace_resource(session: str, turn: int) -> types.Resource:
    """The trace of a turn, to be listed."""
    uri = f"anamnesis://traces/{session}/{turn}"
    return types.Resource(name=f"trace {session}/{turn}", title=f"Trace of turn {turn}", uri=uri, mime_type=JSON)


def trace_link(session: str, turn: int) -> types.ResourceLink:
    """The same, to go with an answer."""
    return types.ResourceLink(**trace_resource(session, turn).model_dump())


async def read(agent: Agent, uri: str, caller: Caller) -> types.TextResourceContents:
    """What lies at an address. Raises MCPError for one that is not there, or not the caller's, or not in scope."""
    try:
        text, kind = await _read(agent, uri, caller)
    except AnamnesisError as error:
        raise MCPError(types.INVALID_PARAMS, str(error), {"uri": uri}) from None
    return types.TextResourceContents(uri=uri, text=text, mime_type=kind)


async def _read(agent: Agent, uri: str, caller: Caller) -> tuple[str, str]:
    from agent.loop import arun

    address = ADDRESS.match(uri)
    if address is None:
        raise InputError("There is no such resource.", "`resources/templates/list` gives the addresses.")
    kind, session, part = address["kind"], address["session"], address["part"] or ""
    need(caller, TRACES if kind == "traces" else ASK)
    await known(agent, session, caller)
    if kind == "traces":
        return await _trace(agent, session, part), JSON
    if part not in ("", "markdown"):
        raise InputError("There is no such resource.", "A session is read as it is, or with /markdown.")
    text = await arun(agent.records.export(session, "markdown" if part else "json", owner=caller.id))
    return text, MARKDOWN if part else JSON


async def _trace(agent: Agent, session: str, turn: str) -> str:
    from agent.loop import arun

    run = f"{session}/{turn}"
    return json.dumps({"run": run, "events": await arun(agent.traces.events(run))}, ensure_ascii=False)
