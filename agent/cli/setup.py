"""`anamnesis setup` and `anamnesis dev graph`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from agent.agent import Agent
from agent.assembly import build
from agent.cli.console import open_home, say
from agent.settings import load_settings


def setup(
    rebuild: Annotated[bool, typer.Option(help="Build everything afresh.")] = False,
    minimal: Annotated[
        bool, typer.Option("--minimal", help="Only what every message needs; the rest is built when it is first used.")
    ] = False,
) -> None:
    """`anamnesis setup`: build everything that is slow to build once."""
    settings, home = open_home()
    build(settings, home, rebuild=rebuild, say=say, everything=not minimal)
    say(f"Ready: {home.root}")


def graph() -> None:
    """`anamnesis dev graph`: the machine as a Mermaid diagram."""
    with Agent(load_settings()) as agent:
        sys.stdout.write(agent.picture())
