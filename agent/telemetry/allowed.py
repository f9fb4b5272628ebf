"""The one way by which anything gets into a span or a metric: a list of keys, each with the values that it may hold.

What a key may not hold is replaced by ``_OTHER`` where its values are a list, else left out; a key that is not on the
list is left out. So a patient's words cannot get in, whatever a caller hands over. The list is `allowed.yaml`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, get_args

import yaml

from agent.sessions import ids
from anamnesis import __version__
from graphs.completeness.contract import Decision
from graphs.triage.contract import Kind
from prompts import errors, metering, model_failures
from prompts.errors import AnamnesisError
from prompts.model_settings import Role
from tools.contract import Outcome
from tools.literature import failures
from tools.literature.failures import Reason

OTHER = "_OTHER"  # the conventions' value for whatever is not on a list
LARGEST = 2**53  # ours: integers beyond it are no counts, and not every reader takes them
MADE = re.compile(r"^(?=.*[a-f])[0-9a-f]{16}\Z")  # an id that a caller chose may be a name or a number of a patient
BUILT_IN = (
    "CancelledError TimeoutError OSError ConnectionError RuntimeError ValueError TypeError KeyError IndexError "
    "AttributeError MemoryError RecursionError GraphRecursionError KeyboardInterrupt SystemExit"
)

Value = str | int | float | bool


@lru_cache(maxsize=1)
def listed() -> dict[str, dict[str, dict[str, Any]]]:
    """``attributes`` and ``metrics`` by name."""
    read: dict[str, dict[str, dict[str, Any]]] = yaml.safe_load(Path(__file__).with_name("allowed.yaml").read_text())
    return read


def of_the_program() -> dict[str, set[str]]:
    """The lists that the program's own types make; errors are its types, common ones, reasons and failing statuses."""
    reasons = {reason.value for reason in Reason}
    ours = {
        name
        for module in (errors, metering, model_failures, failures, ids)
        for name, found in vars(module).items()
        if isinstance(found, type) and issubclass(found, AnamnesisError)
    }
    return {
        "version": {__version__},
        "kinds": {kind.value for kind in Kind},
        "roles": set(get_args(Role)),
        "decisions": {decision.value for decision in Decision},
        "outcomes": {outcome.value for outcome in Outcome},
        "ended": {"ok", *reasons},
        "errors": {*BUILT_IN.split(), *map(str, range(500, 600)), *ours, *reasons},
        "settings": set(),
    }


class Allowed:
    """The keys that may be told, with what is known of their values."""

    def __init__(self) -> None:
        program = of_the_program()
        self._holds = {key: about["holds"] for key, about in listed()["attributes"].items()}
        listings = {key: set(h if isinstance(h, list) else program.get(h, ())) for key, h in self._holds.items()}
        self.names: dict[str, set[str]] = listings

    def know(self, key: str, names: Iterable[str]) -> None:
        """Learn names that a key may hold: of the settings and of the program, never out of a message."""
        self.names[key].update(name for name in names if name)

    def of(self, facts: Mapping[str, object], keys: Iterable[str] | None = None) -> dict[str, Value]:
        """What may be told of the facts; ``keys`` restricts it further."""
        wanted = facts if keys is None else {key: facts[key] for key in keys if key in facts}
        admitted = {key: self._admitted(key, value) for key, value in wanted.items() if key in self._holds}
        return {key: value for key, value in admitted.items() if value is not None}

    def _admitted(self, key: str, value: object) -> Value | None:
        match self._holds[key]:
            case "count":
                if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST:
                    return value
                return None
            case "truth":
                return value if isinstance(value, bool) else None
            case "id":
                return value if isinstance(value, str) and MADE.match(value) else None
        if value is None or value == "":
            return None
        return value if isinstance(value, str) and value in self.names[key] else OTHER
