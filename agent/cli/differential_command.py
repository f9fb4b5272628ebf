"""The command `anamnesis differential`; what it does is imported when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def differential(
    text: Annotated[str, typer.Argument(help="A case; without it, or for -, its first line is asked for.")] = "",
    answers: Annotated[
        Path | None, typer.Option("--answers", help="Take the answers from this file, one a line (UTF-8).")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line and step.")] = False,
) -> None:
    """Rank what a case may be, ask the next best question, and refine with each answer."""
    from agent.cli.differential import interview

    interview(text, answers=answers, as_json=as_json)
