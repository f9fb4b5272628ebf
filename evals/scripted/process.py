"""The playing server as a process of its own, so that its work is not counted as ours: a fixed time for every call."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, NamedTuple

from evals.scripted.player import play, role_of
from evals.scripted.server import Exchange, Request, Scripted, ScriptedModel, running
from prompts.errors import ServiceError

SETTLE = 0.05  # seconds in which the server writes down what it has just answered; ours


class ModelCall(NamedTuple):
    """A call as the server saw it: role, start and end (monotonic seconds of this machine), tokens in and out.

    ``text``: what it was sent beside the fixed parts, which are the system's message and the schemas of tools.
    """

    role: str
    started: float
    ended: float
    input_tokens: int
    output_tokens: int
    text: str = ""


@dataclass
class PlayingServer:
    """A running server. ``process`` is its own."""

    url: str
    process: subprocess.Popen[str]
    _log: IO[str]

    def calls(self) -> list[ModelCall]:
        """The calls since the last time this was asked."""
        time.sleep(SETTLE)
        return [ModelCall(*json.loads(line)) for line in self._log.read().splitlines()]


@contextmanager
def playing(seconds: float, folder: Path) -> Iterator[PlayingServer]:
    """A server that takes ``seconds`` for every call; its log is a file of the folder.

    Raises:
        ServiceError: it does not start.
    """
    log = folder / "calls.jsonl"
    log.touch()
    command = [sys.executable, "-m", "evals.scripted.process", str(seconds), str(log)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # noqa: S603
    try:
        url = process.stdout.readline().strip() if process.stdout is not None else ""
        if not url:
            raise ServiceError("The playing server did not start.", "Run it by hand to see why.")
        with log.open(encoding="utf-8") as lines:
            yield PlayingServer(url, process, lines)
    finally:
        process.communicate()  # its input ends, and so does it


class _Logged(ScriptedModel):
    """Writes each exchange down and keeps none."""

    def __init__(self, file: IO[str]) -> None:
        super().__init__()
        self._file = file

    def done(self, exchange: Exchange) -> None:
        self.requests.clear()
        tokens = exchange.answer.tokens or (0, 0)
        sent = [str(m.get("content") or "") for m in exchange.request["messages"] if m["role"] != "system"]
        line = ModelCall(role_of(exchange.request), exchange.started, exchange.ended, *tokens, "\n".join(sent))
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()


def main(seconds: float, file: Path) -> None:
    """Serve until the input ends."""

    def respond(request: Request) -> Scripted:
        started = time.monotonic()
        answer = play(request)
        return replace(answer, pause=max(seconds - (time.monotonic() - started), 0.0))

    with file.open("a", encoding="utf-8") as log:
        model = _Logged(log)
        with running(model, respond):
            sys.stdout.write(model.url + "\n")
            sys.stdout.flush()
            sys.stdin.read()


if __name__ == "__main__":
    main(float(sys.argv[1]), Path(sys.argv[2]))
