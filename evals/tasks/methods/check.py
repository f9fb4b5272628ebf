"""A check that a published method's core acts, the agents that it asks, and what a turn of theirs came to."""

from __future__ import annotations

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from agent.agent import Agent
from agent.assembly import assemble, open_encoder, open_search
from agent.sessions import Home
from agent.settings import Settings, load_settings
from evals.contract import Item
from evals.runner import NO_SOURCE, written_questions
from evals.scripted.player import play
from evals.scripted.server import serving_by
from evals.sessions import Event, Sittings, cached
from graphs.answering.contract import Answer
from graphs.context import Parts
from tools.encoders import Encoder
from tools.evidence import EvidenceId
from tools.literature.adapt_e.contract import QueryPlanner, SearchPlan

PLAYED = "played "  # before the name of a configuration that a scripted model answers
OPEN = 3  # ours: agents that are open at once; each holds a library and a graph


class Places(NamedTuple):
    """Where things lie: the folder of ``--data``, the mirror of its PubMed records, full texts of some of them."""

    data: Path
    mirror: Path
    full_texts: Path


class Row(NamedTuple):
    """What is asked: its id, the text, and what a check knows of it beside."""

    id: str
    text: str
    known: Any = None
    options: Mapping[str, str] = {}


class Seen(NamedTuple):
    """Whether what a check looks for is there, and what was seen, in words."""

    holds: bool
    why: str


@dataclass(frozen=True)
class Check:
    """What must be seen in a configuration's turns where its method acts.

    Attributes:
        name: ``cometa.pubmed_cited``: the method, and what is looked for.
        what: in a line.
        rows: every row that can be asked; the task draws from them.
        look: at one row; None where the row says nothing of it, which is then not counted.
        most: rows that are drawn, beside the task's own limit.
    """

    name: str
    what: str
    rows: Callable[[Places], Sequence[Row]]
    look: Callable[[Bench, Row], Seen | None]
    most: int = 100


class Turn(NamedTuple):
    """A turn that is over, and the events of its trace."""

    answer: Answer
    events: tuple[Event, ...]

    def of(self, kind: str) -> list[Event]:
        """The events of a kind, in order."""
        return [e for e in self.events if e["kind"] == kind]

    def brought(self, tool: str = "") -> list[str]:
        """Ids of the evidence that a tool returned, or all tools, in order, each once."""
        made = [e for e in self.of("tool") if tool in ("", e["tool"])]
        return list(dict.fromkeys(item["id"] for e in made for item in e["evidence"]))

    @property
    def selected(self) -> list[str]:
        """Ids of the evidence that was selected, in its order."""
        return [kept["evidence_id"] for e in self.of("selection") for kept in e["kept"]]

    @property
    def cited(self) -> list[str]:
        """Ids of the evidence that statements cite, each once."""
        return list(dict.fromkeys(c.evidence_id for s in self.answer.statements for c in s.citations))


def documents(ids: Sequence[str]) -> list[str]:
    """The documents of some evidence, in order, each once."""
    return list(dict.fromkeys(EvidenceId.parse(key).document_id for key in ids))


class Bench:
    """Agents of published configurations over a mirror, each opened when it is first asked.

    Args:
        settings: whose data folder is used.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings, self._places = settings, Places(Path(), Path(), Path())
        self._open: OrderedDict[str, tuple[Parts, Sittings, contextlib.ExitStack]] = OrderedDict()
        self._turns: dict[tuple[str, str], Turn] = {}
        self._planners: dict[str, QueryPlanner] = {}
        self._player: str | None = None
        self._at_end = contextlib.ExitStack()

    @property
    def places(self) -> Places:
        """Where things lie."""
        return self._places

    def give(self, item: Item) -> dict[str, Any]:
        """What a check sees of a row, as JSON."""
        asked: Asked = item.row
        self._places = asked.places
        seen = asked.check.look(self, asked.row)
        return {"holds": None, "why": "it says nothing of this"} if seen is None else seen._asdict()

    def settings(self, config: str) -> Settings:
        """The settings of a configuration (``cometa:d1``) over the mirror.

        Without a language model; one that begins with `PLAYED` has one that is played by a script on this machine.
        """
        own = self._places
        searched = {"live": "off", "mirror": own.mirror, "full_text_folder": own.full_texts, "full_text_seconds": 600}
        given: dict[str, Any] = {"home": self._settings.home, "knowledge": {"search": NO_SOURCE}}
        if not config.startswith(PLAYED):
            alone = load_settings(config=config, model="", literature=searched, **given).without_models()
            return written_questions(alone)
        if self._player is None:
            self._player = self._at_end.enter_context(serving_by(play)).url
        model = {"model": "played", "openai_base_url": self._player, "openai_api_key": None}
        config = config.removeprefix(PLAYED)
        return written_questions(load_settings(config=config, literature=searched, **model, **given))

    def parts(self, config: str) -> Parts:
        """The machine of a configuration."""
        return self._opened(config)[0]

    def turn(self, config: str, row: Row) -> Turn:
        """A row asked of a configuration's agent, in a session of its own; asked once."""
        key = (config, row.text)
        if key not in self._turns:
            held = self._opened(config)[1].hold(
                Item(f"{config}/{row.id}", config, (row.text,), "", row, options=row.options)
            )
            self._turns[key] = Turn(held.reply.answer, held.events[-1])
        return self._turns[key]

    def plan(self, config: str, text: str) -> SearchPlan:
        """The search of PubMed that a configuration plans for a question."""
        if config not in self._planners:
            settings = self.settings(config)
            home = Home(settings.home).prepare()
            self._planners[config] = open_search(settings, home, self._places.mirror).planner
        return asyncio.run(self._planners[config].plan(text, case=False))

    @cached_property
    def encoder(self) -> Encoder:
        """The encoder of the agents, its document vectors kept with theirs."""
        home = Home(self._settings.home).prepare()
        return cached(open_encoder(self._settings, home), home)

    def close(self) -> None:
        """Close every agent."""
        while self._open:
            self._open.popitem()[1][2].close()
        self._at_end.close()

    def _opened(self, config: str) -> tuple[Parts, Sittings, contextlib.ExitStack]:
        if config not in self._open:
            while len(self._open) >= OPEN:
                self._open.popitem(last=False)[1][2].close()
            settings, stack = self.settings(config), contextlib.ExitStack()
            home = Home(settings.home).prepare()
            parts = assemble(settings, home, wrap=lambda e: cached(e, home))
            agent = stack.enter_context(Agent(settings, parts=parts))
            self._open[config] = (parts, Sittings(agent), stack)
        self._open.move_to_end(config)
        return self._open[config]


class Asked(NamedTuple):
    """A row of a check, and where things lie."""

    check: Check
    row: Row
    places: Places
