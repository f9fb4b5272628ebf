"""The pictures of the docs are those that the command draws, and no other lies beside them."""

from __future__ import annotations

import re
from pathlib import Path

from evals.bench.page import PICTURES

ROOT = Path(__file__).resolve().parents[2]
PLOTS = {"growth.svg"}  # by `anamnesis dev bench growth`


def test_every_picture_of_the_docs_is_drawn_by_the_command_and_shown() -> None:
    held = {file.name for file in (ROOT / "docs" / "images").iterdir()}
    assert held == set(PICTURES) | PLOTS
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    shown = {name for page in pages for name in re.findall(r"images/([\w.-]+)\)", page.read_text(encoding="utf-8"))}
    assert shown == held
