"""Turns and requests as an operator follows them: the telemetry of the settings, and its form while it is off.

Without an endpoint it is off, and then nothing of it is imported; the form that is on fills this one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from prompts.errors import InputError
from tools.recorder import Recorder

if TYPE_CHECKING:
    from agent.settings import Settings


Answered = Callable[[int, str], None]
"""Told of a request's status (0 where it was not answered) and the template of its route ("" for none)."""


class NoTelemetry:
    """Telemetry that is off. No method raises or waits for a collector but `close`."""

    @contextmanager
    def turn(self, session: str, turn: int) -> Iterator[Recorder | None]:
        """Follow a turn that runs inside. What it records is to be told to what this gives, None for nobody."""
        del session, turn
        yield None

    @contextmanager
    def request(self, method: str, scheme: str, traceparent: str, *, traced: bool = True) -> Iterator[Answered]:
        """Follow a request to the server that is answered inside.

        Args:
            traceparent: the caller's header of W3C. traced: make a span of it, beside its metrics.
        """
        del method, scheme, traceparent, traced
        yield lambda _status, _route: None

    def know(self, routes: Iterable[str]) -> None:
        """Learn the templates of the server's routes: no others are told."""

    def close(self) -> None:
        """Deliver what is left, for a few seconds at most. Nothing is followed afterwards."""


Telemetry = NoTelemetry


NEEDED = ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http")


def open_telemetry(settings: Settings, tools: Iterable[str]) -> Telemetry:
    """The telemetry of the settings; raises InputError where its packages are missing.

    Args:
        tools: names of the tools, the only ones that are told.
    """
    if not settings.telemetry.endpoint:
        return NoTelemetry()
    if not all(importable(name) for name in NEEDED):
        what = "ANAMNESIS_TELEMETRY__ENDPOINT is set, and OpenTelemetry is not installed."
        raise InputError(what, "pip install 'anamnesis[telemetry]', or unset it.")
    from agent.telemetry.following import Following

    model = settings.language_model
    judged = model.judges() if model is not None else {}
    places: dict[str, str] = {
        "ncbi": settings.literature.base_url,
        **{str(role): own.address for role, own in judged.items()},
    }
    hosts = {name: urlsplit(address).hostname or "" for name, address in places.items()}
    models = {own.name for own in judged.values()}
    known = {"gen_ai.tool.name": tools, "gen_ai.request.model": models, "server.address": hosts.values()}
    return Following(settings.telemetry, hosts, known)


def importable(name: str) -> bool:
    """Whether there is a module of this name."""
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # a package above it is missing
        return False
