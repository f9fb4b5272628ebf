"""`anamnesis serve`."""

from __future__ import annotations

from typing import Annotated

import typer

from agent.cli.console import ConfigOption
from agent.server.start import serve as serve_until_stopped
from agent.settings import load_settings


def serve(
    host: Annotated[str | None, typer.Option(help="Where to listen; this machine alone unless told.")] = None,
    port: Annotated[int | None, typer.Option(help="The port; 0 takes a free one.", min=0, max=65535)] = None,
    no_auth: Annotated[bool, typer.Option("--no-auth", help="Ask for no key; on this machine alone.")] = False,
    config_name: ConfigOption = "",
) -> None:
    """`anamnesis serve`."""
    settings = load_settings(**({"config": config_name} if config_name else {}))
    given = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    server = settings.server.model_copy(update=given)
    serve_until_stopped(settings.model_copy(update={"server": server}), authentication=not no_auth)
