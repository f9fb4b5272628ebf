"""What language models cost is told after an answer, by role in the trace, and never where none was called."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from rich.console import Console

from agent.cli.render import cost_line, cost_lines, show_answer
from agent.cli.trace import totals_of, tree_of
from agent.mcp.asking import answered
from agent.server.openai_api import completion_of
from graphs.answering.contract import Answer
from graphs.answering.contract import Usage as TurnUsage
from graphs.answering.rendering import markdown_of
from prompts.metering import Budget, BudgetError, Meter, Usage
from prompts.model_settings import Price

SUMMARIES = Usage(calls=3, input_tokens=300, output_tokens=30, seconds=1.5, cost=0.00036)
ANSWER = Usage(calls=1, input_tokens=900, output_tokens=200, seconds=2.0, cost=0.0013)


def shown(usage: TurnUsage) -> str:
    out = io.StringIO()
    show_answer(Console(file=out, width=200), Answer(question="q", kind="evidence", language="en", usage=usage))
    return out.getvalue()


def test_a_turn_tells_its_cost_and_that_of_the_session() -> None:
    turn = TurnUsage(
        model_calls=4, input_tokens=1200, output_tokens=230, cost=0.00166, session=SUMMARIES + ANSWER + ANSWER
    )
    assert cost_line(turn) == (
        "language models: 4 calls, 1200 + 230 tokens, cost 0.00166; session: 5 calls, 2100 + 430 tokens, cost 0.00296"
    )
    assert "language models: 4 calls" in shown(turn)
    assert "language models" not in shown(TurnUsage())


@pytest.mark.parametrize(
    ("language", "told"),
    [
        ("en", "language models: 4 calls, 1200 + 230 tokens, cost 0.00166, replies kept from before: 2"),
        ("zh", "语言模型：4 次调用，1200 + 230 个词元，费用 0.00166，沿用先前的答复：2"),
    ],
)
def test_every_form_of_an_answer_tells_its_calls_and_cost(language: str, told: str) -> None:
    kept = {"answer": Usage(cached=2)}
    usage = TurnUsage(model_calls=4, input_tokens=1200, output_tokens=230, cost=0.00166, by_role=kept)
    answer = Answer(question="q", kind="evidence", language=language, session="s", usage=usage)
    for form in (answer.to_markdown(), answer._repr_html_(), answered(answer), markdown_of(answer, whole=True)):
        assert told in form.replace("\\", "")
    assert json.loads(answer.to_json())["usage"]["by_role"]["answer"]["cached"] == 2
    assert completion_of(answer, [], "m").usage.total_tokens == 1430
    unasked = Answer(question="q", kind="evidence", language=language)
    assert told.partition("4")[0] not in f"{unasked.to_markdown()}{unasked._repr_html_()}"


def test_kept_replies_alone_are_told_too() -> None:
    turn = TurnUsage(by_role={"answer": Usage(cached=1)}, session=Usage(cached=1))
    assert "0 calls, 0 + 0 tokens, cost 0, replies kept from before: 1; session" in cost_line(turn)


def test_calls_without_a_price_are_told() -> None:
    free = Usage(calls=2, input_tokens=10, output_tokens=1, unpriced=2)
    lines = cost_lines({"summary": SUMMARIES, "answer": ANSWER, "gaps": free})
    assert [line.partition(":")[0] for line in lines] == ["answer", "summary", "gaps", "language models"]
    assert lines[2] == "gaps: 2 calls, 10 + 1 tokens, no price set"
    assert lines[-1].endswith("cost 0.00166 (2 calls without a price)")
    assert cost_lines({}) == []


def test_the_trace_shows_calls_fallbacks_and_budget() -> None:
    events: list[dict[str, Any]] = []

    def record(kind: str, **data: Any) -> None:
        events.append({"kind": kind, "at": 0.0, **data})

    record("configuration", name="medrgag")
    record("step_started", step="answer")
    meter = Meter(Budget(calls=2), {"m": Price(input=1, output=2)}, record)
    told = {"prompt": "answer@3", "prompt_hash": "0123456789ab", "method": "json_schema", "failed": False}
    meter.charge("answer", "m", ANSWER.model_copy(update={"cost": 0.0}), **told)
    meter.charge("answer", "m", Usage(calls=1), **(told | {"failed": True}))
    meter.fell_back("answer", "The server [failed].")
    with pytest.raises(BudgetError):
        meter.check("report")
    out = io.StringIO()
    Console(file=out, width=200).print(tree_of("s/1", events))
    text = out.getvalue()
    for part in (
        "configuration medrgag",
        "model answer: m, 900 + 200 tokens, cost 0.0013, 2.00 s (answer@3 0123456789ab json_schema)",
        "failed",
        "answer judged locally: The server [failed].",
        "report not asked: budget spent (calls)",
    ):
        assert part in text
    assert totals_of(events) == [
        "answer: 2 calls, 900 + 200 tokens, cost 0.0013",
        "language models: 2 calls, 900 + 200 tokens, cost 0.0013",
    ]


def test_a_trace_without_models_has_no_totals() -> None:
    assert totals_of([{"kind": "run", "at": 0.0}, {"kind": "step_started", "step": "triage", "at": 0.0}]) == []
