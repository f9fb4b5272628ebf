"""Telemetry of the settings: off without an endpoint, and then nothing of it is imported."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from agent.telemetry.contract import NoTelemetry, Telemetry
from prompts.errors import InputError

if TYPE_CHECKING:
    from agent.settings import Settings

NEEDED = ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http")


def open_telemetry(settings: Settings, tools: Iterable[str]) -> Telemetry:
    """The telemetry of the settings; raises InputError where its packages are missing.

    Args:
        tools: names of the tools, the only ones that are told.
    """
    if not settings.telemetry.endpoint:
        return NoTelemetry()
    if not all(_there(name) for name in NEEDED):
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


def _there(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # a package above it is missing
        return False
