"""The protocol over standard input and output: one client, the sessions of the command line."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys

LOG_FORMAT = "%(levelname)s %(name)s: %(message)s"


def serve() -> None:
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
