"""Published configurations by name, and what they set in place of what was given."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from agent.configurations.contract import Chosen, Configuration
from prompts.errors import InputError
from tools.yaml_files import read_yaml

FOLDER = Path(__file__).parent
LISTED = "`anamnesis config list` names them."


@cache
def configurations() -> dict[str, Configuration]:
    """All configurations by name."""

    read = [read_yaml(path) for path in sorted(FOLDER.glob("*.yaml"))]
    found = [Configuration.model_validate(values) for values in read]
    return {c.name: c for c in found}


def find(name: str) -> Chosen:
    """The configuration of a name, ``medrgag`` or ``medrgag:without-kads``; raises InputError for any other."""
    method, _, arm = name.strip().lower().partition(":")
    known = configurations().get(method)
    if known is None:
        raise InputError(f"There is no configuration {method!r}.", LISTED)
    if arm and arm not in known.arms:
        raise InputError(f"{method} has no arm {arm!r}.", f"It has: {', '.join(known.arms)}.")
    return Chosen(configuration=known, arm=arm)


def configured(given: Mapping[str, Any]) -> dict[str, Any]:
    """What was given to the settings, with what its ``config`` sets in its place.

    Raises:
        InputError: there is no such configuration, or it cannot be run in this version.
    """
    chosen = find(str(given["config"]))
    if chosen.missing:
        raise InputError(f"{chosen.name} cannot be run: {chosen.missing}", LISTED)
    values = copy.deepcopy(dict(given))
    by = "model" if _names_a_model(values) else "local"
    for setting in chosen.settings:
        if setting.when in ("always", by):
            _place(values, setting.set.split("."), setting.to)
    return values | {"config": chosen.name}


def _place(values: dict[str, Any], path: list[str], value: Any) -> None:
    """Put a value at a place, the values beside it as they were."""
    first, *rest = path
    if not rest:
        values[first] = copy.deepcopy(value)
        return
    held = values.get(first)
    inner = held.model_dump(exclude_unset=True) if isinstance(held, BaseModel) else dict(held or {})
    _place(inner, rest, value)
    values[first] = inner


def _names_a_model(given: Mapping[str, Any]) -> bool:
    roles = given.get("roles") or {}
    own = (r.model if isinstance(r, BaseModel) else r.get("model") for r in roles.values())  # type: ignore[attr-defined]
    return bool(given.get("model")) or any(own)
