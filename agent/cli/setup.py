"""`anamnesis setup` and `anamnesis graph`."""

from __future__ import annotations

import contextlib
import sys

from agent.agent import Agent
from agent.cli.render import progress_console
from agent.sessions import Home
from agent.settings import load_settings, silence_telemetry


def build_all(*, rebuild: bool) -> None:
    """Build everything that is slow to build once."""
    from agent.assembly import build, open_encoder
    from agent.rare_diseases import build_rare_diseases

    settings = load_settings()
    silence_telemetry(settings)
    home = Home(settings.home).prepare()
    out = progress_console()

    def say(line: str) -> None:
        out.print(line, markup=False)

    build(settings, home, rebuild=rebuild, say=say)
    with contextlib.closing(open_encoder(settings, home)) as encoder:
        build_rare_diseases(home, encoder, say)
    out.print(f"Ready: {home.root}", markup=False)


def print_graph() -> None:
    """Print the machine as a Mermaid diagram."""
    with Agent(load_settings()) as agent:
        sys.stdout.write(agent.picture())
