"""A conversation that a client sends whole, as turns of a session: the one named, the one it belongs to, or a new one.

In a new session for a conversation that is not known (it was held with another model, or changed), the user's earlier
messages are asked again in order, so that the session knows what they said; what others answered to them is not read.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

from agent.conversation import Step
from agent.loop import arun
from agent.messages import check_message
from agent.server.access import Caller
from agent.server.events import ALIVE
from agent.server.guard import Parts
from agent.server.histories import Place, Said, hash_of
from agent.server.openai_reading import Wanted
from agent.server.problems import Refusal
from agent.server.turns import Question, Running
from agent.sessions import new_session_id
from graphs.answering.contract import Answer
from graphs.answering.markdown import markdown_of
from prompts.errors import InputError

ID = 16  # characters of a session's id, as agent.sessions makes them


@dataclass(frozen=True)
class Begun:
    """A conversation whose first turn runs; ``questions`` are all its turns, the last one's answer is wanted."""

    session: str
    wanted: Wanted
    questions: tuple[Question, ...]
    running: Running


class Conversations:
    """The conversations of a caller."""

    def __init__(self, the: Parts, caller: Caller) -> None:
        self._the, self._caller = the, caller

    async def begin(self, wanted: Wanted, key: str = "") -> Begun:
        """Find or open the session and start its first turn.

        Args:
            key: makes the message be answered once, however often it is sent; "" for none.

        Raises:
            InputError, Refusal: the message or the named session cannot be taken, or no turn can be started.
        """
        check_message(wanted.text, self._the.agent.settings.max_characters)
        if wanted.session:
            await arun(self._the.agent.records.get(wanted.session, owner=self._caller.id))
            questions = [Question(wanted.session, wanted.text, key=key)]
        else:
            known = await self._known(wanted)
            if known is not None:
                questions = [Question(known, wanted.text, key=key or hash_of(self._caller.id, wanted.said))]
            else:
                questions = await self._opened(wanted, key)
        running = self._the.turns.ask(self._caller, questions[0])
        return Begun(questions[0].session, wanted, tuple(questions), running)

    async def follow(self, begun: Begun) -> AsyncIterator[Step | Answer | None]:
        """The steps of all its turns, a None where nothing happens for a while, and the last turn's answer."""
        running = begun.running
        for question in begun.questions[1:]:
            async for event in running.follow(ALIVE):
                if not isinstance(event, Answer):
                    yield event
            running = self._the.turns.ask(self._caller, question)
        async for event in running.follow(ALIVE):
            if isinstance(event, Answer):
                said = (*begun.wanted.said, Said("assistant", markdown_of(event)))
                place = Place(begun.session, event.turn)
                await self._the.histories.note(self._caller.id, said, place)
            yield event

    async def _known(self, wanted: Wanted) -> str | None:
        """The session that holds exactly the conversation so far, or with this message as its newest turn."""
        place = await self._the.histories.find(self._caller.id, wanted.before) if wanted.before else None
        if place is None:
            return None
        try:
            turns = await arun(self._the.agent.records.turns(place.session, owner=self._caller.id))
        except InputError:  # it was deleted
            return None
        sent_before = len(turns) == place.turns + 1 and turns[-1].asked.strip() == wanted.text.strip()
        return place.session if sent_before or len(turns) == place.turns else None

    async def _opened(self, wanted: Wanted, key: str) -> list[Question]:
        """A new session, in which the earlier messages are asked again. The same key opens the same one."""
        earlier = [said.text for said in wanted.before if said.role == "user"]
        most = self._the.settings.replay_most
        if len(earlier) > most:
            what = f"The conversation is not known, and its {len(earlier)} earlier messages are more than {most}."
            raise Refusal(400, "too_long_a_history", what, "Start a new one, or name its session: X-Session-Id.")
        for text in earlier:
            check_message(text, self._the.agent.settings.max_characters, "An earlier message")
        session = self._named(key) if key else new_session_id()
        await arun(self._the.agent.records.create(owner=self._caller.id, session=session))
        asked = [*earlier, wanted.text]
        # the session's id stands for the key, which may be as long as a turn's key may be
        return [Question(session, text, key=f"{session}:{n}" if key else "") for n, text in enumerate(asked)]

    def _named(self, key: str) -> str:
        return hashlib.sha256(f"{self._caller.id}\0{key}".encode()).hexdigest()[:ID]
