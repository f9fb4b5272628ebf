"""The parameters of a request, read once and checked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from tools.mirror.eutils.replies import RequestError

DATABASE = "pubmed"
MOST_IDS = 10_000  # NCBI takes about as many in a POST
ID = re.compile(r"[1-9]\d{0,11}")


class Parameters:
    """What was asked; capitals in names do not count, a repeated one keeps all its values.

    ``tool``, ``email`` and ``api_key`` are accepted and never read, so they reach no log.
    """

    def __init__(self, given: Mapping[str, Sequence[str]]) -> None:
        self._given: dict[str, list[str]] = {}
        for name, values in given.items():
            self._given.setdefault(name.lower(), []).extend(values)

    def text(self, name: str, default: str = "") -> str:
        """The last value, stripped."""
        values = self._given.get(name.lower())
        return values[-1].strip() if values and values[-1].strip() else default

    def number(self, name: str, default: int) -> int:
        """A whole number from 0 on. Raises RequestError."""
        text = self.text(name)
        if not text:
            return default
        if not (text.isascii() and text.isdecimal() and len(text) <= 9):
            raise RequestError(f"Invalid value of {name}: {text[:20]}", f"{name} is a whole number.")
        return int(text)

    def has(self, name: str) -> bool:
        """Whether a value was given."""
        return bool(self.text(name))

    def database(self, name: str = "db") -> None:
        """Raise RequestError unless the database is the one that is held."""
        asked = self.text(name, "" if name == "db" else DATABASE)
        if not asked:
            raise RequestError("Empty db parameter", "Give db=pubmed.")
        if asked.lower() != DATABASE:
            raise RequestError(f"Invalid db name specified: {asked[:40]}", "This mirror holds pubmed alone.")

    def id_groups(self) -> list[list[str]]:
        """The ids, one list for each time that ``id`` was given; what is no id is left out here, see `invalid`."""
        groups = [[i for i in _split(v) if ID.fullmatch(i)] for v in self._given.get("id", ())]
        if sum(map(len, groups)) > MOST_IDS:
            raise RequestError(f"Too many ids: at most {MOST_IDS:,} a request", "Send them in several requests.")
        return [group for group in groups if group]

    def ids(self) -> list[str]:
        """All ids, each once, in order."""
        return list(dict.fromkeys(i for group in self.id_groups() for i in group))

    def invalid(self) -> list[str]:
        """What stands among the ids and is none."""
        return [i for v in self._given.get("id", ()) for i in _split(v) if not ID.fullmatch(i)]

    @property
    def wants_json(self) -> bool:
        """Whether JSON is asked for."""
        return self.text("retmode").lower() == "json"


def _split(value: str) -> list[str]:
    return [part.strip() for part in value.split(",") if part.strip()]
