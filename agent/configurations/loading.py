"""Published configurations: settings, each with its origin, what differs from the source, and what they set by name."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from prompts.errors import InputError
from tools.yaml_files import read_yaml

Origin = Literal["paper", "code", "ours"]
Need = Literal["model", "generator"]
When = Literal["always", "model", "local"]


class Part(BaseModel):
    """A part of a configuration's file: a slip in it is a fault of ours and is noticed."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Setting(Part):
    """One setting.

    Attributes:
        set: its name in `agent.settings`, dotted (``gate.method``). to: its value.
        origin: whose value it is. why: what the source says, in short.
        differs: how what happens here is not what the source does, and why; "" where it is.
        when: it holds ``always``, only with a language ``model``, or only without one (``local``).
    """

    set: str
    to: Any
    origin: Origin
    why: str
    differs: str = ""
    when: When = "always"


class Constant(Part):
    """A value that the code holds and no setting changes."""

    what: str
    value: str
    origin: Origin


class Arm(Part):
    """A variant of a method: an ablation, a comparator.

    Attributes:
        what: in a line. settings: what it sets otherwise than the method.
        needs: what must be there for it to run. missing: why it cannot be run in this version, "" where it can.
        published: the source's figure for it, in words; "" without one.
    """

    what: str
    settings: tuple[Setting, ...] = ()
    needs: tuple[Need, ...] = ()
    missing: str = ""
    published: str = ""


class Configuration(Part):
    """A method as published.

    Attributes:
        differs: differences that belong to no single setting.
        constants: values that the code holds.
        arms: variants by name; ``name:arm`` runs one.
    """

    name: str
    title: str
    source: str
    published: str = ""
    settings: tuple[Setting, ...]
    constants: tuple[Constant, ...] = ()
    differs: tuple[str, ...] = ()
    needs: tuple[Need, ...] = ()
    arms: dict[str, Arm] = Field(default_factory=dict)


class Chosen(Part):
    """A configuration with the arm that was chosen, "" for none."""

    configuration: Configuration
    arm: str = ""

    @property
    def name(self) -> str:
        """``medrgag`` or ``medrgag:without-kads``."""
        return f"{self.configuration.name}:{self.arm}" if self.arm else self.configuration.name

    @property
    def settings(self) -> tuple[Setting, ...]:
        """The settings of the method with those of the arm in their place; an arm's stand for all that it names."""
        own = self.configuration.arms[self.arm].settings if self.arm else ()
        named = {s.set for s in own}
        return (*(s for s in self.configuration.settings if s.set not in named), *own)

    @property
    def needs(self) -> tuple[Need, ...]:
        """What must be there."""
        own = self.configuration.arms[self.arm].needs if self.arm else ()
        return tuple(dict.fromkeys((*self.configuration.needs, *own)))

    @property
    def missing(self) -> str:
        """Why it cannot be run, "" where it can."""
        return self.configuration.arms[self.arm].missing if self.arm else ""


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
