"""`anamnesis mcp`: the server of the Model Context Protocol."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from importlib.util import find_spec
from typing import Annotated

import typer

from prompts.errors import InputError


def mcp(
    http: Annotated[bool, typer.Option("--http", help="Serve streamable HTTP instead of standard input.")] = False,
    host: Annotated[str | None, typer.Option(help="With --http: the address to listen on.")] = None,
    port: Annotated[
        int | None, typer.Option(help="With --http: the port; 0 takes a free one.", min=0, max=65535)
    ] = None,
    no_auth: Annotated[bool, typer.Option("--no-auth", help="With --http: ask for no key; this machine only.")] = False,
) -> None:
    """`anamnesis mcp`. Raises InputError for options that do not go together and for a package that is missing."""
    if not http and (host is not None or port is not None or no_auth):
        raise InputError("--host, --port and --no-auth belong to --http.", "Add --http, or leave them out.")
    _need("mcp", "anamnesis[mcp]")
    if http:
        _need("fastapi", "anamnesis[mcp,serve]")
        _need("uvicorn", "anamnesis[mcp,serve]")
        from agent.mcp.http import serve

        serve(host, port, authentication=not no_auth)
    else:
        serve_stdio()


def _need(package: str, extra: str) -> None:
    if find_spec(package) is None:
        raise InputError(f"The package {package} is not installed.", f"pip install '{extra}'")


# The protocol over standard input and output: one client, the sessions of the command line.

LOG_FORMAT = "%(levelname)s %(name)s: %(message)s"


def serve_stdio() -> None:
    """Serve until the input ends. Nothing but the protocol is written to standard output; logs go to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setLevel(logging.WARNING)  # the handler's: some libraries set their own loggers' level lower
    logging.basicConfig(handlers=[handler], format=LOG_FORMAT)
    # Ctrl-C ends the process at once, as SIGTERM does: a thread waits in a read that nothing can interrupt. A running
    # turn is on disk up to its last step, and the next message in its session finishes it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    asyncio.run(_serve())


async def _serve() -> None:
    from mcp.server.stdio import stdio_server

    from agent.mcp.opening import Opening, open_agent
    from agent.mcp.server import Service, server_of
    from anamnesis import __version__

    opening = Opening(open_agent)
    server = server_of(Service(opening), __version__)
    try:
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())
    finally:
        await opening.close()
