"""The agent's model calls through Inspect: `agent_bridge` takes them from the client, and Inspect's model makes them.

The agent calls a model named ``inspect``; the bridge hands the request to the model of the run, which is the one that
the settings name, at the address and with the key that they name. So each request stands in the log as it was sent.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from inspect_ai.event import InfoEvent, ModelEvent, SpanBeginEvent, SpanEndEvent, ToolEvent
from inspect_ai.log import transcript
from inspect_ai.util import current_span_id

from prompts.errors import InputError
from prompts.model_settings import ModelSettings, Role

if TYPE_CHECKING:
    from inspect_ai.model import Model

    from agent.settings import Settings


NOWHERE = "http://127.0.0.1:9"  # the discard port: a request that the bridge does not take reaches nobody
NAME = "inspect"  # what the bridge listens to; a role with a model of its own calls inspect/ROLE


@dataclass(frozen=True)
class Bridged:
    """Settings by which the agent calls the bridge, and the models behind it by role.

    ``model`` is None where no model is named: the local engine judges, and nothing is bridged.
    """

    settings: Settings
    model: Model | None
    roles: dict[str, Model]

    @asynccontextmanager
    async def calls(self) -> AsyncIterator[Calls | None]:
        """Catches the model calls of one session; None where none is made."""
        if self.model is None:
            yield None
            return
        from inspect_ai.agent import agent_bridge

        made = Calls()
        async with agent_bridge(model_event_sink=made, forward_generation_config=True, client_mcp_servers=False):
            _whole_requests()
            yield made


def bridged(settings: Settings) -> Bridged:
    """The bridge of settings.

    Raises:
        InputError: single roles have a model, and there is none for the rest.
    """
    model = settings.language_model
    if model is None or not model.judges():
        return Bridged(settings.without_models(), None, {})
    if not model.name:
        raise InputError("Only single roles have a model.", "Set ANAMNESIS_MODEL too, to run with a log.")
    apart = [role for role, own in settings.roles.items() if own.model or own.base_url is not None or own.api_key]
    roles = {role: _model(model.of(role)) for role in apart}
    own = {role: _through(settings.roles[role], role, model.of(role).name) for role in apart}
    prices = dict(settings.prices)
    for place, name in [(NAME, model.name), *((f"{NAME}/{role}", model.of(role).name) for role in apart)]:
        if name in prices:
            prices[place] = prices[name]
    through = settings.model_copy(
        update={
            "model": NAME,
            "openai_base_url": _nowhere(model.name),
            "openai_api_key": None,
            "roles": {**settings.roles, **own},
            "prices": prices,
        }
    )
    return Bridged(through, _model(model), {str(role): made for role, made in roles.items()})


@cache
def _whole_requests() -> None:
    """Let the bridge see requests whole, once a process.

    It reads the body that the client made, and not what is sent beside it as the extra body, where the agent puts the
    form of the reply and the tools (`prompts.forms`). Called inside the bridge, whose own change of the client comes
    first.
    """
    from openai import AsyncOpenAI

    client: Any = next(kind for kind in AsyncOpenAI.__mro__ if "request" in vars(kind))
    request = client.request

    async def whole(self: Any, cast_to: Any, options: Any, **how: Any) -> Any:
        body = options.json_data
        if not isinstance(body, dict) or str(body.get("model", "")).partition("/")[0] != NAME:
            return await request(self, cast_to, options, **how)
        merged = {**body, **(options.extra_json or {})}
        options = options.model_copy(update={"json_data": merged, "extra_json": None})
        try:
            return await request(self, cast_to, options, **how)
        except Exception as error:  # noqa: BLE001  it is raised again, unwrapped
            raise _of_the_client(error) from None

    client.request = whole


def _of_the_client(error: BaseException) -> BaseException:
    """What the client itself raised, out of what Inspect wrapped around it: the agent knows the client's errors."""
    import openai

    inner: BaseException | None = error
    while inner is not None and not isinstance(inner, openai.OpenAIError):
        attempt = getattr(inner, "last_attempt", None)  # of tenacity, which gave up
        inner = attempt.exception() if attempt is not None else inner.__cause__ or inner.__context__
    return inner or error


def _through(own: Any, role: Role, name: str) -> Any:
    return own.model_copy(update={"model": f"{NAME}/{role}", "base_url": _nowhere(name), "api_key": None})


def _nowhere(name: str) -> str:
    """An address for a model's name: the form of replies that a server takes is remembered by the address."""
    return f"{NOWHERE}/{quote(name, safe='')}"


def _model(settings: ModelSettings) -> Model:
    """Inspect's model of the settings. It never tries again itself: the agent does, and counts each try."""
    from inspect_ai.model import GenerateConfig, get_model

    key = settings.api_key.get_secret_value() if settings.api_key else "none"
    config = GenerateConfig(max_retries=0, max_connections=settings.concurrency)
    place = f"openai-api/anamnesis/{settings.name}"
    own: dict[str, Any] = {"max_retries": 0}  # of the client behind the model
    return get_model(place, base_url=settings.address, api_key=key, config=config, memoize=False, **own)


# A turn's trace in the transcript of an Inspect sample: nodes as spans, tools and model calls as events in them.
# The spans are written when the turn is over, with the times that the trace has. Model calls are those that the
# bridge caught; each stands in the node that ran when it ended.

Event = dict[str, Any]
TOOLS = "tools"  # the node of the machine that records no step of its own
OUTSIDE = ("run", "answered", "configuration", "damaged_line")  # events of the turn, not of a node
NAMED = ("strategy", "notices")  # of a tool call, beside its arguments and what it found


class Calls:
    """Takes the model calls that the bridge catches, to be shown where they belong."""

    def __init__(self) -> None:
        self.made: list[ModelEvent] = []

    def on_pending(self, event: ModelEvent) -> None:
        """A call began."""

    def on_complete(self, event: ModelEvent) -> None:
        """A call ended."""
        self.made.append(event)


def tell(turns: Sequence[Sequence[Event]], calls: Calls | None = None) -> None:
    """Write the turns of a session into the transcript of the sample that runs now.

    Args:
        turns: the events of each turn's trace. calls: the model calls of the session.
    """
    made = list(calls.made) if calls is not None else []
    for number, events in enumerate(turns, start=1):
        if events:
            ends = _time(events[-1])
            own = made if number == len(turns) else [c for c in made if _ended(c) <= ends]
            made = made[len(own) :]
            _Turn(own).write(f"turn {number}", events)


class _Turn:
    """Writes one turn: its steps are spans, one after the other or, where they ran at once, side by side."""

    def __init__(self, calls: list[ModelEvent]) -> None:
        self._own, self._made = secrets.token_hex(8), 0
        self._calls, self._span = calls, self._id()
        self._open: dict[str, str] = {}  # step to span, in the order of their beginnings
        self._ends: dict[str, list[Event]] = {}  # how each step ended, in order: it may run in several rounds

    def write(self, name: str, events: Sequence[Event]) -> None:
        """The turn's span with all that is in it: its run, the configuration, how it ended are told of the whole."""
        last = _time(events[-1])
        told = {e["kind"]: _said(e) for e in events if e["kind"] in OUTSIDE}
        self._begin(self._span, current_span_id(), "turn", name, _time(events[0]), told)
        for event in events:
            if event["kind"] == "step_finished":
                self._ends.setdefault(event["step"], []).append(event)
        for event in events:
            self._calls_until(_time(event))
            self._event(event, _time(event))
        self._calls_until(None)
        for step in list(self._open):
            self._end(self._open.pop(step), last)
        self._end(self._span, last)

    def _event(self, event: Event, at: datetime) -> None:
        kind = event["kind"]
        if kind == "step_started":
            if TOOLS in self._open:
                self._end(self._open.pop(TOOLS), at)
            self._start(event["step"], at)
        elif kind == "step_finished":
            if event["step"] in self._open:
                self._end(self._open.pop(event["step"]), at)
        elif kind not in OUTSIDE:
            if not self._open:
                self._start(TOOLS, at - timedelta(seconds=float(event.get("seconds", 0.0))))
            if kind == "tool":
                self._tool(event, at)
            else:  # of a model call too: it has the prompt's id and the cost
                self._put(InfoEvent, source=kind, data=_said(event), span_id=self._current, timestamp=at)

    def _id(self) -> str:
        """Unique in the log. Inspect makes one for an event that has none, which takes longer than the event."""
        self._made += 1
        return f"{self._own}{self._made}"

    @property
    def _current(self) -> str:
        return next(reversed(self._open.values()), self._span)

    def _start(self, step: str, at: datetime) -> None:
        self._open[step] = self._id()
        ends = self._ends.get(step, [])
        told = {name: ends[0][name] for name in ("summary", "seconds")} if ends else {}
        self._ends[step] = ends[1:]
        self._begin(self._open[step], self._span, "node", step, at, told)

    def _begin(self, span: str, parent: str | None, kind: str, name: str, at: datetime, told: dict[str, Any]) -> None:
        own = {"id": span, "span_id": span, "parent_id": parent, "type": kind, "name": name, "metadata": told or None}
        self._put(SpanBeginEvent, timestamp=at, **own)

    def _end(self, span: str, at: datetime) -> None:
        self._put(SpanEndEvent, id=span, span_id=span, timestamp=at)

    def _tool(self, event: Event, at: datetime) -> None:
        seconds = float(event["seconds"])
        found = ", ".join(item["id"] for item in event["evidence"])
        more = {name: [_line(part) for part in event[name]] for name in NAMED if event.get(name)}
        self._put(
            ToolEvent,
            id=self._id(),
            function=event["tool"],
            arguments=event["arguments"],
            result=f"{event['outcome']}: {found or 'no evidence'}",
            timestamp=at - timedelta(seconds=seconds),
            completed=at,
            working_time=seconds,
            span_id=self._current,
            metadata=more or None,
        )

    def _calls_until(self, at: datetime | None) -> None:
        while self._calls and (at is None or _ended(self._calls[0]) <= at):
            call = self._calls.pop(0)
            if not self._open and at is not None:
                self._start(TOOLS, call.timestamp)
            call.span_id = self._current
            transcript()._event(call)

    def _put(self, kind: Any, **values: Any) -> None:
        """Inspect has no public way to write a finished event with the time at which it happened."""
        transcript()._event(kind(uuid=self._id(), **values))


def _line(part: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in part.items())


def _said(event: Event) -> dict[str, Any]:
    return {name: value for name, value in event.items() if name not in ("kind", "at")}


def _time(event: Event) -> datetime:
    return datetime.fromtimestamp(event["at"], UTC)


def _ended(call: ModelEvent) -> datetime:
    return call.completed or call.timestamp
