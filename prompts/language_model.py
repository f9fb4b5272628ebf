"""The one place that talks to a language model: ChatOpenAI, or any server that speaks the same.

It is used only when the settings name a model. A key in the environment alone sends nothing anywhere. Replies are
validated against a schema; an invalid one is handed back once with what was wrong. What a call costs is charged to the
meter of the turn.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import random
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Protocol

from pydantic import BaseModel, ValidationError

from prompts.endpoint import Call, Endpoint, Message, Said
from prompts.forms import Method, form_of, form_of_tools, schema_of
from prompts.metering import Usage, meter
from prompts.model_failures import (
    InvalidReplyError,
    PassingError,
    SilentError,
    UnsupportedError,
    cut_off,
    malformed,
    unusable,
)
from prompts.model_settings import ModelSettings, Role
from prompts.replies import SHOWN, Faulty, Reply, holds_object, parse, without_thinking
from prompts.shown import CUT
from prompts.templates import Prompt, fence_of, load_prompt

__all__ = ["InvalidReplyError", "LanguageModel", "LanguageModels", "ModelSettings", "Usage", "fence_of"]


class LanguageModel:
    """A chat model in one role, with typed replies.

    Attributes:
        name: the model's name. role: whose settings it is called with. timeout: seconds that a judgement may take.
        usage: what all calls of this object have cost so far.
    """

    def __init__(
        self,
        settings: ModelSettings,
        role: Role = "answer",
        endpoint: Endpoint | None = None,
        replies: Replies | None = None,
    ) -> None:
        self._settings, self._replies = settings.of(role), replies
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
            CutError: the second reply, which was to be shorter, ended at its bound too.
            RefusalError: the model declined. It is not asked again.
            BudgetError: the turn's budget is spent.
            ServiceError: the server failed (429, 5xx, time-out, cut or malformed answer, refused key).
        """
        prompt = load_prompt(template)
        system, user = prompt.filled(values)
        messages: list[Message] = [("system", system), ("human", user)]
        key = key_of(self._settings, messages, [schema.__name__, schema_of(schema)])
        if (kept := self._kept(key)) is not None:
            with contextlib.suppress(ValidationError):  # it was kept by another version
                reply = schema.model_validate(kept[0])
                if on_text is not None:
                    on_text(json.dumps(kept[0], ensure_ascii=False))
                return reply, self._reuse(kept[1], prompt)
        async with self._turn() as left:
            reply, spent = await self._asked(Asking(messages, prompt, left), schema, on_text)
        self._keep(key, reply.model_dump(mode="json"), spent)
        return reply, spent

    async def _asked(
        self, ask: Asking, schema: type[Reply], on_text: Callable[[str], None] | None
    ) -> tuple[Reply, Usage]:
        """A valid reply, after one repair at most, and what it cost."""
        said, spent = await self._first(ask, schema, on_text)
        try:
            return self._valid(said, schema), spent
        except Faulty as fault:
            again = self._repair(ask, said, fault, schema)
        mended, more = await self._first(again, schema, None)
        try:
            return self._valid(mended, schema, worked=not _prose(said)), spent + more
        except Faulty as fault:
            self._tell(ask, fault)
            raise (cut_off() if mended.cut else unusable()) from None

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
        key = key_of(self._settings, messages, form_of_tools(tools, required=required))
        if (kept := self._kept(key)) is not None:
            self._reuse(kept[1], prompt)
            return tuple(Call(*call) for call in kept[0]["calls"]), kept[0]["text"]
        async with self._turn() as left:
            ask = Asking(messages, prompt, left)
            said = await self._calls(ask, tools, required=required)
            spent = said.usage
            if _without_end(said):
                again = ask.shorter(_shown(said), "the calls", self._settings.max_tokens)
                said = await self._calls(again, tools, required=required)
                spent += said.usage
            if _without_end(said):
                raise cut_off()
        text = without_thinking(said.text)
        if (said.calls or (text and not required)) and not any(call.error for call in said.calls):
            self._keep(key, {"calls": said.calls, "text": text}, spent)
        return said.calls, text

    async def _calls(self, ask: Asking, tools: Sequence[Mapping[str, Any]], *, required: bool) -> Said:
        """A reply with tools bound; a server that does not take it that one must be called is asked without that."""
        must = required and self._endpoint.requires_calls
        try:
            return await self._ask(ask, "tools", None, **form_of_tools(tools, required=must))
        except UnsupportedError:
            if not must:
                raise
        said = await self._ask(ask, "tools", None, **form_of_tools(tools))
        self._endpoint.requires_calls = False  # only now is it known that this was what the server refused
        return said

    def _kept(self, key: str) -> tuple[Any, Usage] | None:
        """A reply that is kept, and what it cost when it was made; None when there is none."""
        found = self._replies.find(meter().session, key) if self._replies is not None else None
        if found is None:
            return None
        kept = json.loads(found)
        return kept["reply"], Usage.model_validate(kept["usage"])

    def _keep(self, key: str, reply: Any, spent: Usage) -> None:
        """Keep a reply that was good."""
        if self._replies is not None:
            kept = {"reply": reply, "usage": spent.model_dump()}
            self._replies.keep(meter().session, key, json.dumps(kept, ensure_ascii=False))

    def _reuse(self, spent: Usage, prompt: Prompt) -> Usage:
        """Count a reply that was kept."""
        counted = self._replies is not None and not self._replies.by_session
        usage = (spent if counted else Usage()).model_copy(update={"cached": 1})
        meter().reused(self.role, self.name, usage, prompt=prompt.id, prompt_hash=prompt.hash)
        self.usage += usage
        return usage

    def _repair(self, ask: Asking, said: Said, fault: Faulty, schema: type[BaseModel]) -> Asking:
        """What is asked after a reply that cannot be used."""
        self._tell(ask, fault)
        if said.cut:
            return ask.shorter(_shown(said), "one JSON object of the schema", self._settings.max_tokens)
        shown = _shown(said)
        whole = len(_written(said)) <= SHOWN
        return ask.to_mend(shown, str(fault), schema, of_form=fault.of_form and whole)

    def _tell(self, ask: Asking, fault: Faulty) -> None:
        """Put what is wrong with a reply into the trace: its reader alone is told in a parser's words."""
        meter().record("reply_unusable", role=self.role, prompt=ask.prompt.id, why=str(fault))

    @contextlib.asynccontextmanager
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
                max_tokens=ask.max_tokens or self._settings.max_tokens,
                reasoning_effort=self._settings.reasoning_effort,
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
            reply = parse(_written(said), schema)
        except Faulty:
            if _prose(said) and not said.cut:
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
        replies: where good replies are kept and looked for, None for nowhere.
    """

    def __init__(
        self,
        settings: ModelSettings,
        methods: dict[str, Method] | None = None,
        found: Callable[[dict[str, Method]], None] | None = None,
        replies: Replies | None = None,
    ) -> None:
        self._settings, self._replies = settings, replies
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
        return LanguageModel(self._settings, role, self._endpoints[place], self._replies)

    def _remember(self, name: str, method: Method) -> None:
        self._methods[name] = method
        self._found(self._methods)


def _prose(said: Said) -> bool:
    """Whether a reply holds no object at all: the form of the request was not heeded."""
    return not said.calls and not holds_object(said.text)


def _without_end(said: Said) -> bool:
    """Whether a reply with tools ended at its bound before it held a call that can be made."""
    return said.cut and all(call.error for call in said.calls)


def _written(said: Said) -> str:
    """What a reply of a schema is read from: its words, or the arguments of its call."""
    if said.method != "function_calling" or not said.calls:
        return said.text
    call = said.calls[0]
    return call.written or json.dumps(call.arguments, ensure_ascii=False)


def _shown(said: Said) -> str:
    return without_thinking(_written(said))[:SHOWN] or "(nothing)"


# What is asked within one deadline, in the form that a server takes; how replies to it are kept; waits for tries.

SHAPE = "The schema of the reply, {name}, as JSON Schema:\n{shape}"
MEND = "That reply cannot be used: {wrong}. Reply again with one JSON object of the schema and nothing else."
KEEP = "Keep what it says; the question and the texts are left out here."
SHORTER = "That reply was cut, because it was too long. Reply again, much shorter: {what} and nothing else."
LEFT_OUT = "(What was asked is left out here.)"
BEGINNING = 200  # characters of a reply that was cut which are shown to the model again; ours
ROOMIER = 2  # ours: times the bound of tokens that a reply which was cut may have when it is asked for again
SCHEMALESS: tuple[Method, ...] = ("json_mode", "plain")  # forms of a request that do not carry the schema
BACKOFF = 0.5  # seconds before the second try where the server names none; code: as the protocol's own clients
SPREAD = (0.75, 1.25)  # ours: calls that failed together come back apart


@dataclass
class Asking:
    """Messages of a prompt.

    Attributes:
        left: tells the seconds of the deadline that are left. mends: the last message tells the schema in words.
        max_tokens: a bound of the reply other than the settings'.
    """

    messages: list[Message]
    prompt: Prompt
    left: Callable[[], float]
    mends: bool = False
    max_tokens: int | None = None

    def told(self, method: Method, schema: type[BaseModel]) -> Asking:
        """The same, with the schema in words where the form of the request does not carry it."""
        if method not in SCHEMALESS or self.mends:
            return self
        (role, system), *rest = self.messages
        return replace(self, messages=[(role, f"{system}\n\n{in_words(schema)}"), *rest])

    def to_mend(self, said: str, wrong: str, schema: type[BaseModel], *, of_form: bool = False) -> Asking:
        """The same with a faulty reply and what is wrong with it; the schema in words, whatever the form.

        ``of_form``: what was asked is left out, because the reply's form alone is at fault.
        """
        before = [self.messages[0], ("human", LEFT_OUT)] if of_form else self.messages
        told = " ".join([MEND.format(wrong=wrong), *([KEEP] if of_form else [])])
        mend: list[Message] = [("ai", said), ("human", f"{told}\n\n{in_words(schema)}")]
        return replace(self, messages=[*before, *mend], mends=True)

    def shorter(self, said: str, what: str, most: int | None) -> Asking:
        """The same after a reply that was cut: a shorter one is asked for, with more room where there is a bound.

        Args:
            what: what is to be replied. most: the bound in tokens, None for none.
        """
        told: list[Message] = [("ai", said[:BEGINNING] + CUT), ("human", SHORTER.format(what=what))]
        bound = None if most is None else ROOMIER * most
        return replace(self, messages=[*self.messages, *told], max_tokens=bound)


class Replies(Protocol):
    """Replies that are kept by what was asked, each owned by the session whose words it was asked with.

    Attributes:
        by_session: whether they belong to sessions. Where they do not, for an evaluation, a kept reply is counted as
            what it cost when it was made, so that figures do not depend on what was run before.
    """

    by_session: bool

    def find(self, session: str, key: str) -> str | None:
        """The reply that is kept, None when there is none."""

    def keep(self, session: str, key: str, reply: str) -> None:
        """Keep a reply."""


def key_of(settings: ModelSettings, messages: Sequence[Message], form: Any) -> str:
    """The key of what is asked: who is asked, without the key; the messages; the schema or tools; how it is sampled."""
    how = settings.model_dump(include={"name", "temperature", "max_tokens", "reasoning_effort"})
    said = [m if isinstance(m, tuple) else m.model_dump(exclude={"id", "response_metadata"}) for m in messages]
    asked = json.dumps([settings.address, how, said, form], sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(asked.encode()).hexdigest()


def in_words(schema: type[BaseModel]) -> str:
    """The schema as it is told."""
    return SHAPE.format(name=schema.__name__, shape=json.dumps(schema_of(schema), ensure_ascii=False))


def backoff(attempt: int) -> float:
    """Seconds before another try, doubled each time. ``attempt`` counts from 0."""
    seconds: float = BACKOFF * 2.0**attempt * random.uniform(*SPREAD)  # noqa: S311  no secret
    return seconds
