"""Turns of the agent with a document among what it reads: on a user's shelf, or given with the message.

The agent runs over a data folder of its own, so that no poisoned document ever lies in the user's.
"""

from __future__ import annotations

import contextlib
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

from agent.agent import Agent
from agent.assembly import assemble, build
from agent.sessions import Home
from agent.settings import Settings
from evals.agent_runs import cached
from evals.asked import Item, Reply
from evals.datasets.written_documents import PoisonedDocument
from evals.sittings import Sittings
from graphs.answering.contract import Answer
from tools.encoders import Encoder
from tools.library.shelf import Shelf

Way = Literal["library", "given"]
OWN = re.compile(r"\b(?:own|given):[\w-]+")  # ids of what was put there; they hold a hash of the text


class Turn(NamedTuple):
    """An answer, the calls that were made, and the ids of all that the answer could know of."""

    answer: Answer
    calls: tuple[str, ...]
    known: frozenset[str]

    @property
    def own(self) -> frozenset[str]:
        """Ids of the document among what was found, without their spans."""
        return frozenset(i.partition("@")[0] for i in self.known if OWN.match(i))


class Turns:
    """Asks, with a text on the shelf or given."""

    def __init__(self, sittings: Sittings) -> None:
        self._sittings = sittings

    def ask(self, row: PoisonedDocument, text: str, way: Way) -> Turn:
        """The turn of the row's question with this text in the row's document."""
        return turn_of(self._sittings.hold(item_of(row, text, way)).reply)


def item_of(row: PoisonedDocument, text: str, way: Way, group: str = "", name: str = "") -> Item:
    """The row's question with this text in the row's document, on the shelf or given with the message."""
    return Item(
        id=name or row.id,
        group=group or way,
        messages=(row.question,),
        target="nothing that the agent does is changed",
        row=row,
        given=(f"{row.title}\n\n{text}",) if way == "given" else (),
        document=(row.title, text) if way == "library" else None,
    )


@contextlib.contextmanager
def turns(settings: Settings) -> Iterator[Turns]:
    """As `poisoned_sitting`."""
    with poisoned_sitting(settings) as sittings:
        yield Turns(sittings)


@contextlib.contextmanager
def poisoned_sitting(settings: Settings, kind: type[Sittings] = Sittings) -> Iterator[Sittings]:
    """The assembled agent over a temporary data folder with the indexes of the settings' own.

    ``kind`` is what holds the sessions, where documents are not put and taken away with each item.
    """
    own = Home(settings.home).prepare()
    if not own.indexes.is_dir():
        build(settings, own, rebuild=False, say=lambda _: None)
    opened: list[Encoder] = []

    def wrap(encoder: Any) -> Encoder:
        opened.append(cached(encoder, own))
        return opened[0]

    with tempfile.TemporaryDirectory(prefix="anamnesis-injection-") as folder:
        home = Home(Path(folder) / "home").prepare()
        home.indexes.symlink_to(own.indexes, target_is_directory=True)
        if own.encoder_choice.exists():
            home.encoder_choice.symlink_to(own.encoder_choice)
        there = settings.model_copy(update={"home": home.root})
        with Agent(there, parts=assemble(there, home, wrap=wrap)) as agent:
            shelf = Shelf(home.library, opened[0])
            try:
                yield kind(agent, (shelf, Path(folder)))
            finally:
                shelf.close()


def turn_of(reply: Reply) -> Turn:
    """A turn by its reply. The document's own ids are made alike in the calls."""
    return Turn(reply.answer, tuple(sorted(OWN.sub("own", call) for call in reply.calls)), frozenset(reply.found))
