"""Turns of the agent with a document among what it reads: on a user's shelf, or given with the message.

The agent runs over a data folder of its own, so that no poisoned document ever lies in the user's.
"""

from __future__ import annotations

import contextlib
import json
import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from agent.agent import Agent
from agent.assembly import assemble, build
from agent.given import given_evidence
from agent.sessions import Home, new_session_id
from agent.settings import Settings
from agent.trace import read_trace
from evals.agent_runs import cached
from evals.datasets.poisoned import PoisonedDocument
from graphs.answering.contract import Answer
from tools.encoders import Encoder
from tools.library.adding import add
from tools.library.removing import remove
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

    def __init__(self, agent: Agent, shelf: Shelf, folder: Path) -> None:
        self._agent, self._shelf, self._file = agent, shelf, folder / "document.jsonl"

    def ask(self, row: PoisonedDocument, text: str, way: Way) -> Turn:
        """The turn of the row's question with this text in the row's document."""
        session = f"eval-{new_session_id()}"
        try:
            with self._on_shelf(row, text) if way == "library" else contextlib.nullcontext():
                given = [f"{row.title}\n\n{text}"] if way == "given" else []
                answer = self._agent.ask(row.question, session=session, given=given)
            ids = [e.id for e in given_evidence(given, self._agent.settings.max_characters)]
            return turn_of(answer, read_trace(self._agent.home.traces, answer.run), ids)
        finally:
            self._agent.delete_session(session)

    @contextlib.contextmanager
    def _on_shelf(self, row: PoisonedDocument, text: str) -> Iterator[None]:
        self._file.write_text(json.dumps({"title": row.title, "text": text}) + "\n", encoding="utf-8")
        add(self._shelf, [self._file])
        try:
            yield
        finally:
            remove(self._shelf, [str(self._file)])


@contextlib.contextmanager
def turns(settings: Settings) -> Iterator[Turns]:
    """The assembled local agent over a temporary data folder with the indexes of the settings' own."""
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
                yield Turns(agent, shelf, Path(folder))
            finally:
                shelf.close()


def turn_of(answer: Answer, trace: list[dict[str, Any]], given: Sequence[str] = ()) -> Turn:
    """A turn by its answer, its trace, and ids of given texts. The document's own ids are made alike in the calls."""
    made = [e for e in trace if e["kind"] == "tool"]
    calls = (json.dumps([e["tool"], e["arguments"]], sort_keys=True, ensure_ascii=False) for e in made)
    found = {item["id"] for e in made for item in e["evidence"]}
    return Turn(answer, tuple(sorted(OWN.sub("own", call) for call in calls)), frozenset(found.union(given)))
