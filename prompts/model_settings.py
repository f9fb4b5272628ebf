"""Settings of the language-model path: which model, where, how it is called, by role; prices and the turn's budget."""

from __future__ import annotations

from typing import Annotated, Literal, get_args
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr

Role = Literal[
    "triage", "gate", "research", "query_plan", "summary", "gaps", "background", "selection", "filter", "answer",
    "report", "verification", "graph", "questions",
]  # fmt: skip
Judge = Literal["model", "local"]

# Who judges where a model is named (ours): reading and writing are the model's, the checks on it stay local.
# ``query_plan`` rides on the arguments of the research call where the model gave good ones.
JUDGES: dict[Role, Judge] = {
    "triage": "local",
    "gate": "local",
    "research": "model",
    "query_plan": "model",
    "summary": "model",
    "gaps": "model",
    "background": "model",
    "selection": "model",
    "filter": "model",
    "answer": "model",
    "report": "model",
    "verification": "local",
    "graph": "model",
    "questions": "model",
}

OPENAI = "https://api.openai.com/v1"  # code: where the openai client calls when no address is set


def without_login(value: str) -> str:
    """An address is shown to the user and kept on disk, so it may hold no secret and nothing that follows its path."""
    if not value:
        return value
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("an address that begins with http:// or https:// is needed")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("an address without login, query and fragment is needed")
    return value


def _none(value: object) -> object:
    """The environment can only give text: an empty one and ``none`` lift a bound."""
    return None if isinstance(value, str) and value.strip().lower() in ("", "none") else value


def _unset(value: object) -> object:
    """An empty text leaves an effort to the server; ``none`` is one."""
    return value or None


Address = Annotated[str, AfterValidator(without_login)]
Bound = BeforeValidator(_none)
Effort = Annotated[  # code: OpenAI's levels, and Ollama's ``max``
    Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"] | None, BeforeValidator(_unset)
]


class Settings(BaseModel):
    """Base: unknown names are refused, and no input is shown in an error, because it could hold a key."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class RoleSettings(Settings):
    """What one role has otherwise than the rest. None leaves what holds for all.

    Attributes:
        judge: ``model`` or ``local``; None leaves the default of the role (`JUDGES`).
        model, base_url, api_key: another model, at another place.
        temperature, timeout, max_tokens, reasoning_effort: see `ModelSettings`.
    """

    judge: Judge | None = None
    model: str | None = None
    base_url: Address | None = None
    api_key: SecretStr | None = None
    temperature: float | None = Field(default=None, ge=0, le=2)
    timeout: float | None = Field(default=None, gt=0)
    max_tokens: int | None = Field(default=None, ge=16)
    reasoning_effort: Effort = None


class ModelSettings(Settings):
    """Which model is called, and how. ``name`` "" means none.

    Attributes:
        base_url: the server, "" for the openai client's own default. It takes ``api_key``.
        timeout: seconds that a judgement may take once its turn has come: tries, waits and the repair together.
        max_retries: further tries after 429, 5xx and lost connections; Retry-After is honoured within the time.
        temperature: 0 makes replies as steady as the server allows (ours).
        max_tokens: of a reply, its reasoning included; None leaves it open. One that was cut there is asked for once
            more, shorter and with twice the room.
        reasoning_effort: how much a reasoning model thinks; None leaves it to the server.
        concurrency: requests at once to one server; further ones wait their turn (ours).
        roles: what single roles have otherwise.
    """

    name: str = ""
    base_url: Address = ""
    api_key: SecretStr | None = None
    timeout: float = Field(default=60.0, gt=0)
    max_retries: int = Field(default=2, ge=0, le=10)
    temperature: float = Field(default=0.0, ge=0, le=2)
    max_tokens: int | None = Field(default=None, ge=16)
    reasoning_effort: Effort = None
    concurrency: int = Field(default=8, ge=1, le=1000)
    roles: dict[Role, RoleSettings] = Field(default_factory=dict)

    def judge(self, role: Role) -> Judge:
        """Who judges a role: the setting, else `JUDGES`; ``local`` when no model is named for it."""
        own = self.roles.get(role, RoleSettings())
        return (own.judge or JUDGES[role]) if (own.model or self.name) else "local"

    def of(self, role: Role) -> ModelSettings:
        """The settings of a role, its own values in place of the common ones.

        A role with an address of its own gets the common key only when it names none and the address is the same.
        """
        own = self.roles.get(role, RoleSettings())
        own_values = {"base_url", "temperature", "timeout", "max_tokens", "reasoning_effort"}
        values = own.model_dump(exclude_none=True, include=own_values)
        elsewhere = own.base_url is not None and own.base_url != self.base_url
        key = own.api_key or (None if elsewhere else self.api_key)
        return self.model_copy(update={**values, "name": own.model or self.name, "api_key": key, "roles": {}})

    @property
    def address(self) -> str:
        """The address that is called. Always given to the client, which would else look for others by itself."""
        return self.base_url or OPENAI

    def judges(self) -> dict[Role, ModelSettings]:
        """The settings of every role that is the model's: what is called, and nothing else is."""
        return {role: self.of(role) for role in get_args(Role) if self.judge(role) == "model"}


class Price(Settings):
    """What a model costs, in one currency, for a million tokens."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)


class Budget(Settings):
    """What a turn may spend on models. None is no bound. The turn then ends with the best answer so far. All ours."""

    calls: Annotated[int | None, Bound] = Field(default=60, ge=1)
    tokens: Annotated[int | None, Bound] = Field(default=400_000, ge=1)
    money: Annotated[float | None, Bound] = Field(default=None, gt=0)
    seconds: Annotated[float | None, Bound] = Field(default=300.0, gt=0)
