"""The commands that `evals` adds to the command line, through the entry point group ``anamnesis.commands``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(bench)


def bench(
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the figures to this file too.")] = None,
    rounds: Annotated[int, typer.Option(min=1, help="How often each question is asked.")] = 1,
) -> None:
    """Measure speed, memory and start-up of this installation (about two minutes)."""
    from evals.bench.run import run_bench

    run_bench(json_file, rounds)
