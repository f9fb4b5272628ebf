"""Prompts: versioned Markdown files of this folder, each with an id, a version and a hash for the trace."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template

FOLDER = Path(__file__).parent
SEPARATOR = "\n---\n"  # between what a template says as the system and what it says as the user
VERSION = re.compile(r"^version: (\d+)\n")
TILDES = re.compile(r"~+")
LEAST_FENCE = 3  # ours: as Markdown's


@dataclass(frozen=True)
class Prompt:
    """A template: what is said as the system and, with ``$names`` to fill in, as the user."""

    name: str
    version: int
    hash: str
    system: str
    user: str

    @property
    def id(self) -> str:
        """``name@version``."""
        return f"{self.name}@{self.version}"

    def filled(self, values: Mapping[str, str]) -> tuple[str, str]:
        """System and user text. The values are data: none becomes a template, and none can close ``$fence``."""
        return self.system, Template(self.user).substitute({**values, "fence": fence_of(values.values())})


@cache
def load_prompt(name: str) -> Prompt:
    """The prompt of a file ``name.md``: a line ``version: N``, the system's part, ``---``, the user's part."""
    text = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    version = VERSION.match(text)
    if version is None:
        raise ValueError(f"{name}.md does not begin with its version")
    system, _, user = text[version.end() :].partition(SEPARATOR)
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    return Prompt(name, int(version[1]), digest, system.strip(), user.strip())


def fence_of(texts: Iterable[str]) -> str:
    """A line of tildes that stands in none of the texts: longer than the longest run of tildes in them."""
    longest = max((len(run) for text in texts for run in TILDES.findall(text)), default=0)
    return "~" * max(LEAST_FENCE, longest + 1)
