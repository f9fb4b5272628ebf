"""A real server with a tiny model of random weights: what it says is noise, and every turn ends valid and honest."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.agent import Agent
from agent.settings import load_settings
from evals.bench.faults import invalid
from evals.bench.frame import mixed_questions
from support.random_model import missing, random_server

KINDS = ("case", "evidence", "multiple_choice")
TOKENS = 48  # of a reply: noise is noise


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.skipif(bool(missing()), reason=missing())
def test_every_kind_of_question_ends_valid_and_tells_what_was_judged_locally(built_home: Path, tmp_path: Path) -> None:
    asked = [next(q for q in mixed_questions() if q["kind"] == kind) for kind in KINDS]
    with random_server(tmp_path) as (url, model):
        live = {"live": "off", "mirror": None}
        given = {"literature": live, "OPENAI_BASE_URL": url, "OPENAI_API_KEY": None, "home": built_home}
        with Agent(load_settings(model=model, model_max_tokens=TOKENS, model_temperature=1.0, **given)) as agent:
            answers = [agent.ask(question["text"], options=question.get("options")) for question in asked]
    assert [invalid(a) for a in answers] == [[]] * len(KINDS)
    assert all(a.usage.model_calls for a in answers)
    assert all(any(n.code == "judged_locally" for n in a.notices) for a in answers)
