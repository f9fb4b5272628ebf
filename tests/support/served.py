"""The real server on a real socket of this machine, in a thread, around a fast agent or any other."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import uvicorn

from agent.agent import Agent
from agent.loop import run
from agent.server.app import create_app
from agent.server.settings import ServerSettings
from agent.server.start import bind, config_of

FAST = {"finish_at_start": False, "failed_keys": 10**6}  # strangers are many here, and of one address


@dataclass
class Served:
    """A running server.

    Attributes:
        url: its address. app: the application. agent: the agent.
    """

    url: str
    app: Any
    agent: Agent

    def key(
        self, name: str = "tester", scopes: tuple[str, ...] = ("ask", "review", "traces"), expires: str = ""
    ) -> str:
        """The text of a new key."""
        return run(self.app.state.access.keys.create(name, scopes, expires))[1]

    def client(self, key: str | None = None, **given: Any) -> httpx.Client:
        """A client with a key; a new one for None, none for ""."""
        text = self.key() if key is None else key
        headers = {"Authorization": f"Bearer {text}"} if text else {}
        return httpx.Client(base_url=self.url, headers=headers, timeout=30, trust_env=False, **given)


@contextmanager
def served(agent: Agent, *, authentication: bool = True, **settings: Any) -> Iterator[Served]:
    """Serve an agent; ``settings`` are those of the server."""
    listener = bind("127.0.0.1", 0)
    chosen = ServerSettings(**{**FAST, **settings})
    app = create_app(agent, chosen, authentication=authentication)
    server = uvicorn.Server(config_of(app, chosen))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    while thread.is_alive() and not server.started:
        time.sleep(0.01)
    try:
        yield Served(f"http://127.0.0.1:{listener.getsockname()[1]}", app, agent)
    finally:
        server.should_exit = True
        thread.join(timeout=30)
        listener.close()
