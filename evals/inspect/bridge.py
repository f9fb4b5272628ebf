"""The agent's model calls through Inspect: `agent_bridge` takes them from the client, and Inspect's model makes them.

The agent calls a model named ``inspect``; the bridge hands the request to the model of the run, which is the one that
the settings name, at the address and with the key that they name. So each request stands in the log as it was sent.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from prompts.errors import InputError
from prompts.model_settings import ModelSettings, Role

if TYPE_CHECKING:
    from inspect_ai.model import Model

    from agent.settings import Settings
    from evals.inspect.transcript import Calls

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

        from evals.inspect.transcript import Calls

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
