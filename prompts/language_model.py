"""The one place that talks to a language model: ChatOpenAI, or any server that speaks the same.

It is used only when the settings name a model. A key in the environment alone sends nothing anywhere. Replies are
validated against a schema; an invalid one is handed back once with what was wrong. What a call costs is charged to the
meter of the turn.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from copy import copy
from typing import Any

from pydantic import BaseModel

from prompts.asking import Asking, backoff
from prompts.endpoint import Call, Endpoint, Message, Said
from prompts.forms import Method, form_of, form_of_tools
from prompts.metering import Usage, meter
from prompts.model_failures import (
    InvalidReplyError,
    PassingError,
    SilentError,
    UnsupportedError,
    malformed,
)
from prompts.model_settings import ModelSettings, Role
from prompts.replies import SHOWN, Faulty, Reply, parse, without_thinking
from prompts.templates import fence_of, load_prompt

__all__ = ["InvalidReplyError", "LanguageModel", "LanguageModels", "ModelSettings", "Usage", "fence_of"]


class LanguageModel:
    """A chat model in one role, with typed replies.

    Attributes:
        name: the model's name. role: whose settings it is called with. timeout: seconds that a judgement may take.
        usage: what all calls of this object have cost so far.
    """

    def __init__(self, settings: ModelSettings, role: Role = "answer", endpoint: Endpoint | None = None) -> None:
        self._settings = settings.of(role)
        self.name, self.role, self.timeout = self._settings.name, role, self._settings.timeout
        self.usage = Usage()
        self._endpoint = endpoint or Endpoint(self._settings)

    def within(self, seconds: float) -> LanguageModel:
        """The same model with a nearer deadline: what an earlier call of one judgement left."""
        nearer = copy(self)
        nearer.timeout = min(seconds, self.timeout)
        return nearer

    async def structured(
        self,
        template: str,
        schema: type[Reply],
        *,
        on_text: Callable[[str], None] | None = None,
        **values: str,
    ) -> tuple[Reply, Usage]:
        """Fill a template, ask, and validate the reply; one that is invalid is mended once.

        Args:
            template: name of a file of this folder without ``.md``. Its part before ``---`` is the system message.
            on_text: is told the text of the first reply so far, as it comes (see `prompts.replies.json_object`). It
                begins anew when a request that failed is tried again.
            values: what stands for the ``$names`` of the part after it. It is data and never becomes a template.

        Returns:
            The reply, and what this call cost.

        Raises:
            InvalidReplyError: both replies were no JSON, or not of the schema.
            BudgetError: the turn's budget is spent.
            ServiceError: the server failed (429, 5xx, time-out, cut or malformed answer, refused key), or declined.
        """
        prompt = load_prompt(template)
        system, user = prompt.filled(values)
        messages: list[Message] = [("system", system), ("human", user)]
        async with self._turn() as left:
            ask = Asking(messages, prompt, left)
            said, spent = await self._first(ask, schema, on_text)
            try:
                return self._valid(said, schema), spent
            except Faulty as fault:
                wrong = str(fault)
            again, more = await self._first(ask.to_mend(_shown(said), wrong, schema), schema, None)
            try:
                return self._valid(again, schema, worked=not _prose(said)), spent + more
            except Faulty as fault:
                what = f"The language model's reply is not what was asked for: {fault}."
                raise InvalidReplyError(what, "Try again, or set another model.") from None

    async def choose(
        self,
        template: str,
        tools: Sequence[Mapping[str, Any]],
        history: Sequence[Any],
        values: Mapping[str, str],
        *,
        required: bool = False,
    ) -> tuple[tuple[Call, ...], str]:
        """Ask with tools bound; returns the calls that the model wants made, and its words.

        Args:
            tools: functions as the protocol has them (``name``, ``description``, ``parameters``).
            history: messages of LangChain that follow the template's: earlier calls and their results.
            values: what stands for the template's ``$names``.
            required: the model must call one at least. A server that refuses to be asked so is asked without.

        Raises:
            ServiceError: as `structured`. A server that takes no tools is an `UnsupportedError`.
        """
        prompt = load_prompt(template)
        system, user = prompt.filled(values)
        messages: list[Message] = [("system", system), ("human", user), *history]
        async with self._turn() as left:
            ask, must = Asking(messages, prompt, left), required and self._endpoint.requires_calls
            try:
                said = await self._ask(ask, "tools", None, **form_of_tools(tools, required=must))
            except UnsupportedError:
                if not must:
                    raise
                said = await self._ask(ask, "tools", None, **form_of_tools(tools))
                self._endpoint.requires_calls = False  # only now is it known that this was what the server refused
        return said.calls, without_thinking(said.text)

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[Callable[[], float]]:
        """A judgement's turn at the server; a server that the turn has given up is not asked."""
        try:
            with meter().patience.asking(self._endpoint.place):
                async with self._endpoint.turn(self.timeout) as left:
                    yield left
        except SilentError:
            if meter().seconds_left() == 0.0:
                meter().check(self.role)  # it was the turn's time that ended, not the server's
            raise

    async def _first(
        self,
        ask: Asking,
        schema: type[BaseModel],
        on_text: Callable[[str], None] | None,
    ) -> tuple[Said, Usage]:
        """The reply by the first form that the server takes."""
        refused: UnsupportedError | None = None
        for method in self._endpoint.methods():
            try:
                said = await self._ask(ask.told(method, schema), method, on_text, **form_of(method, schema))
            except UnsupportedError as error:
                refused = error
                continue
            self._endpoint.took(method)
            return said._replace(method=method), said.usage
        if self._endpoint.forget():
            return await self._first(ask, schema, on_text)  # the server has changed: find out anew
        raise refused or malformed()

    async def _ask(self, ask: Asking, method: str, on_text: Callable[[str], None] | None, **form: Any) -> Said:
        """One request, tried again within the deadline after a failure that may pass. Each try is counted."""
        for attempt in range(self._settings.max_retries):
            try:
                return await self._try(ask, method, on_text, **form)
            except PassingError as error:
                wait = error.wait if error.wait is not None else backoff(attempt)
                if wait >= ask.left():
                    raise
            await asyncio.sleep(wait)
        return await self._try(ask, method, on_text, **form)

    async def _try(self, ask: Asking, method: str, on_text: Callable[[str], None] | None, **form: Any) -> Said:
        meter().begin(self.role)
        started = time.monotonic()
        said: Said | None = None
        try:
            said = await self._endpoint.complete(
                ask.messages,
                temperature=self._settings.temperature,
                max_tokens=self._settings.max_tokens,
                on_text=on_text,
                **form,
            )
        finally:  # a request that failed, or that a deadline ended, was made too
            usage = said.usage if said is not None else Usage(calls=1)
            usage = usage.model_copy(update={"seconds": round(time.monotonic() - started, 3)})
            told = {"prompt": ask.prompt.id, "prompt_hash": ask.prompt.hash, "method": method, "failed": said is None}
            if said is None:
                told["error"] = type(sys.exception()).__name__
            charged = meter().charge(self.role, self.name, usage, **told)
            self.usage += charged
        return said._replace(usage=charged)

    def _valid(self, said: Said, schema: type[Reply], worked: bool = True) -> Reply:
        """The reply as the schema has it; raises Faulty.

        ``worked``: the form of the request brought it, not words alone.
        """
        try:
            if said.method == "function_calling" and said.calls:
                if said.calls[0].error:
                    raise Faulty(said.calls[0].error)
                reply = parse(json.dumps(said.calls[0].arguments), schema)
            else:
                reply = parse(said.text, schema)
        except Faulty:
            if _prose(said):
                self._endpoint.unheeded(said.method)
            raise
        if worked or said.calls:
            self._endpoint.works(said.method)
        return reply


class LanguageModels:
    """The models of a configuration by role; roles of one model at one address share its connections.

    Args:
        settings: the common settings with those of the roles.
        methods: forms of structured replies that were found to work, by `key`; new ones are put in and told.
        found: is told when ``methods`` has changed.
    """

    def __init__(
        self,
        settings: ModelSettings,
        methods: dict[str, Method] | None = None,
        found: Callable[[dict[str, Method]], None] | None = None,
    ) -> None:
        self._settings = settings
        self._methods = methods if methods is not None else {}
        self._found = found or (lambda _: None)
        self._endpoints: dict[tuple[str, str, str], Endpoint] = {}

    def judged_by_model(self, role: Role) -> bool:
        """Whether a role is the model's."""
        return self._settings.judge(role) == "model"

    def of(self, role: Role) -> LanguageModel:
        """The model in a role."""
        own = self._settings.of(role)
        key = own.api_key.get_secret_value() if own.api_key else ""
        place = (own.name, own.base_url, key)
        if place not in self._endpoints:
            name = f"{own.name} at {own.address}"
            self._endpoints[place] = Endpoint(own, self._methods.get(name), lambda m: self._remember(name, m))
        return LanguageModel(self._settings, role, self._endpoints[place])

    def _remember(self, name: str, method: Method) -> None:
        self._methods[name] = method
        self._found(self._methods)


def _prose(said: Said) -> bool:
    """Whether a reply holds no object at all: the form of the request was not heeded."""
    return "{" not in said.text and not said.calls


def _shown(said: Said) -> str:
    text = said.text or json.dumps([c.arguments for c in said.calls])
    return text[:SHOWN] or "(nothing)"
