"""Sessions with the agent for an evaluation: each is deleted when it is over, and its trace is read before."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from agent import loop
from agent.agent import Agent
from agent.assembly import assemble
from agent.given import given_evidence
from agent.sessions import Home, new_session_id
from agent.settings import Settings
from evals.agent_runs import cached
from evals.asked import Item, Reply
from graphs.answering.contract import Answer
from prompts.errors import InputError
from tools.library.adding import add
from tools.library.removing import remove
from tools.library.shelf import Shelf

Event = dict[str, Any]


class Held(NamedTuple):
    """A session that is over: its reply, and the events of each of its turns."""

    reply: Reply
    events: tuple[tuple[Event, ...], ...]


class Sittings:
    """Holds sessions with an agent.

    Args:
        agent: who is asked.
        shelf: where documents of items are put, with a folder for their files; None where no item has one.
    """

    def __init__(self, agent: Agent, shelf: tuple[Shelf, Path] | None = None) -> None:
        self._agent, self._shelf = agent, shelf

    def hold(self, item: Item) -> Held:
        """Say an item's messages in a fresh session. Not to be called from a coroutine: use `ahold` there."""
        return loop.run(self.ahold(item))

    async def ahold(self, item: Item) -> Held:
        """The same, awaited from any loop."""
        session = f"eval-{new_session_id()}"
        try:
            await asyncio.to_thread(self._put, item)
            said = [await self._say(item, message, session) for message in item.messages]
            answers = [answer for answer, _ in said]
            traces = [await loop.arun(self._agent.traces.events(answer.run)) for answer in answers]
        finally:
            await asyncio.to_thread(self._clear, item, session)
        given = given_evidence(item.given, self._agent.settings.max_characters)
        calls, found = calls_of(e for events in traces for e in events)
        ids = sorted({*found, *(e.id for e in given)})
        seconds = tuple(round(took, 4) for _, took in said)
        reply = Reply(answers=tuple(answers), calls=calls, found=tuple(ids), seconds=seconds)
        return Held(reply, tuple(map(tuple, traces)))

    async def _say(self, item: Item, message: str, session: str) -> tuple[Answer, float]:
        options = dict(item.options) or None
        started = time.perf_counter()
        answer = await self._agent.aask(message, session=session, options=options, given=item.given, report=item.report)
        return answer, time.perf_counter() - started

    def _put(self, item: Item) -> None:
        if item.document is None:
            return
        if self._shelf is None:
            raise InputError("This agent has no shelf for documents.", "Open the evaluation's own agent.")
        shelf, folder = self._shelf
        title, text = item.document
        file = folder / "document.jsonl"
        row = {"title": title, "text": text, "publication_types": item.document_types}
        file.write_text(json.dumps(row) + "\n", encoding="utf-8")
        add(shelf, [file])

    def _clear(self, item: Item, session: str) -> None:
        if item.document is not None and self._shelf is not None:
            shelf, folder = self._shelf
            remove(shelf, [str(folder / "document.jsonl")])
        with contextlib.suppress(InputError):  # a turn that failed at once left no session
            self._agent.delete_session(session)


@contextlib.contextmanager
def sitting(settings: Settings) -> Iterator[Sittings]:
    """The assembled agent over the settings' data folder, with evaluation texts encoded only once."""
    home = Home(settings.home).prepare()
    parts = assemble(settings, home, wrap=lambda e: cached(e, home))
    with Agent(settings, parts=parts) as agent:
        yield Sittings(agent)


def calls_of(events: Iterable[Event]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The tool calls of a trace, each as JSON of name and arguments, and the ids that they returned."""
    made = [e for e in events if e["kind"] == "tool"]
    calls = (json.dumps([e["tool"], e["arguments"]], sort_keys=True, ensure_ascii=False) for e in made)
    return tuple(sorted(calls)), tuple(sorted({item["id"] for e in made for item in e["evidence"]}))
