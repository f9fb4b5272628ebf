"""`anamnesis completion`, what a shell asks of it, and `anamnesis version`."""

from __future__ import annotations

from importlib.metadata import version as installed
from typing import Annotated, Literal

import typer
from typer.completion import get_completion_inspect_parameters, shell_complete

from agent.cli.app import COMPLETE


def completion(
    context: typer.Context,
    shell: Annotated[Literal["bash", "zsh", "fish"], typer.Argument(help="The shell.")],
) -> None:
    """`anamnesis completion`: the shell's script, to be read by its start-up file."""
    get_completion_inspect_parameters()  # typer learns its shells only where it offers options of its own for that
    shell_complete(context.find_root().command, {}, "anamnesis", COMPLETE, f"source_{shell}")


def version() -> None:
    """`anamnesis version`."""
    typer.echo(f"anamnesis {installed('anamnesis')}")
