"""`anamnesis serve` as it is run, processes of their own on real sockets, and clients that talk to them at once."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import httpx

from agent.loop import run
from agent.server.keys import SCOPES, Keys
from agent.server.tables import Tables
from agent.sessions import Home, open_database
from agent.settings import load_settings
from evals.bench.postgres import cluster
from prompts.errors import ServiceError

T = TypeVar("T")
START = 300.0  # seconds that a start may take; on a busy machine torch alone takes twenty; ours
END = 60.0  # seconds that a stop may take; ours
GRACE = 120  # seconds that running turns get at a stop; ours: above the longest turn of such a load on a small machine
PATIENCE = 600.0  # seconds for a turn: a busy machine is slow, not wrong; ours
WAIT = 0.5  # seconds between two tries; ours
AGAIN = (409, 429, 503)  # come back soon: another turn runs, too much at once, stopping
NOT_OURS = ("ANAMNESIS_", "OPENAI_", "NCBI_")  # settings of the user's that would change what is measured


class Worker:
    """A running server.

    Attributes:
        url: its address. process: it.
    """

    def __init__(self, home: Path, log: Path, port: int = 0, database: str = "") -> None:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(NOT_OURS)}
        own = {"HOME": str(home), "LITERATURE__LIVE": "off", "MODEL": "", "SERVER__GRACE_SECONDS": str(GRACE)}
        own |= {"DATABASE": database} if database else {}
        environment = {**kept, **{f"ANAMNESIS_{name}": value for name, value in own.items()}}
        self._log = log
        with log.open("w") as file:
            command = [sys.executable, "-m", "anamnesis", "serve", "--port", str(port)]
            self.process = subprocess.Popen(command, env=environment, stdout=file, stderr=file)  # noqa: S603
        end = time.monotonic() + START
        while not (heard := [line for line in self._lines() if line.get("event") == "listening"]):
            if time.monotonic() > end or self.process.poll() is not None:
                self.kill()
                raise ServiceError(f"The server did not start: {log.read_text(encoding='utf-8')[-2000:]}")
            time.sleep(WAIT)
        self.url = str(heard[0]["address"])

    def kill(self) -> int:
        """End it at once, with nothing said (SIGKILL); its exit status."""
        self.process.kill()
        return self.process.wait(END)

    def stop(self) -> int:
        """End it in order; its exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(GRACE + END)

    def faults(self) -> list[str]:
        """Lines of its log that tell of an error of its own."""
        return [json.dumps(line) for line in self._lines() if line["level"] in ("error", "critical")]

    def _lines(self) -> list[dict[str, Any]]:
        lines = self._log.read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines if line.startswith("{") and line.endswith("}")]


class Site:
    """Workers on ports that stay, as behind a balancer, on one data folder or one PostgreSQL.

    Args:
        home: the data folder. database: of theirs, "" for files of the folder.
    """

    def __init__(self, home: Path, database: str) -> None:
        self.home, self.database = home, database
        self.workers: list[Worker] = []
        self._started: list[Worker] = []

    @property
    def urls(self) -> list[str]:
        """The addresses."""
        return [worker.url for worker in self.workers]

    def start(self, port: int = 0) -> Worker:
        """A worker on a port, 0 for any."""
        log = self.home / f"worker-{time.monotonic_ns()}.log"
        self._started.append(Worker(self.home, log, port, self.database))
        return self._started[-1]

    def restart(self, number: int) -> None:
        """The next worker in the place of one that has ended."""
        self.workers[number] = self.start(int(self.workers[number].url.rpartition(":")[2]))

    def faults(self) -> list[str]:
        """What all of them complained of."""
        return [line for worker in self._started for line in worker.faults()]

    def keys(self, count: int) -> list[str]:
        """New keys with all scopes."""

        async def made() -> list[str]:
            settings = load_settings(config="", home=self.home, database=self.database or None)
            opened = await open_database(settings, Home(self.home).prepare())
            try:
                keys = Keys(await Tables(opened).open())
                return [(await keys.create(f"bench {n}", SCOPES))[1] for n in range(count)]
            finally:
                await opened.close()

        return run(made())

    def close(self) -> None:
        """Kill what still runs."""
        for worker in self._started:
            if worker.process.poll() is None:
                worker.kill()


@contextmanager
def serving(home: Path, workers: int = 1, database: str = "") -> Iterator[Site]:
    """A site; of more than one worker on a PostgreSQL, which is started where no address of one is given."""
    with ExitStack() as stack:
        shared = database or stack.enter_context(cluster()) if workers > 1 else ""
        site = Site(home, shared)
        stack.callback(site.close)
        site.workers += [site.start() for _ in range(workers)]
        yield site


class Told(NamedTuple):
    """A turn.

    Attributes:
        answer: as JSON. seconds: until the answer. first: until the first event. step: until the machine's own first.
        tries: requests that it took.
    """

    answer: dict[str, Any]
    seconds: float
    first: float
    step: float
    tries: int


class Refused(Exception):  # noqa: N818  it is the server's answer
    """A request that was not answered as asked; ``wait``: the seconds after which the server bids to ask again."""

    def __init__(self, said: str, status: int = 0, wait: float = 0.0) -> None:
        super().__init__(f"{status} {said}")
        self.status, self.wait = status, wait

    @classmethod
    async def of(cls, response: httpx.Response) -> Refused:
        """What an error's response says."""
        said = (await response.aread()).decode()[:300]
        return cls(said, response.status_code, float(response.headers.get("Retry-After", 0)))


class Talker:
    """Talks to one server, or to several that share a database.

    Args:
        urls: servers, the first one asked first. key: its key.
        again: send a message again, at the next server, where it was not answered.

    Attributes:
        turned_away: requests that a server refused for the moment, or that did not reach it: nothing had begun.
        broken: answers that ended in their middle, in words.
    """

    def __init__(self, urls: Sequence[str], key: str, *, again: bool = False) -> None:
        self._urls, self._again = list(urls), again
        headers = {"Authorization": f"Bearer {key}"}
        self.client = httpx.AsyncClient(headers=headers, timeout=PATIENCE, trust_env=False)
        self.turned_away = 0
        self.broken: list[str] = []

    async def open(self) -> str:
        """A new session."""
        return str((await self.call("POST", "/api/sessions", json={}))["id"])

    async def call(self, method: str, path: str, **given: Any) -> Any:
        """The JSON of a request; raises Refused."""

        async def asked(url: str, tries: int) -> Any:
            del tries
            response = await self.client.request(method, url + path, **given)
            if response.is_error:
                raise await Refused.of(response)
            return response.json()

        return await self._tried(asked)

    async def say(self, session: str, text: str, key: str) -> Told:
        """A turn with its answer; raises Refused."""
        started = time.perf_counter()

        async def asked(url: str, tries: int) -> Told:
            first = step = 0.0
            async for name, data in self._turn(f"{url}/api/sessions/{session}/turns", text, key):
                moment = time.perf_counter() - started
                first = first or moment
                step = step or (moment if data.get("step") != "turn" else 0.0)
                if name == "answer":
                    return Told(data, moment, first, step, tries)
            raise Refused("the stream ended without an answer")

        return await self._tried(asked)

    async def _turn(self, url: str, text: str, key: str) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        """The server-sent events of a turn."""
        headers = {"Accept": "text/event-stream", "Idempotency-Key": key}
        async with self.client.stream("POST", url, json={"text": text}, headers=headers) as response:
            if response.is_error:
                raise await Refused.of(response)
            name = ""
            async for line in response.aiter_lines():
                if line.startswith("event: "):
                    name = line.removeprefix("event: ")
                elif line.startswith("data: ") and name == "error":
                    raise Refused(line)
                elif line.startswith("data: "):
                    yield name, json.loads(line.removeprefix("data: "))

    async def _tried(self, ask: Callable[[str, int], Awaitable[T]]) -> T:
        """Ask the first server; where a message is sent again, the next one until there is an answer.

        Whoever asks too often (429) waits as long as the server says, and asks again in any case.
        """
        end, tries = time.monotonic() + PATIENCE, 0
        while True:
            tries += 1
            try:
                return await ask(self._urls[0], tries)
            except (httpx.TransportError, Refused) as error:
                away = isinstance(error, httpx.TransportError)
                status, wait = (0, 0.0) if isinstance(error, httpx.TransportError) else (error.status, error.wait)
                often = status == httpx.codes.TOO_MANY_REQUESTS and wait > 0
                again = often or (self._again and (away or status in AGAIN))
                if not again or time.monotonic() > end:
                    raise Refused(f"{type(error).__name__} {error}", status) from error
                if away or status == httpx.codes.SERVICE_UNAVAILABLE:
                    self._urls.append(self._urls.pop(0))
                if away and not isinstance(error, httpx.ConnectError):
                    self.broken.append(type(error).__name__)
                else:
                    self.turned_away += 1
            await asyncio.sleep(max(WAIT, wait))


@asynccontextmanager
async def talkers(urls: Sequence[str], keys: Sequence[str], *, again: bool = False) -> AsyncIterator[list[Talker]]:
    """A talker for each key; every second one begins with the second server."""
    turned = (list(urls), list(reversed(urls)))
    made = [Talker(turned[n % 2], key, again=again) for n, key in enumerate(keys)]
    try:
        yield made
    finally:
        await asyncio.gather(*(talker.client.aclose() for talker in made))
