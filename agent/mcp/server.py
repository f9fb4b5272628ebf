"""The protocol's server: lists, calls and reads, for whoever the transport says is calling.

What answers are made of is imported when it is needed: a client's greeting does not wait for it.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, ValidationError

from agent.mcp import arguments, prompts, resources
from agent.mcp.arguments import FIVE, Ask, Offer
from agent.mcp.asking import Here, Place, ask, within
from agent.mcp.callers import ASK, TOOLS, TRACES, Caller, caller_of, need
from agent.mcp.opening import Opening
from agent.mcp.results import bad_arguments, failed, refusal, result, schema_of, told_without_words, unexpected
from agent.mcp.tools import call
from prompts.errors import AnamnesisError
from prompts.tool_arguments import description
from tools.contract import Outcome, ToolArtifact
from tools.evidence import Evidence

# What a client's tool calls have found so far, so that `fill_knowledge_gaps` can count it as covered.
CLIENTS = 200  # ours: connections remembered; the one used longest ago is forgotten
PIECES = 200  # ours: pieces of evidence of one connection, some hundred kilobytes


class Remembered:
    """Evidence by connection, bounded, in order of last use."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: OrderedDict[tuple[str, str], OrderedDict[str, Evidence]] = OrderedDict()

    def add(self, client: tuple[str, str], evidence: Iterable[Evidence]) -> None:
        """Remember evidence for a client: (key's id, connection's id)."""
        with self._lock:
            held = self._found.setdefault(client, OrderedDict())
            self._found.move_to_end(client)
            for item in evidence:
                held[item.id] = item
                held.move_to_end(item.id)
            while len(held) > PIECES:
                held.popitem(last=False)
            while len(self._found) > CLIENTS:
                self._found.popitem(last=False)

    def of(self, client: tuple[str, str]) -> list[Evidence]:
        """What was found for a client, oldest first."""
        with self._lock:
            return list(self._found.get(client, {}).values())


if TYPE_CHECKING:
    from agent.agent import Agent

OFFERS = {offer.name: offer for offer in (arguments.ASK, *FIVE)}
Context = ServerRequestContext[Any, Any]


class Service:
    """The handlers of the protocol's requests.

    Args:
        opening: the agent.
        place: where turns and calls run.
    """

    def __init__(self, opening: Opening, place: Place | None = None) -> None:
        self._opening, self._place = opening, place or Here()
        self._remembered = Remembered()

    async def list_tools(self, context: Context, _: Any) -> types.ListToolsResult:
        """The tools that the caller's scopes open and the configuration offers."""
        caller = caller_of(context.request)
        names = await self._opening.tools([offer.name for offer in FIVE]) if TOOLS in caller.scopes else []
        offers = [*([arguments.ASK] if ASK in caller.scopes else []), *(o for o in FIVE if o.name in names)]
        self._opening.begin()  # the first call follows soon
        return types.ListToolsResult(tools=[_tool(offer) for offer in offers])

    async def call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        """Carry out a call; whatever goes wrong with it is an error result. Raises MCPError for an unknown tool."""
        offer = OFFERS.get(params.name)
        if offer is None:
            raise MCPError(types.INVALID_PARAMS, f"There is no tool {params.name[:80]!r}; `tools/list` names them.")
        caller = caller_of(context.request)
        try:
            need(caller, ASK if offer is arguments.ASK else TOOLS)
            given = offer.arguments.model_validate(params.arguments or {})
            return await self._called(offer, given, caller, context)
        except ValidationError as error:
            return bad_arguments(error)
        except AnamnesisError as error:
            return refusal(error)
        except Exception:  # noqa: BLE001  a fault of ours: it is logged, and the connection stays
            return unexpected(offer.name)

    async def list_resources(self, context: Context, _: Any) -> types.ListResourcesResult:
        """The caller's sessions and traces."""
        with told_without_words():
            found = await resources.listed(await self._opened(), caller_of(context.request))
        return types.ListResourcesResult(resources=found)

    async def list_templates(self, context: Context, _: Any) -> types.ListResourceTemplatesResult:
        """The kinds of address."""
        return types.ListResourceTemplatesResult(resource_templates=resources.templates(caller_of(context.request)))

    async def read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        """What lies at an address."""
        with told_without_words():
            found = await resources.read(await self._opened(), str(params.uri), caller_of(context.request))
        return types.ReadResourceResult(contents=[found])

    async def list_prompts(self, _: Context, __: Any) -> types.ListPromptsResult:
        """The prompts."""
        return types.ListPromptsResult(prompts=prompts.listed())

    async def get_prompt(self, _: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        """A prompt with its text."""
        return prompts.filled(params.name, params.arguments)

    async def _called(self, offer: Offer, given: BaseModel, caller: Caller, context: Context) -> types.CallToolResult:
        from agent.mcp.told import told

        agent = await self._opening.agent()
        if isinstance(given, Ask):
            return await self._asked(agent, given, caller, context)
        client = (caller.id, _connection(context))
        with self._place.call(caller):
            found = self._remembered.of(client)
            artifact = await within(self._place.seconds, call(agent, offer.name, given, found))
        self._remembered.add(client, artifact.evidence)
        if artifact.outcome in (Outcome.REFUSED, Outcome.UNAVAILABLE):
            return failed(told(artifact), "input" if artifact.outcome is Outcome.REFUSED else "service_unavailable")
        return result(artifact, told(artifact))

    async def _asked(self, agent: Agent, given: Ask, caller: Caller, context: Context) -> types.CallToolResult:
        from agent.mcp.told import answered

        async def report(done: float, line: str) -> None:
            await context.session.report_progress(done, None, line)

        answer = await ask(agent, given, caller, self._place, report)
        trace = resources.trace_link(answer.session, answer.turn)
        return result(answer, answered(answer), [trace] if TRACES in caller.scopes else [])

    async def _opened(self) -> Agent:
        try:
            return await self._opening.agent()
        except AnamnesisError as error:
            raise MCPError(types.INTERNAL_ERROR, str(error)) from None


def server_of(service: Service, version: str) -> Server[Any]:
    """The server around the handlers."""
    return Server(
        "anamnesis",
        version=version,
        title="Anamnesis",
        instructions=description("instructions"),
        on_list_tools=service.list_tools,
        on_call_tool=service.call_tool,
        on_list_resources=service.list_resources,
        on_list_resource_templates=service.list_templates,
        on_read_resource=service.read_resource,
        on_list_prompts=service.list_prompts,
        on_get_prompt=service.get_prompt,
    )


def _tool(offer: Offer) -> types.Tool:
    from graphs.answering.contract import Answer

    asks = offer is arguments.ASK
    return types.Tool(
        name=offer.name,
        title=offer.title,
        description=description(offer.name),
        input_schema=offer.arguments.model_json_schema(),
        output_schema=schema_of(Answer if asks else ToolArtifact),
        annotations=types.ToolAnnotations(
            read_only_hint=not asks, destructive_hint=False, idempotent_hint=not asks, open_world_hint=offer.open_world
        ),
    )


def _connection(context: Context) -> str:
    """The connection's id, where the protocol has connections and the transport names them; else ""."""
    return str(context.request.headers.get("mcp-session-id", "")) if context.request is not None else ""
