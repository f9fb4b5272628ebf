"""Every endpoint that the server's description names, with a request for each that a caller who may would be given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

METHODS = ("get", "post", "put", "patch", "delete")
COMPLETION = {"model": "anamnesis", "messages": [{"role": "user", "content": "What is croup?"}]}


class Endpoint(NamedTuple):
    """A method and a path with its parameters in braces."""

    method: str
    path: str

    @property
    def of_a_session(self) -> bool:
        """Whether its path names a session."""
        return "{session}" in self.path

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


OPEN = frozenset(
    Endpoint(*pair) for pair in (("GET", "/health"), ("GET", "/ready"), ("POST", "/api/login"), ("POST", "/api/logout"))
)  # whoever calls: they tell nothing of anybody
ANY_SCOPE = frozenset({Endpoint("GET", "/api/me")})
OWN_SCOPE = {"review": "review", "trace": "traces"}  # last part of the path: its scope; every other one needs `ask`
BODIES: dict[Endpoint, Any] = {
    Endpoint("POST", "/api/sessions"): {},
    Endpoint("PATCH", "/api/sessions/{session}"): {"title": "Mine"},
    Endpoint("POST", "/api/sessions/{session}/turns"): {"text": "What is croup?"},
    Endpoint("PUT", "/api/sessions/{session}/turns/{turn}/review"): {"verdict": "accepted"},
    Endpoint("POST", "/v1/chat/completions"): COMPLETION,
}


def endpoints(description: Mapping[str, Any]) -> list[Endpoint]:
    """All endpoints of an OpenAPI document."""
    paths = description["paths"]
    return [Endpoint(method.upper(), path) for path, said in paths.items() for method in said if method in METHODS]


def guarded(found: Iterable[Endpoint]) -> list[Endpoint]:
    """Those that need a key: all but the few that are open to everybody."""
    return [endpoint for endpoint in found if endpoint not in OPEN]


def scope_of(endpoint: Endpoint) -> str:
    """The scope that an endpoint needs, "" for any."""
    if endpoint in ANY_SCOPE:
        return ""
    return OWN_SCOPE.get(endpoint.path.rsplit("/", 1)[-1], "ask")


def request_of(endpoint: Endpoint, session: str) -> dict[str, Any]:
    """A request that would be taken, as arguments of httpx's ``request``."""
    return {
        "method": endpoint.method,
        "url": endpoint.path.format(session=session, turn=1),
        "json": BODIES.get(endpoint),
    }
