"""The patients of the load: each user has a case of its own, so that a session that gets another's shows it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import yaml

from agent.agent import Agent
from evals.bench.server.essence import Essence, essence

CASES = Path(__file__).parent / "cases.yaml"
AGES = (34, 61)  # years; ours
AFTER = (("no", "Why?"), ("yes", "What else could it be?"))  # the reply and the question, by the age


def patient(user: int, number: int) -> tuple[str, ...]:
    """What the patient of a user's session says, in three turns; users have different cases up to `most_users`."""
    written = _written()
    which = number % len(AGES)
    return (written[user % len(written)].format(age=AGES[which]), *AFTER[which])


def most_users() -> int:
    """How many users can have a case of their own."""
    return len(_written())


class Alone:
    """What each patient is told when nobody else asks, by the agent in this process; asked once each."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._known: dict[tuple[str, ...], list[Essence]] = {}

    def told(self, messages: Sequence[str]) -> list[Essence]:
        """The essence of each answer."""
        key = tuple(messages)
        if key not in self._known:
            session = self._agent.session()
            self._known[key] = [essence(session.ask(text)) for text in key]
        return self._known[key]


def _written() -> list[str]:
    return [row["text"] for row in yaml.safe_load(CASES.read_text(encoding="utf-8"))]
