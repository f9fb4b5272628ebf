"""`anamnesis setup` and `anamnesis graph`."""

from __future__ import annotations

import sys

from agent.agent import Agent
from agent.cli.render import progress_console
from agent.sessions import Home
from agent.settings import load_settings, silence_telemetry


def build_all(*, rebuild: bool) -> None:
    """Build everything that is slow to build once."""
    from agent.assembly import build

    settings = load_settings()
    silence_telemetry(settings)
    home = Home(settings.home).prepare()
    out = progress_console()
    build(settings, home, rebuild=rebuild, say=lambda line: out.print(line, markup=False))
    out.print(f"Ready: {home.root}", markup=False)


def print_graph() -> None:
    """Print the machine as a Mermaid diagram."""
    with Agent(load_settings()) as agent:
        sys.stdout.write(agent.picture())
