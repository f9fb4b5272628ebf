"""A spent budget ends a turn with the best answer so far: valid, told, and with no call beyond the bound."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.agent import Agent
from agent.settings import load_settings
from evals.bench.faults import invalid
from prompts.model_settings import Budget
from support.model_player import play
from support.scripted_model import ScriptedModel, serving_by

QUESTION = "Does dexamethasone help in croup?"


@pytest.fixture(scope="module")
def served(built_home: Path) -> Iterator[tuple[Agent, ScriptedModel]]:
    with serving_by(play) as server:
        literature = {"live": "off", "mirror": None}
        settings = load_settings(home=built_home, model="m", literature=literature, OPENAI_BASE_URL=server.url)
        with Agent(settings) as agent:
            yield agent, server


@pytest.mark.parametrize(
    "bound", [{"calls": 1}, {"calls": 3}, {"calls": 5}, {"tokens": 2500}, {"seconds": 0.001}], ids=str
)
def test_a_spent_budget_ends_in_a_valid_answer(served: tuple[Agent, ScriptedModel], bound: dict[str, Any]) -> None:
    agent, server = served
    agent.settings = agent.settings.model_copy(update={"budget": Budget.model_validate(bound)})
    before = len(server.requests)
    answer = agent.ask(QUESTION)
    assert not invalid(answer)
    assert answer.statements
    told = [n.text for n in answer.notices if "budget" in n.text]
    assert told
    made = len(server.requests) - before
    assert made == answer.usage.model_calls
    if "calls" in bound:
        assert made == bound["calls"]
    if "seconds" in bound:
        assert made == 0


def test_without_a_bound_in_the_way_nothing_is_told_of_it(served: tuple[Agent, ScriptedModel]) -> None:
    agent, _ = served
    agent.settings = agent.settings.model_copy(update={"budget": Budget()})
    answer = agent.ask(QUESTION)
    assert not any("budget" in n.text for n in answer.notices)
    assert not any(n.code == "judged_locally" for n in answer.notices)
