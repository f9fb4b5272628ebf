"""`anamnesis serve`: opens the agent, listens, and stops so that no turn is lost."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import sys
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any

from agent.loop import run
from agent.server.settings import ServerSettings
from prompts.errors import InputError

if TYPE_CHECKING:
    from uvicorn import Config, Server

    from agent.server.turns import Turns
    from agent.settings import Settings

BACKLOG = 256  # ours: connections that may wait
IDLE = 75  # ours: seconds after which a silent connection is closed; above the 60 of common proxies
LAST_WORDS = 5  # ours: seconds for answers that are on their way when the turns have ended
NAMES = ("localhost",)
Make = Callable[..., Any]  # (agent, authentication=...) to an application

FIRST_CASE = "A cough since yesterday."  # looked up before anybody asks: what cases need is loaded then


def serve(settings: Settings, *, authentication: bool = True, make: Make | None = None) -> None:
    """Serve until a signal says stop.

    Args:
        make: makes another application than the whole server's.

    Raises:
        InputError: a package is missing, nobody can listen there, or no key would be asked of other machines.
        DataError: the data folder cannot be used.
    """
    server = settings.server
    if not authentication and not is_loopback(server.host):
        what = f"Without keys the server listens on this machine alone, not on {server.host}."
        raise InputError(what, "Leave out --no-auth, or --host.")
    _check_installed()
    from agent.agent import Agent
    from agent.server import logs
    from agent.server.app import create_app

    listener = bind(server.host, server.port)
    logs.set_up()
    with listener, Agent(settings, say=lambda told: logs.event("first use", told=told), everything=True) as agent:
        agent.parts.look_up(FIRST_CASE, "en", ())
        app = (make or create_app)(agent, authentication=authentication)
        listener.listen(BACKLOG)
        logs.event("listening", address=address_of(listener), authentication=authentication)
        if authentication and is_loopback(server.host):
            tell_link(app, address_of(listener))
        _server(app, app.state.turns, server).run(sockets=[listener])


def tell_link(app: Any, address: str) -> None:
    """Write the link at once, to a terminal or to whatever stands in its place."""
    sys.stdout.write(f"The page, for one log-in within ten minutes: {link_of(app, address)}\n")
    sys.stdout.flush()


def link_of(app: Any, address: str) -> str:
    """A link that logs the page in one time. What stands behind the sign is sent to nobody, and is in no log."""
    access = app.state.access
    return f"{address}/#/once/{access.offer(run(access.keys.of_page()))}"


def is_loopback(host: str) -> bool:
    """Whether an address is reached from this machine alone."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host in NAMES


def bind(host: str, port: int) -> socket.socket:
    """A socket at an address; raises InputError where none can be had."""
    name = host.strip("[]")
    family = socket.AF_INET6 if ":" in name else socket.AF_INET
    # asyncio sends at once (TCP_NODELAY) only on sockets that name their protocol; else small answers wait some 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((name, port))
        listener.set_inheritable(False)
    except OSError as error:
        listener.close()
        what = f"The server cannot listen on {host}:{port} ({error.strerror or error})."
        raise InputError(what, "Choose another --port, or stop what listens there.") from error
    return listener


def address_of(listener: socket.socket) -> str:
    """The address for clients."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _check_installed() -> None:
    from importlib.util import find_spec

    missing = [name for name in ("fastapi", "uvicorn") if find_spec(name) is None]
    if missing:
        raise InputError(f"The server needs {' and '.join(missing)}.", "pip install 'anamnesis[serve]'")


def _server(app: Any, turns: Turns, settings: ServerSettings) -> Server:
    """uvicorn, which stops in order: no more turns, a time of grace, then what still runs is cut off."""
    import uvicorn

    class Stopping(uvicorn.Server):
        """Goes on answering while the turns end: whoever asks is told to come back, and /ready says no."""

        _ending: asyncio.Task[None] | None = None

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            """The first signal begins the end, a second one hurries it."""
            del sig, frame  # not raised again at the end: the agent is still to be closed
            if turns.closing:
                turns.hurry()
            turns.closing = True

        async def on_tick(self, counter: int) -> bool:
            """Ten times a second: begin to stop when told to."""
            if turns.closing and self._ending is None:
                self._ending = asyncio.create_task(self._end())
            return await super().on_tick(counter)

        async def _end(self) -> None:
            await turns.close(settings.grace_seconds)
            self.should_exit = True

    return Stopping(config_of(app, settings))


def config_of(app: Any, settings: ServerSettings) -> Config:
    """How uvicorn listens: with deadlines, without its own logs, and without websockets, of which there are none."""
    import uvicorn

    from agent.server.edge import protocol_of

    return uvicorn.Config(
        app,
        http=protocol_of(settings),
        ws="none",
        log_config=None,  # ours
        access_log=False,
        server_header=False,
        backlog=BACKLOG,
        timeout_keep_alive=IDLE,
        timeout_graceful_shutdown=LAST_WORDS,
        lifespan="on",
    )
