"""Which settings an answer may depend on, and those of them that are not at their defaults: a report says them."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, SecretStr

if TYPE_CHECKING:
    from agent.settings import Settings

NO_MATTER: Any = {
    "home": True,
    "server": True,
    "sessions": True,
    "database": True,
    "telemetry": True,
    "corpora": True,
    "ray": True,
    "literature": {"cache_folder", "shared_folder", "database"},
}
"""Settings that change no answer: where things lie and are built, and how sessions are kept, served and watched."""

APART = frozenset({"encoder", "model", "config", "literature.live", "literature.mirror"})  # a report says them anyway
UNSAID = frozenset({"email", "base_url", "openai_base_url", "address", "ncbi_email"})  # of people and their machines
OF_MODELS = ("model_", "budget.", "prices.", "roles.")  # without a model they change nothing


def changed(settings: Settings) -> dict[str, Any]:
    """The settings that an answer may depend on and that are not at their defaults, by dotted name, as JSON.

    Left out are those that a report says otherwise, keys, addresses, and without a language model all that is of one.
    A path is told by its name alone.
    """
    defaults = dict(_leaves(type(settings).model_construct()))
    return {
        name: _json(value)
        for name, value in _leaves(settings)
        if value != defaults.get(name) and _told(name, value, by_model=settings.language_model is not None)
    }


def _told(name: str, value: Any, *, by_model: bool) -> bool:
    if name in APART or name.rpartition(".")[2] in UNSAID or isinstance(value, SecretStr):
        return False
    return by_model or not name.startswith(OF_MODELS)


def _leaves(part: Any, place: str = "", without: Any = NO_MATTER) -> Iterator[tuple[str, Any]]:
    """Every single setting with its dotted name."""
    rows = dict(part) if isinstance(part, BaseModel) else part
    if not isinstance(rows, dict) or (place and not rows):
        yield place, part
        return
    for key, value in rows.items():
        left_out = without.get(key, set()) if isinstance(without, dict) else key in without
        if left_out is not True:
            name = str(key.value) if isinstance(key, Enum) else str(key)
            yield from _leaves(value, f"{place}.{name}" if place else name, left_out or set())


def _json(value: Any) -> Any:
    from pydantic_core import to_jsonable_python

    return value.name if isinstance(value, Path) else to_jsonable_python(value, fallback=str)
