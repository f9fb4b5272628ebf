"""Sessions with the agent for an evaluation: each is deleted when it is over, and its trace is read before.

Every vector of an evaluation's text is kept on disk, because the texts are public and come again. Sessions of users
never go through that: `tools.embedding_cache.CachedEncoder` writes no query.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from agent import loop
from agent.agent import Agent
from agent.assembly import assemble, build, open_encoder
from agent.cli.console import say
from agent.messages import given_evidence
from agent.sessions import Home, new_session_id
from agent.settings import Settings
from evals.contract import Item, Reply, TaskContext
from graphs.answering.contract import Answer
from graphs.context import Parts
from prompts.errors import InputError
from tools.embedding_cache import CachedEncoder
from tools.encoders import Encoder, Vectors
from tools.library.adding import add
from tools.library.collection import Library
from tools.library.shelf import Shelf
from tools.library.upkeep import remove

Event = dict[str, Any]
Sample = tuple[str, str, str, Reply, list[Event]]  # id, group, target, reply, events of the last turn


class EvalEncoder:
    """An encoder that computes the vector of a text once, whichever side it is on.

    Args:
        encoder: computes what is missing; it keeps its document vectors itself.
        folder: where the vectors lie, apart from the agent's own cache.
    """

    def __init__(self, encoder: Encoder, folder: Path) -> None:
        self.count_tokens = encoder.count_tokens
        self.name, self.dimension, self.limit = encoder.name, encoder.dimension, encoder.limit
        self._queries = CachedEncoder(_QueriesAsDocuments(encoder), folder, public=True)
        self._documents = CachedEncoder(encoder, folder / "documents", public=True)

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Array (len(texts), dimension); only texts never seen before are encoded."""
        return self._queries.encode_documents(texts)

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """Array (len(texts), dimension); texts given with a question too, which the agent itself does not keep."""
        return self._documents.encode_documents(texts)

    def close(self) -> None:
        """Close the caches of the evaluation."""
        self._queries.close()
        self._documents.close()


class _QueriesAsDocuments:
    """The query side of an encoder, offered as its document side, so that one cache serves both."""

    def __init__(self, encoder: Encoder) -> None:
        self.name, self.dimension, self.limit = encoder.name, encoder.dimension, encoder.limit
        self.encode_queries = self.encode_documents = encoder.encode_queries
        self.count_tokens = encoder.count_tokens


def cached(encoder: CachedEncoder, home: Home) -> EvalEncoder:
    """An encoder that keeps the query vectors of evaluation texts under the data folder."""
    return EvalEncoder(encoder, home.cache / "evaluations")


@contextlib.contextmanager
def encoders(settings: Settings, home: Home) -> Iterator[tuple[CachedEncoder, EvalEncoder]]:
    """The agent's own encoder, and the same with query vectors kept."""
    with contextlib.closing(open_encoder(settings, home)) as plain, contextlib.closing(cached(plain, home)) as kept:
        yield plain, kept


def assembled(settings: Settings, home: Home, kept: Home | None = None) -> tuple[Parts, EvalEncoder]:
    """The agent's parts with evaluation texts encoded only once, and the encoder that does so.

    ``kept``: the data folder in which vectors are kept, where it is another one.
    """
    opened: list[EvalEncoder] = []

    def wrap(encoder: CachedEncoder) -> EvalEncoder:
        opened.append(cached(encoder, kept or home))
        return opened[-1]

    return assemble(settings, home, wrap, say, everything=True), opened[-1]


def starter_library(context: TaskContext, encoder: Encoder) -> Library:
    """The starter library, which is built the first time."""
    place = context.home.indexes / "library"
    if not place.exists():
        build(context.settings, context.home, rebuild=False, say=say)
    return Library.open(place, encoder)


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
            answers = tuple(answer for answer, _ in said)
            traces = [await loop.arun(self._agent.traces.events(answer.run)) for answer in answers]
        finally:
            await asyncio.to_thread(self._clear, item, session)
        given = given_evidence(item.given, self._agent.settings.max_characters)
        calls, found = calls_of(e for events in traces for e in events)
        ids = tuple(sorted({*found, *(e.id for e in given)}))
        reply = Reply(answers=answers, calls=calls, found=ids, seconds=tuple(round(took, 4) for _, took in said))
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
        row = {"title": title, "text": text, "publication_types": item.document_types}
        (folder / "document.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
        add(shelf, [folder / "document.jsonl"])

    def _clear(self, item: Item, session: str) -> None:
        if item.document is not None and self._shelf is not None:
            shelf, folder = self._shelf
            remove(shelf, [str(folder / "document.jsonl")])
        delete(self._agent, session)


class PartSittings(Sittings):
    """Gives items to a part of the product by itself: there is no agent and no session.

    Args:
        give: what the part says of an item, as JSON.
    """

    def __init__(self, give: Callable[[Item], dict[str, Any]]) -> None:
        self._give = give

    async def ahold(self, item: Item) -> Held:
        """What the part says of an item."""
        started = time.perf_counter()
        told = await asyncio.to_thread(self._give, item)
        return Held(Reply(told=told, seconds=(round(time.perf_counter() - started, 4),)), ())


def delete(agent: Agent, session: str) -> None:
    """Delete a session; a turn that failed at once left none."""
    with contextlib.suppress(InputError):
        agent.delete_session(session)


@contextlib.contextmanager
def sitting(settings: Settings) -> Iterator[Sittings]:
    """The assembled agent over the settings' data folder, with evaluation texts encoded only once."""
    home = Home(settings.home).prepare()
    with Agent(settings, parts=assemble(settings, home, lambda e: cached(e, home), say, everything=True)) as agent:
        yield Sittings(agent)


def calls_of(events: Iterable[Event]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The tool calls of a trace, each as JSON of name and arguments, and the ids that they returned."""
    made = [e for e in events if e["kind"] == "tool"]
    calls = (json.dumps([e["tool"], e["arguments"]], sort_keys=True, ensure_ascii=False) for e in made)
    return tuple(sorted(calls)), tuple(sorted({item["id"] for e in made for item in e["evidence"]}))


class Ask(Protocol):
    """Asks one message in a fresh session."""

    def __call__(self, text: str, options: Mapping[str, str] | None = None, given: Sequence[str] = ()) -> Answer:
        """The answer; the session is gone when it returns."""


@contextlib.contextmanager
def asking(settings: Settings, *, keep: bool = True) -> Iterator[Ask]:
    """The assembled local agent over the settings' data folder, with evaluation texts encoded only once.

    ``keep=False`` keeps no vector of a query, as for a user: what an evaluation of time asks for.
    """
    home = Home(settings.home).prepare()
    parts = assemble(settings, home, (lambda e: cached(e, home)) if keep else None, say, everything=True)
    with Agent(settings, parts=parts) as agent:
        yield lambda text, options=None, given=(): ask(agent, text, options, given)


def ask(agent: Agent, text: str, options: Mapping[str, str] | None = None, given: Sequence[str] = ()) -> Answer:
    """The answer to one message in a session of its own, which is gone when it returns."""
    session = f"eval-{new_session_id()}"
    try:
        return agent.ask(text, session=session, options=dict(options) if options else None, given=given)
    finally:
        delete(agent, session)
