"""`anamnesis setup` and `anamnesis dev graph`."""

from __future__ import annotations

import contextlib
import sys
from typing import Annotated

import typer

from agent.agent import Agent
from agent.assembly import build, open_encoder
from agent.cli.console import open_home, say
from agent.settings import load_settings


def setup(rebuild: Annotated[bool, typer.Option(help="Build everything afresh.")] = False) -> None:
    """`anamnesis setup`: build everything that is slow to build once."""
    from agent.rare_diseases import build_rare_diseases

    settings, home = open_home()
    build(settings, home, rebuild=rebuild, say=say)
    with contextlib.closing(open_encoder(settings, home)) as encoder:
        build_rare_diseases(home, encoder, say)
    say(f"Ready: {home.root}")


def graph() -> None:
    """`anamnesis dev graph`: the machine as a Mermaid diagram."""
    with Agent(load_settings()) as agent:
        sys.stdout.write(agent.picture())
