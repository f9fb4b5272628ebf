"""Who calls: the user of a terminal, who may do everything, or the holder of a server key."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, Protocol

from prompts.errors import InputError

IN_SCOPE = "anamnesis.caller"  # under this name the HTTP endpoint puts the caller into the ASGI scope
ASK, TOOLS, TRACES = "ask", "tools", "traces"
SCOPES = frozenset({ASK, TOOLS, TRACES})  # of the server's scopes, those that open something here


class Caller(Protocol):
    """The holder of a key: its id (which owns sessions), its name, and what it may do."""

    @property
    def id(self) -> str:
        """The key's id; "" for a user without a server."""

    @property
    def name(self) -> str:
        """The name that the key was given."""

    @property
    def scopes(self) -> Collection[str]:
        """Names of scopes."""


@dataclass(frozen=True)
class LocalCaller:
    """Whoever runs the program: sessions are those of the command line."""

    id: str = ""
    name: str = "local"
    scopes: frozenset[str] = field(default=SCOPES)


class ScopeError(InputError):
    """The caller's key lacks a scope."""


def caller_of(request: Any) -> Caller:
    """The caller of a request: of the HTTP request that carries it, else the local user."""
    if request is None:  # standard input and output
        return LocalCaller()
    caller: Caller = request.scope[IN_SCOPE]
    return caller


def need(caller: Caller, scope: str) -> None:
    """Raise ScopeError when the caller lacks a scope."""
    if scope not in caller.scopes:
        raise ScopeError(
            f"This key lacks the scope {scope!r}.", f"Make one with `anamnesis keys create --scope {scope}`."
        )
