"""A small model, which slips in a quarter of its replies: turns end, no reply is mended twice, no jargon shows."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import NamedTuple

import pytest
from rich.console import Console

from agent.agent import Agent
from agent.cli.render import show_answer
from agent.settings import load_settings
from evals.bench.faults import CASE, invalid
from evals.scripted.server import serving_by
from graphs.answering.contract import Answer
from support.small_model import MALFORMED, WRONG_IDS, SmallModel
from tools.contract import Notice, Severity

pytestmark = pytest.mark.slow
TURNS = 20
QUESTIONS = (
    "Does a single dose of dexamethasone help a child with mild croup?",
    "Do antibiotics help in acute bronchitis?",
    "What is the treatment of gout?",
    "How is iron deficiency anaemia diagnosed?",
    "Is ibuprofen safe in pregnancy?",
    CASE,
    "54M, smoker, chest tightness on exertion for weeks, relieved by rest. What is most likely?",
    "Which drug treats whooping cough? Give the letter.",
)
OPTIONS = {"A": "azithromycin", "B": "metformin"}
# Words of parsers, schemas and programs, which say nothing to who reads an answer.
JARGON = re.compile(
    r"\bJSON\b|\bschema\b|line \d+|column \d+|[Ee]xpect(?:ing|ed) |delimiter"
    r"|[Vv]alidation|Field required|Input should|_forbidden|_type\b|Traceback|pydantic|Error\b|\bdict\b|\bNone\b"
    r"|finish_reason|reply_unusable"
)
AROUND = 8  # characters on either side by which a word is found again in a source


class Turns(NamedTuple):
    answers: list[Answer]
    model: SmallModel


@pytest.fixture(scope="module")
def turns(built_home: Path) -> Turns:
    model = SmallModel(0)
    with serving_by(model) as server:
        literature = {"live": "off", "mirror": None}
        settings = load_settings(home=built_home, model="small", literature=literature, OPENAI_BASE_URL=server.url)
        with Agent(settings) as agent:
            answers = []
            for model.seed in range(TURNS):
                question = QUESTIONS[model.seed % len(QUESTIONS)]
                answers.append(agent.ask(question, options=OPTIONS if "letter" in question else None))
    return Turns(answers, model)


def test_it_slips_as_often_as_is_asked_for(turns: Turns) -> None:
    asked = sum(answer.usage.model_calls for answer in turns.answers)
    malformed = sum(turns.model.slips.values()) - turns.model.slips["wrong ids"]
    assert asked > 60
    assert 0.5 * MALFORMED < malformed / asked < 1.6 * MALFORMED
    assert turns.model.slips["wrong ids"] > 0.3 * WRONG_IDS * asked
    assert len(turns.model.slips) > 5


def test_every_turn_ends_in_a_valid_answer(turns: Turns) -> None:
    assert [wrong for answer in turns.answers if (wrong := invalid(answer))] == []


def test_no_reply_is_mended_twice(turns: Turns) -> None:
    assert turns.model.repairs > 5
    assert turns.model.twice == 0


def shown(answer: Answer) -> str:
    """All that a reader is shown: the terminal's form and Markdown."""
    out = io.StringIO()
    show_answer(Console(file=out, width=200), answer)
    return f"{out.getvalue()}\n{answer.to_markdown()}"


def jargon(answer: Answer) -> list[str]:
    """Words of parsers that a reader is shown, but those that stand so in a source ("below the expected range")."""
    text = " ".join(shown(answer).split())
    sources = " ".join(" ".join(piece.text.split()) for piece in answer.evidence)
    return [m[0] for m in JARGON.finditer(text) if text[m.start() - AROUND : m.end() + AROUND] not in sources]


def test_no_reader_is_shown_the_words_of_a_parser(turns: Turns) -> None:
    assert {answer.question: found for answer in turns.answers if (found := jargon(answer))} == {}
    told = Notice(code="made_up", severity=Severity.WARNING, text="The reply: expected ident at line 1 column 2.")
    assert jargon(turns.answers[3].model_copy(update={"notices": [told]})), "the same word of a parser is found"


def test_what_was_judged_locally_is_told(turns: Turns) -> None:
    assert any(notice.code == "judged_locally" for answer in turns.answers for notice in answer.notices)
