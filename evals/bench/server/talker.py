"""A client of the native API that sends each message under an idempotency key, and may be told to send it again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import httpx

from evals.bench.server.clients import EVENTS, PATIENCE, bearer, events

AGAIN = frozenset({409, 429, 503})  # come back soon: another turn runs, too much at once, stopping
STOPPING = "503 "
WAIT = 0.5  # seconds between two tries; ours


class Told(NamedTuple):
    """A turn.

    Attributes:
        answer: as JSON. seconds: until the answer. first: until the first step event. step: until the machine's own
            first. tries: requests that it took.
    """

    answer: dict[str, Any]
    seconds: float
    first: float
    step: float
    tries: int


class Refused(Exception):  # noqa: N818  it is the server's answer
    """A request that was not answered as asked."""


class Talker:
    """Talks to one server, or to several that share a database.

    Args:
        urls: servers, the first one asked first. key: its key.
        again: send a message again, at the next server, where it was not answered.

    Attributes:
        turned_away: requests that a server refused for the moment, or that did not reach it: nothing had begun.
        broken: answers that ended in their middle, in words.
    """

    BROKEN = httpx.TransportError  # a connection that broke, or was never made

    def __init__(self, urls: Sequence[str], key: str, *, again: bool = False) -> None:
        self._urls, self._again = list(urls), again
        self._client = httpx.AsyncClient(headers=bearer(key), timeout=PATIENCE, trust_env=False)
        self.turned_away = 0
        self.broken: list[str] = []

    async def close(self) -> None:
        """Close its connections."""
        await self._client.aclose()

    async def open(self) -> str:
        """A new session."""
        return str((await self.call("POST", "/api/sessions", json={}))["id"])

    async def call(self, method: str, path: str, **more: Any) -> Any:
        """The JSON of a request; raises Refused."""
        for _ in range(1 + (len(self._urls) if self._again else 0)):
            try:
                response = await self._client.request(method, self._urls[0] + path, **more)
            except httpx.TransportError as error:
                self._next(error)
                continue
            if self._again and response.status_code == httpx.codes.SERVICE_UNAVAILABLE:
                self._next(Refused("503 "))
                continue
            if response.status_code >= httpx.codes.BAD_REQUEST:
                raise Refused(f"{method} {path}: {response.status_code} {response.text[:300]}")
            return response.json()
        raise Refused(f"{method} {path}: no server answers")

    async def say(self, session: str, text: str, key: str) -> Told:
        """A turn with its answer; raises Refused."""
        started = time.perf_counter()
        tries = 0
        while True:
            tries += 1
            first = step = 0.0
            try:
                async for name, data in self.turn(session, text, key):
                    moment = time.perf_counter() - started
                    first = first or moment
                    step = step or (moment if data.get("step") != "turn" else 0.0)
                    if name == "answer":
                        return Told(data, moment, first, step, tries)
                raise Refused("the stream ended without an answer")
            except (httpx.TransportError, Refused) as error:
                self._next(error)
            if time.perf_counter() - started > PATIENCE:
                raise Refused("no answer in time")
            await asyncio.sleep(WAIT)

    async def turn(self, session: str, text: str, key: str) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        """The events of a turn, as the first server tells them."""
        url = f"{self._urls[0]}/api/sessions/{session}/turns"
        headers = {"Accept": EVENTS, "Idempotency-Key": key}
        async with self._client.stream("POST", url, json={"text": text}, headers=headers) as response:
            if response.status_code >= httpx.codes.BAD_REQUEST:
                body = (await response.aread()).decode()[:300]
                raise Refused(f"{response.status_code} {body}")
            lines: list[str] = []
            async for line in response.aiter_lines():
                lines.append(line)
                if not line:
                    for name, data in events(iter(lines)):
                        if name == "error":
                            raise Refused(f"error: {data}")
                        yield name, data
                    lines = []

    def _next(self, error: Exception) -> None:
        """Turn to the next server; raises Refused where a message is sent only once."""
        if not self._again:
            raise Refused(f"{type(error).__name__}: {error}") from error
        if not isinstance(error, httpx.TransportError) and not _soon(str(error)):
            raise error
        if isinstance(error, httpx.TransportError) or str(error).startswith(STOPPING):
            self._urls.append(self._urls.pop(0))
        if isinstance(error, httpx.TransportError) and not isinstance(error, httpx.ConnectError):
            self.broken.append(type(error).__name__)
        else:
            self.turned_away += 1


def _soon(said: str) -> bool:
    """Whether a refusal says to come back."""
    return said[:3].isdigit() and int(said[:3]) in AGAIN


@asynccontextmanager
async def talkers(urls: Sequence[str], keys: Sequence[str], *, again: bool = False) -> AsyncIterator[list[Talker]]:
    """A talker for each key; every second one begins with the second server."""
    made = [Talker(urls if n % 2 == 0 else list(reversed(urls)), key, again=again) for n, key in enumerate(keys)]
    try:
        yield made
    finally:
        await asyncio.gather(*(talker.close() for talker in made))
