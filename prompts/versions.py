"""The versions of all prompts, listed in ``versions.json``: a prompt whose text changed needs a higher version.

A trace names the version and the hash of each prompt that was used; the list keeps one version from meaning two texts.
``python -m prompts.versions`` lists the prompts anew after their versions were raised.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter

from prompts.templates import FOLDER, load_prompt

LIST = FOLDER / "versions.json"


class Listed(BaseModel):
    """A prompt as it was listed."""

    model_config = ConfigDict(frozen=True)

    version: int
    hash: str


Versions = dict[str, Listed]


def current() -> Versions:
    """The prompts as they are now."""
    prompts = [load_prompt(file.stem) for file in sorted(FOLDER.glob("*.md"))]
    return {p.name: Listed(version=p.version, hash=p.hash) for p in prompts}


def listed(file: Path = LIST) -> Versions:
    """The prompts as they were listed, none without a list."""
    return TypeAdapter(Versions).validate_json(file.read_bytes()) if file.exists() else {}


def faults(now: Mapping[str, Listed], then: Mapping[str, Listed]) -> list[str]:
    """What keeps the list from being made anew: texts that changed under one version, or versions that fell."""
    found = []
    for name in sorted(now.keys() & then.keys()):
        fell = now[name].version < then[name].version
        if fell or (now[name].hash != then[name].hash and now[name].version == then[name].version):
            least = then[name].version + 1
            found.append(f"{name}.md has another text than before: begin it with `version: {least}`.")
    return found


def main() -> int:
    """List the prompts anew, unless a version must be raised first; returns the exit status."""
    now = current()
    wrong = faults(now, listed())
    for line in wrong:
        sys.stderr.write(line + "\n")
    if not wrong:
        LIST.write_text(json.dumps({n: p.model_dump() for n, p in now.items()}, indent=1) + "\n", encoding="utf-8")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
