"""`anamnesis serve` as it is run: a process of its own on a real socket."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from agent.loop import run
from agent.server.tables import Tables
from agent.sessions import Home, open_database
from agent.settings import load_settings
from evals.bench.server.strangers import People
from prompts.errors import ServiceError

T = TypeVar("T")
START = 300.0  # seconds that a start may take; on a busy machine torch alone takes twenty; ours
END = 60.0  # seconds that a stop may take
LOOK = 0.05  # seconds between looks at the log
NOT_OURS = ("ANAMNESIS_", "OPENAI_", "NCBI_")  # settings of the user's that would change what is measured


def environment(home: Path, database: str = "", **settings: str) -> dict[str, str]:
    """The environment of a process that measures: no model, no live access, this data folder."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(NOT_OURS)}
    own = {"ANAMNESIS_HOME": str(home), "ANAMNESIS_LITERATURE__LIVE": "off", "ANAMNESIS_MODEL": "", **settings}
    return {**kept, **own, **({"ANAMNESIS_DATABASE": database} if database else {})}


class Server:
    """A running server.

    Attributes:
        url: its address. process: it. log: its file, a JSON line each.
    """

    def __init__(self, env: Mapping[str, str], log: Path, port: int = 0) -> None:
        self.log = log
        command = [sys.executable, "-m", "anamnesis", "serve", "--port", str(port)]
        with log.open("w") as file:
            self.process = subprocess.Popen(command, env=dict(env), stdout=file, stderr=file)  # noqa: S603
        try:
            self.url = self._listening()
        except BaseException:
            self.kill()
            raise

    def kill(self) -> None:
        """End it at once, with nothing said (SIGKILL)."""
        self.process.kill()
        self.process.wait(END)

    def stop(self, patience: float = END) -> int:
        """End it in order; its exit status. ``patience``: seconds that it may take."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(patience)

    def faults(self) -> list[str]:
        """Lines of its log that tell of an error of its own."""
        lines = [line for line in self.log.read_text(encoding="utf-8").splitlines() if line.startswith("{")]
        return [line for line in lines if json.loads(line)["level"] in ("error", "critical")]

    def _listening(self) -> str:
        end = time.monotonic() + START
        while time.monotonic() < end and self.process.poll() is None:
            for line in self.log.read_text(encoding="utf-8").splitlines():
                if line.startswith("{") and line.endswith("}") and json.loads(line).get("event") == "listening":
                    return str(json.loads(line)["address"])
            time.sleep(LOOK)
        raise ServiceError(f"The server did not start: {self.log.read_text(encoding='utf-8')[-2000:]}")


@contextmanager
def serving(home: Path, log: Path, database: str = "", port: int = 0, **settings: str) -> Iterator[Server]:
    """A server, killed at the end where it still runs. ``port``: 0 for any."""
    server = Server(environment(home, database, **settings), log, port)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.kill()


def with_people(home: Path, work: Callable[[People], Awaitable[T]], database: str = "") -> T:
    """Do something with the keys of a server's database, as `anamnesis keys` does."""

    async def done() -> T:
        settings = load_settings(config="", home=home, database=database or None)
        opened = await open_database(settings, Home(home).prepare())
        try:
            return await work(People(await Tables(opened).open()))
        finally:
            await opened.close()

    return run(done())


def keys(home: Path, count: int, database: str = "") -> list[str]:
    """New keys with all scopes."""

    async def made(people: People) -> list[str]:
        return [await people.key(f"bench {n}") for n in range(count)]

    return with_people(home, made, database)
