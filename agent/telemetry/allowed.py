"""The one way by which anything gets into a span or a metric: a list of keys, each with the values that it may hold.

No key holds free text. What a key may not hold is replaced by ``_OTHER`` where its values are a list, else left out; a
key that is not on the list is left out. So a patient's words cannot get in, whatever a caller hands over.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

OTHER = "_OTHER"  # the conventions' value for whatever is not on a list
LARGEST = 2**53  # ours: integers beyond it are no counts, and not every reader takes them

Value = str | int | float | bool


@dataclass
class OneOf:
    """One of a list of names; ``None`` in their place: names that are known once the settings are read (`know`)."""

    names: frozenset[str] | None = None
    known: set[str] = field(default_factory=set)

    def admit(self, value: object) -> Value | None:
        """The name, ``_OTHER`` for another."""
        if value is None or value == "":
            return None
        listed = isinstance(value, str) and (value in self.known or value in (self.names or ()))
        return str(value) if listed else OTHER


class Count:
    """A whole number from 0 up."""

    def admit(self, value: object) -> Value | None:
        """The number, None for anything else."""
        return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST else None


class Truth:
    """True or false."""

    def admit(self, value: object) -> Value | None:
        """The value, None for anything else."""
        return value if isinstance(value, bool) else None


class MadeId:
    """A session's id as this program makes them: 16 hexadecimal digits, a letter among them.

    A caller may choose an id, and might choose a name or a number of a patient: such an id is left out.
    """

    _FORM = re.compile(r"^(?=.*[a-f])[0-9a-f]{16}\Z")

    def admit(self, value: object) -> Value | None:
        """The id, None for another."""
        return value if isinstance(value, str) and self._FORM.match(value) else None


Holds = OneOf | Count | Truth | MadeId


@dataclass(frozen=True)
class Attribute:
    """A key that may be told, what it may hold, and what it means."""

    key: str
    holds: Holds
    about: str


class Allowed:
    """The keys that may be told.

    Args:
        attributes: all of them.
    """

    def __init__(self, attributes: Iterable[Attribute]) -> None:
        self._holds: dict[str, Holds] = {a.key: a.holds for a in attributes}

    def know(self, key: str, names: Iterable[str]) -> None:
        """Learn names that a key may hold: of the settings and of the program, never out of a message."""
        holds = self._holds[key]
        if isinstance(holds, OneOf):
            holds.known.update(name for name in names if name)

    def of(self, facts: Mapping[str, object], keys: Iterable[str] | None = None) -> dict[str, Value]:
        """What may be told of the facts; ``keys`` restricts it further."""
        wanted = facts if keys is None else {key: facts[key] for key in keys if key in facts}
        admitted = {key: self._holds[key].admit(value) for key, value in wanted.items() if key in self._holds}
        return {key: value for key, value in admitted.items() if value is not None}
