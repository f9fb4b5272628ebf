"""The option `--references` of `ask` and `search`, and what is said when references are written."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agent.cli.console import say, write_text
from tools.files import named_file
from tools.references.contract import Collected
from tools.references.forms import form_of, holds, said_of, written

ReferencesOption = Annotated[
    Path | None,
    typer.Option(
        "--references",
        help="Write what was cited or found there: .ris, .nbib, .bib, or .json (CSL).",
        callback=named_file,
    ),
]


def write_references(collected: Collected, path: Path) -> None:
    """Write references in the form that the file's name asks for, and say how many; raises InputError."""
    form = form_of(path)
    write_text(path, written(collected.references, form))
    say_references(collected, form)


def say_references(collected: Collected, form: str) -> None:
    """Say how many references were written, and what was left out and why."""
    kept = sum(holds(r, form) for r in collected.references)
    say(f"{kept} references." if kept != 1 else "1 reference.")
    if said := said_of(collected, form):
        say(said)
