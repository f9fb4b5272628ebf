"""Questions of the replay kit asked at a server that answers from files: as far as the replies that are there let them.

A question that waits for a reply is given up and asked anew next time: what was replied to is known by its content, so
a turn comes to the same place. Its session stays until the question is asked again, and its files go with it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import Field

from agent.agent import Agent
from agent.sessions import new_session_id
from agent.settings import Settings
from evals.datasets.rows import RESOURCES, read_yaml_rows
from evals.replay.recording import Recording, Upstream
from evals.scripted.server import Request, Scripted, ScriptedModel, running
from evals.sessions import delete
from graphs.answering.contract import Answer
from prompts.errors import InputError
from prompts.model_settings import Budget
from tools.evidence import Frozen
from tools.files import write_atomic

QUESTIONS = RESOURCES / "replay_questions.yaml"
BY_HAND = "by-hand"  # the model's name where a person plays it
LONG = 7 * 86_400.0  # seconds that a reply may take; ours: a person's week
LOOK = 0.1  # seconds between two looks whether a turn waits; ours
FINAL, OWN = "answer.json", "alone.txt"  # of a question's folder: the answer, and the model's own one
ALONE = "alone"  # the role of the question that is asked without anything beside it
ASKED_ALONE = (
    "You are an experienced physician and answer a colleague in the language of the question, in at most six sentences."
    " Of a case say the diagnoses, the likeliest first, and what to do next; of a question what is known, how surely;"
    " of options the one that is right, and why."
)


class ReplayQuestion(Frozen):
    """A question; a ``direct`` one is a case that the gate is told to take as enough, a ``case`` one it is not."""

    id: int = Field(ge=1)
    kind: Literal["evidence", "case", "choice", "direct"]
    text: str = Field(min_length=1)
    options: dict[str, str] = Field(default_factory=dict)


class Played(NamedTuple):
    """What came of a question: its folder, whether it is answered, and the files that it waits for."""

    question: ReplayQuestion
    folder: Path
    answered: bool
    waits_for: tuple[Path, ...] = ()
    unreadable: tuple[str, ...] = ()


def read_questions(file: Path = QUESTIONS, which: str = "") -> list[ReplayQuestion]:
    """The questions of a file, or some of them by their ids (``1-10,15``).

    Raises:
        InputError: ``which`` names none, or is no list of ids. DataError: the file cannot be read.
    """
    rows = read_yaml_rows(file, ReplayQuestion)
    if not which:
        return rows
    wanted: set[int] = set()
    for part in which.split(","):
        first, _, last = part.strip().partition("-")
        if not first.isdecimal() or not (last or first).isdecimal():
            raise InputError(f"{which} is no list of ids.", "Write it as 1-10,15.")
        wanted.update(range(int(first), int(last or first) + 1))
    found = [row for row in rows if row.id in wanted]
    if not found:
        raise InputError(f"No question has an id of {which}.", f"There are {rows[0].id} to {rows[-1].id}.")
    return found


def upstream_of(settings: Settings) -> Upstream:
    """The model of the settings behind its address; raises InputError where none is named."""
    model = settings.language_model
    if model is None or not model.name:
        raise InputError("No language model is named.", "Set ANAMNESIS_MODEL, or play it yourself with --by-hand.")
    return Upstream(model.address, model.api_key.get_secret_value() if model.api_key else "")


def settings_at(settings: Settings, address: str) -> Settings:
    """The same, its model called at an address of this machine, without bounds of time and money; no live access."""
    if settings.database is not None:
        raise InputError("Replays lie beside sessions in files only.", "Leave ANAMNESIS_DATABASE out.")
    own = {"model": None, "base_url": None, "api_key": None, "timeout": None}
    changed = {
        "model": settings.model or BY_HAND,
        "openai_base_url": address,
        "openai_api_key": None,
        "model_timeout": LONG,
        "model_cache": "off",
        "roles": {name: role.model_copy(update=own) for name, role in settings.roles.items()},
        "budget": Budget(calls=None, tokens=None, money=None, seconds=None),
        "literature": settings.literature.model_copy(update={"live": "off"}),
    }
    return settings.model_copy(update=changed)


class _Desk:
    """The server's side: whose turn it is."""

    recording: Recording | None = None

    async def respond(self, request: Request) -> Scripted:
        """The reply of the question that is being asked."""
        if self.recording is None:
            return Scripted(status=503, body="no question is being asked")
        return await self.recording.respond(request)


@contextmanager
def _agents(settings: Settings) -> Iterator[Callable[[ReplayQuestion], Agent]]:
    """The agent of a question, opened when the first one needs it."""
    opened: dict[str, Agent] = {}
    with ExitStack() as stack:

        def agent_of(question: ReplayQuestion) -> Agent:
            method = "direct" if question.kind == "direct" else "retrieve"
            if method not in opened:
                gate = settings.gate.model_copy(update={"method": method})
                opened[method] = stack.enter_context(Agent(settings.model_copy(update={"gate": gate})))
            return opened[method]

        yield agent_of


def play_questions(
    folder: Path,
    questions: Sequence[ReplayQuestion],
    settings: Settings,
    upstream: Upstream | None,
    *,
    wait: float,
    alone: bool = False,
    again: bool = False,
    told: Callable[[Played], None] = lambda _: None,
) -> list[Played]:
    """Ask each question in turn, as far as the replies of its folder let it.

    Args:
        folder: of the run; each question has one of its own in it. upstream: who replies; None: a person.
        wait: seconds after which a question that only waits for a person is left.
        alone: ask the model for its own answer to the question alone, too.
        again: ask those that are answered once more, from the replies that are kept.
    """
    model, desk = ScriptedModel(), _Desk()
    out: list[Played] = []
    with running(model, desk.respond), _agents(settings_at(settings, model.url)) as agent_of:
        for question in questions:
            place = folder / f"{question.id:02}"
            if again or not _is_answered(place, alone=alone):
                desk.recording = Recording(place, upstream)
                out.append(_play(question, agent_of(question), desk.recording, wait, alone=alone))
            else:
                out.append(Played(question, place, answered=True))
            told(out[-1])
    if model.errors:
        raise model.errors[0]
    return out


def _play(question: ReplayQuestion, agent: Agent, recording: Recording, wait: float, *, alone: bool) -> Played:
    folder, session = recording.folder, f"replay-{new_session_id()}"
    before = _session_of(folder)
    write_atomic(folder / "session", session.encode())  # before the other goes, which would take the files along
    if before:
        delete(agent, before)
    answer, own = asyncio.run(_turn(question, agent, session, recording, wait, alone=alone))
    if answer is None:
        files = tuple(sorted(recording.waiting.values()))
        wrong = tuple(f"{path.name}: {why}" for path, why in recording.unreadable.items())
        return Played(question, folder, answered=False, waits_for=files, unreadable=wrong)
    if own is not None:
        write_atomic(folder / OWN, own.content.encode())
    write_atomic(folder / FINAL, answer.to_json(indent=1).encode())
    return Played(question, folder, answered=True)


async def _turn(
    question: ReplayQuestion, agent: Agent, session: str, recording: Recording, wait: float, *, alone: bool
) -> tuple[Answer | None, Scripted | None]:
    """The answer, and the model's own one where that is asked for; no answer where the turn waits for a person."""

    async def asked() -> Answer:
        steps = agent.astream(question.text, session=session, options=question.options or None)
        return [step async for step in steps if isinstance(step, Answer)][-1]

    turn = asyncio.ensure_future(asked())
    own = asyncio.ensure_future(recording.respond(asked_alone(question), ALONE)) if alone else None
    works: list[asyncio.Future[Any]] = [turn, *([own] if own is not None else [])]
    try:
        while left := [work for work in works if not work.done()]:
            if recording.stalled(wait, len(left)):
                return None, None
            await asyncio.wait(left, timeout=LOOK)
        return turn.result(), own.result() if own is not None else None
    finally:
        for work in works:
            work.cancel()
        await asyncio.gather(*works, return_exceptions=True)  # a turn that is stopped lets go of its session first


def asked_alone(question: ReplayQuestion) -> Request:
    """The request for the model's own answer, to nothing but the question."""
    options = "".join(f"\n{label}. {text}" for label, text in question.options.items())
    text = question.text + (f"\n{options}" if options else "")
    return {
        "model": BY_HAND,
        "messages": [{"role": "system", "content": ASKED_ALONE}, {"role": "user", "content": text}],
    }


def serve(folder: Path, upstream: Upstream | None, port: int, told: Callable[[str, Recording], None]) -> None:
    """Answer any client from the files of a folder until interrupted; ``told`` is called when what waits changes."""
    model, recording = ScriptedModel(), Recording(folder, upstream)
    seen: tuple[object, ...] | None = None
    with running(model, recording.respond, port):
        while True:
            now = (sorted(recording.waiting), sorted(recording.unreadable.items()))
            if now != seen:
                seen = now
                told(model.url, recording)
            time.sleep(LOOK)


def _is_answered(folder: Path, *, alone: bool) -> bool:
    return (folder / FINAL).is_file() and (not alone or (folder / OWN).is_file())


def _session_of(folder: Path) -> str:
    place = folder / "session"
    return place.read_text(encoding="utf-8").strip() if place.is_file() else ""
