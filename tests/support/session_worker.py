"""A worker of its own process on the sessions' database, which stops dead at a chosen point until it is killed."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import multiprocessing
import time
from collections.abc import Callable, Iterator
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from support.machine_parts import Scripted, parts
from tools.contract import FollowUpQuestion

QUESTIONS = (FollowUpQuestion(finding="fever", text="Do you have a fever?", gain=1.0),)
CHECKPOINTS = 15  # of a turn of the scripted machine: its input, its start, and what each step gave
FORKS = multiprocessing.get_context("forkserver")
PRELOADED = ["support.session_worker", "agent.agent", "agent.assembly", "agent.cli.app", "agent.server.app"]
PRELOADED += ["graphs.clinical", "tools.bert", "torch", "safetensors.torch", "tokenizers", "faiss", "bm25s"]
PRELOADED += ["aiosqlite", "nupunkt", "search_query", "wordfreq", "uvicorn", "support.opened"]  # and what these open
FORKS.set_forkserver_preload(PRELOADED)  # imported once for all


class Log(list[str]):
    """A list whose lines other processes can read."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.file = file

    def append(self, line: str) -> None:
        """Add a line."""
        super().append(line)
        with self.file.open("a") as out:
            out.write(line + "\n")


def lines(log: Path) -> list[str]:
    """What a worker has logged."""
    return log.read_text().splitlines() if log.exists() else []


def wait_for(log: Path, line: str) -> None:
    """Wait until a worker has logged a line."""
    for _ in range(600):
        if line in lines(log):
            return
        time.sleep(0.05)
    raise AssertionError(f"{line} was never reached")


@contextlib.contextmanager
def worker(
    place: dict[str, Any], log: Path, pause: dict[str, float] | None = None, stop: str = "", **asked: Any
) -> Iterator[BaseProcess]:
    """A process that asks once; it ends with the answer, or with the test."""
    process = FORKS.Process(target=_ask, args=(place, str(log), pause or {}, stop, asked), daemon=True)
    process.start()
    try:
        yield process
    finally:
        process.kill()
        process.join()


def _ask(place: dict[str, Any], log: str, pause: dict[str, float], stop: str, asked: dict[str, Any]) -> None:
    from agent.agent import Agent
    from agent.settings import Settings

    script = Scripted(log=Log(Path(log)), pause=pause)
    if asked.pop("replies", False):  # a client that is asked, and says nothing
        script.questions = QUESTIONS
        asked["replying"] = _dead(script.log.append, "asked")
    with Agent(Settings(**place), parts=parts(script)) as agent:
        if stop:
            STOPS[stop](script.log.append)
        answer = agent.ask(**asked)
    script.log.append(f"answered {answer.turn}")


def _dead(log: Callable[[str], None], name: str) -> Callable[..., Any]:
    async def stand_still(*_: Any, **__: Any) -> None:
        log(name)
        await asyncio.sleep(600)

    return stand_still


def _before_the_record(log: Callable[[str], None]) -> None:
    from agent.sessions.turns import Turns

    Turns.begin = _dead(log, "before the record")  # type: ignore[method-assign]


def _after_the_record(log: Callable[[str], None]) -> None:
    from agent.turns import TurnRunner

    TurnRunner._drive = _dead(log, "after the record")  # type: ignore[method-assign]


def _before_checkpoint(number: int) -> Callable[[Callable[[str], None]], None]:
    """A checkpoint is not written: the first would hold the message, the last the answer."""

    def stop(log: Callable[[str], None]) -> None:
        for saver in _savers():
            saver.aput = _stopping(saver.aput, number, log)

    return stop


def _stopping(whole: Callable[..., Any], number: int, log: Callable[[str], None]) -> Callable[..., Any]:
    counted = itertools.count(1)

    async def put(self: Any, *arguments: Any) -> Any:
        if next(counted) == number:
            log(f"before checkpoint {number}")
            await asyncio.sleep(600)
        return await whole(self, *arguments)

    return put


def _after_the_first_checkpoint(log: Callable[[str], None]) -> None:
    """The machine holds the message, and has not begun with it."""
    for saver in _savers():
        _after_first(saver, log)


def _after_first(saver: Any, log: Callable[[str], None]) -> None:
    whole = saver.aput

    async def once(self: Any, *arguments: Any) -> Any:
        kept = await whole(self, *arguments)
        log("after the first checkpoint")
        await asyncio.sleep(600)
        return kept

    saver.aput = once


def _before_the_end(log: Callable[[str], None]) -> None:
    from agent.sessions.turns import Turns

    Turns.end = _dead(log, "before the end")  # type: ignore[method-assign]


def _after_the_end(log: Callable[[str], None]) -> None:
    from agent.trace import TraceRecorder

    def stand_still(self: Any) -> None:
        log("after the end")
        time.sleep(600)

    TraceRecorder.close = stand_still  # type: ignore[method-assign]


def _savers() -> list[Any]:
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    return [AsyncSqliteSaver, AsyncPostgresSaver]


STOPS = {
    "before the record": _before_the_record,
    "after the record": _after_the_record,
    **{f"before checkpoint {n}": _before_checkpoint(n) for n in range(1, CHECKPOINTS + 1)},
    "after the first checkpoint": _after_the_first_checkpoint,
    "before the end": _before_the_end,
    "after the end": _after_the_end,
}
