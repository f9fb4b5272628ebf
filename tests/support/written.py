"""The written cases and questions: `evals/data/dev`, and the benchmark's questions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tools.yaml_files import read_yaml

ROOT = Path(__file__).resolve().parents[2]
PLACES = {"questions": ROOT / "evals" / "bench"}


def rows(name: str) -> list[dict[str, Any]]:
    """The rows of one file."""
    path = PLACES.get(name, ROOT / "evals" / "data" / "dev") / f"{name}.yaml"
    found: list[dict[str, Any]] = read_yaml(path)
    return found
