"""The command `anamnesis passages`; what it does is imported when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer


def passages(
    file: Annotated[Path, typer.Argument(help="Any file that `library add` reads.")],
    method: Annotated[Literal["seos", "seos_paper"], typer.Option(help="Exact, or the published rule.")] = "seos",
    budget: Annotated[int | None, typer.Option(help="Tokens of an average passage, in the encoder's own.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the continuity curve in this file (.svg).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show how a document is cut into passages: breakpoints, overlaps, tokens."""
    from agent.cli.passages import show_passages

    raise typer.Exit(show_passages(file, method=method, budget=budget, plot=plot, as_json=as_json))
