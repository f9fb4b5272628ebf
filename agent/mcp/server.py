"""The protocol's server: lists, calls and reads, for whoever the transport says is calling.

What answers are made of is imported when it is needed: a client's greeting does not wait for it.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, ValidationError

from agent.mcp import asking
from agent.mcp.asking import FIVE, Ask, Here, Offer, Place, TimedOutError, ask, known, within
from agent.mcp.callers import ASK, TOOLS, TRACES, Caller, ScopeError, caller_of, need
from agent.mcp.opening import Opening
from prompts.errors import AnamnesisError, DataError, InputError, ServiceError, ToolError
from prompts.tool_arguments import description
from tools.contract import Outcome, Severity, ToolArtifact, ToolContext
from tools.evidence import Evidence
from tools.notices import noted

if TYPE_CHECKING:
    from agent.agent import Agent
    from tools.contract import Tool


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


OFFERS = {offer.name: offer for offer in (asking.ASK, *FIVE)}
Context = ServerRequestContext[Any, Any]


class Lines:
    """The lines of progress of a call, numbered in their order."""

    def __init__(self, context: Context) -> None:
        self._session, self._loop, self._numbers = context.session, asyncio.get_running_loop(), itertools.count()

    async def line(self, line: str) -> None:
        """Tell a line; nothing is sent where the client asked for none."""
        await self._session.report_progress(next(self._numbers), None, line)

    def elsewhere(self, line: str) -> None:
        """Tell a line from another loop."""
        asyncio.run_coroutine_threadsafe(self.line(line), self._loop)


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
        offers = [*([asking.ASK] if ASK in caller.scopes else []), *(o for o in FIVE if o.name in names)]
        self._opening.begin()  # the first call follows soon
        return types.ListToolsResult(tools=[_tool(offer) for offer in offers])

    async def call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        """Carry out a call; whatever goes wrong with it is an error result. Raises MCPError for an unknown tool."""
        offer = OFFERS.get(params.name)
        if offer is None:
            raise MCPError(types.INVALID_PARAMS, f"There is no tool {params.name[:80]!r}; `tools/list` names them.")
        caller = caller_of(context.request)
        try:
            need(caller, ASK if offer is asking.ASK else TOOLS)
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
            found = await resources_of(await self._opened(), caller_of(context.request))
        return types.ListResourcesResult(resources=found)

    async def list_templates(self, context: Context, _: Any) -> types.ListResourceTemplatesResult:
        """The kinds of address."""
        return types.ListResourceTemplatesResult(resource_templates=templates_for(caller_of(context.request)))

    async def read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        """What lies at an address."""
        with told_without_words():
            found = await resource_at(await self._opened(), str(params.uri), caller_of(context.request))
        return types.ReadResourceResult(contents=[found])

    async def list_prompts(self, _: Context, __: Any) -> types.ListPromptsResult:
        """The prompts."""
        return types.ListPromptsResult(prompts=list(PROMPTS.values()))

    async def get_prompt(self, _: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        """A prompt with its text."""
        return prompt_of(params.name, params.arguments)

    async def _called(self, offer: Offer, given: BaseModel, caller: Caller, context: Context) -> types.CallToolResult:
        from tools.messages import messages

        lines = Lines(context)
        await lines.line(messages("en")["progress.ready"])
        agent = await self._opening.agent()  # and whatever is slow to import comes after the first line
        from agent.mcp.asking import told

        if isinstance(given, Ask):
            return await self._asked(agent, given, caller, lines)
        client = (caller.id, _connection(context))
        with self._place.call(caller):
            found = self._remembered.of(client)
            artifact = await within(self._place.seconds, call(agent, offer.name, given, found, lines.elsewhere))
        self._remembered.add(client, artifact.evidence)
        if artifact.outcome in (Outcome.REFUSED, Outcome.UNAVAILABLE):
            return failed(told(artifact), "input" if artifact.outcome is Outcome.REFUSED else "service_unavailable")
        return result(artifact, told(artifact))

    async def _asked(self, agent: Agent, given: Ask, caller: Caller, lines: Lines) -> types.CallToolResult:
        from agent.mcp.asking import answered

        answer = await ask(agent, given, caller, self._place, lines.line)
        trace = trace_link(answer.session, answer.turn)
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

    asks = offer is asking.ASK
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


# What can be read by address: the traces of the caller's turns, and the caller's sessions whole.

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


def templates_for(caller: Caller) -> list[types.ResourceTemplate]:
    """The kinds of address that the caller's scopes open."""
    scopes = {"trace": TRACES}
    return [t for t in TEMPLATES if scopes.get(t.name, ASK) in caller.scopes]


async def resources_of(agent: Agent, caller: Caller) -> list[types.Resource]:
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


async def resource_at(agent: Agent, uri: str, caller: Caller) -> types.TextResourceContents:
    """What lies at an address. Raises MCPError for one that is not there, or not the caller's, or not in scope."""
    try:
        text, kind = await _text_at(agent, uri, caller)
    except AnamnesisError as error:
        raise MCPError(types.INVALID_PARAMS, str(error), {"uri": uri}) from None
    return types.TextResourceContents(uri=uri, text=text, mime_type=kind)


async def _text_at(agent: Agent, uri: str, caller: Caller) -> tuple[str, str]:
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


# Results as the protocol has them: structured and as text; a user's mistake is an error result with advice.

log = logging.getLogger(__name__)
META = "anamnesis/error"  # under this key of `_meta` an error result says its kind, for programs
KINDS: tuple[tuple[type[AnamnesisError], str], ...] = (
    (ScopeError, "scope"),
    (TimedOutError, "timeout"),
    (InputError, "input"),
    (ToolError, "input"),
    (ServiceError, "service_unavailable"),
    (DataError, "data"),
)
UNEXPECTED = "This call failed unexpectedly. The server's log says why; the session, if there is one, can go on."


def result(value: BaseModel, text: str, links: Sequence[types.ResourceLink] = ()) -> types.CallToolResult:
    """A result: the value as structured content, and the text for those who read."""
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text), *links],
        structured_content=value.model_dump(mode="json"),
    )


def refusal(error: AnamnesisError) -> types.CallToolResult:
    """An error result: what failed and what to do about it."""
    kind = next((name for of, name in KINDS if isinstance(error, of)), "error")
    return failed(str(error), kind)


def failed(text: str, kind: str) -> types.CallToolResult:
    """An error result of a kind: ``input``, ``scope``, ``service_unavailable``, ``timeout``, ``data``, ``error``.

    It has no structured content, because clients hold that against the schema of what the tool gives when it works.
    """
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text)], is_error=True, _meta={META: {"kind": kind}}
    )


def bad_arguments(error: ValidationError) -> types.CallToolResult:
    """An error result that names each argument to be mended, without repeating what was given."""
    faults = "; ".join(f"{'.'.join(str(p) for p in e['loc']) or 'arguments'}: {e['msg']}" for e in error.errors())
    return failed(f"The arguments cannot be taken: {faults}. `tools/list` gives their schema.", "input")


def unexpected(name: str) -> types.CallToolResult:
    """An error result for a fault of ours, whose traceback goes to the log."""
    log.exception("The tool %s failed", name)
    return failed(UNEXPECTED, "error")


@contextmanager
def told_without_words() -> Iterator[None]:
    """Around what is no call: a typed error is told, a fault of ours is logged and told without its words.

    Raises:
        MCPError: for every error; the library would hand the words of any other to the client.
    """
    try:
        yield
    except MCPError:
        raise
    except AnamnesisError as error:
        raise MCPError(types.INTERNAL_ERROR, str(error)) from None
    except Exception:
        log.exception("A request failed")
        raise MCPError(types.INTERNAL_ERROR, UNEXPECTED) from None


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """The schema of a model as it is given out."""
    return model.model_json_schema(mode="serialization")


# Prompts that a client offers to its user by name: each asks for `ask` to be used as it is meant.

TEXT = "text"
PROMPTS = {
    "case": types.Prompt(
        name="case",
        title="A patient's case",
        description="Ranked diagnoses with evidence, and the next question to ask the patient.",
        arguments=[types.PromptArgument(name=TEXT, description="The case, as told.", required=True)],
    ),
    "evidence": types.Prompt(
        name="evidence",
        title="A medical question",
        description="An answer in which every sentence cites its source.",
        arguments=[types.PromptArgument(name=TEXT, description="The question.", required=True)],
    ),
}


def prompt_of(name: str, arguments: dict[str, str] | None) -> types.GetPromptResult:
    """A prompt with its text; raises MCPError for an unknown one, or without a text."""
    if name not in PROMPTS:
        raise MCPError(types.INVALID_PARAMS, f"There is no prompt {name[:80]!r}; there are: {', '.join(PROMPTS)}.")
    text = (arguments or {}).get(TEXT, "").strip()
    if not text:
        raise MCPError(types.INVALID_PARAMS, f"The prompt {name!r} needs the argument {TEXT!r}.")
    content = types.TextContent(type="text", text=f"{description(f'use_{name}')}\n\n{text}")
    message = types.PromptMessage(role="user", content=content)
    return types.GetPromptResult(description=PROMPTS[name].description, messages=[message])


# The five tools, called by a client itself: with the safety of a turn, without its judgements.
# A text that is long or describes a patient is treated as a case, so that only medical words of it reach PubMed;
# what speaks to machines is left out, as the agent's own selector and filter leave it out, and named.


async def call(
    agent: Agent, name: str, arguments: BaseModel, found: list[Evidence], progress: Callable[[str], None]
) -> ToolArtifact:
    """Carry out a call.

    Args:
        arguments: validated, of the tool's own schema.
        found: what earlier calls of this client found.
        progress: is told what the tool does now, on the agent's loop.

    Raises:
        InputError: the configuration does not offer the tool.
        ToolError: the arguments must be mended.
        ServiceError: an outside service failed.
    """
    from agent.loop import arun

    tool = next((t for t in agent.parts.tools if t.name == name), None)
    if tool is None:
        raise InputError(
            f"The configuration in use does not offer {name}.", "`tools/list` names the tools that it does."
        )
    language = _context(tool.name, arguments, found).language
    return _safe(await arun(_run(agent, tool, arguments, found, progress)), language)


async def _run(
    agent: Agent, tool: Tool, arguments: BaseModel, found: list[Evidence], progress: Callable[[str], None]
) -> ToolArtifact:
    from agent.settings import untraced
    from prompts.metering import Meter, metered
    from tools.text.sentences import without_gaps

    texts = {field: without_gaps(value) for field, value in arguments if isinstance(value, str)}
    settled = arguments.model_copy(update=texts)
    lent = replace(_context(tool.name, settled, found), progress=progress)
    with untraced(agent.settings), metered(Meter(agent.settings.budget, agent.settings.prices)):
        return await tool.run(settled, lent)


def _context(name: str, arguments: Any, found: list[Evidence]) -> ToolContext:
    """What a turn would lend to the tool, as far as the call tells it."""
    from tools.text.language import language_of

    text = next(str(getattr(arguments, field)) for field in ("query", "case", "question") if hasattr(arguments, field))
    text = text or "; ".join(getattr(asking, "findings", ()))
    kind = "case" if name == "lookup_differential" or _is_case(text) else "evidence"
    return ToolContext(question=text, kind=kind, language=language_of(text), evidence=found, retrieved=bool(found))


def _is_case(text: str) -> bool:
    from graphs.triage.local import describes_patient
    from tools.literature.privacy import is_narrative

    return is_narrative(text) or describes_patient(text)


def _safe(artifact: ToolArtifact, language: str) -> ToolArtifact:
    """The result without what speaks to machines, and with a notice that names it."""
    from graphs.judging.orders import instructing

    everything = [*artifact.evidence, *(a.evidence for a in artifact.answered)]
    ids = instructing(everything)
    if not ids:
        return artifact
    titles = dict.fromkeys(e.title or e.document_id for e in everything if e.id in ids)
    notice = noted("speaks_to_machines", language, Severity.WARNING, detail="; ".join(titles))
    evidence = [e for e in artifact.evidence if e.id not in ids]
    return artifact.model_copy(
        update={
            "evidence": evidence,
            "answered": [a for a in artifact.answered if a.evidence.id not in ids],
            "gaps": [
                g.model_copy(update={"covered_by": tuple(c for c in g.covered_by if c not in ids)})
                for g in artifact.gaps
            ],
            "notices": [*artifact.notices, notice],
            "outcome": artifact.outcome if evidence or artifact.outcome is not Outcome.OK else Outcome.NOTHING_FOUND,
        }
    )
