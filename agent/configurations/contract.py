"""What a published configuration is: settings, each with its origin, and what differs from the source here."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

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
