"""Judges of answers: the contract that both hold, and a model's replies, good, bad and refused, over a socket."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from evals.contract import TaskContext
from evals.judges.by_model import JudgeByModel
from evals.judges.contract import AnswerJudge, GivenAnswer, ask_all
from evals.judges.local import JudgeLocal, guideline
from evals.scripted.player import in_form, schema_of
from evals.scripted.server import Request
from evals.tasks.answer_quality import piece, quoting
from prompts.errors import ServiceError
from prompts.model_failures import InvalidReplyError
from support.answer_judging import GOLDEN, HALF, ITEMS, NEAR, OTHER, QUESTION, WHOLE, by_model, reply
from support.scripted_model import Scripted, serving_by
from tools.encoders import load_encoder
from tools.evidence import Origin, Statement


@pytest.fixture(params=["model", "local"])
def judge(request: pytest.FixtureRequest) -> Iterator[AnswerJudge]:
    if request.param == "local":
        yield JudgeLocal(load_encoder(""))
        return
    with serving_by(lambda r: in_form(r, json.dumps(reply(r)))) as server:
        yield by_model(server.url)


def test_both_judges_order_answers_alike(judge: AnswerJudge) -> None:
    async def every() -> None:
        scores = [(await judge.adherence(QUESTION, GOLDEN, text)).score for text in (WHOLE, HALF, OTHER, "")]
        assert scores == [1.0, 0.5, 0.0, 0.0]
        near, far = await judge.relevancy(QUESTION, NEAR), await judge.relevancy(QUESTION, OTHER)
        assert near.score > far.score
        assert near.relevant
        assert not far.relevant
        assert not (await judge.relevancy(QUESTION, " ")).relevant

    asyncio.run(every())


def test_both_judges_hold_statements_to_what_was_supplied(judge: AnswerJudge) -> None:
    portion = piece(GOLDEN)
    quoted = quoting(portion, [portion])
    further = Statement(text="Nosebleeds in children need surgery at once.", origin=Origin.PARAMETRIC)
    known = Statement(text="Gout is treated with colchicine.", origin=Origin.PARAMETRIC)

    async def every() -> None:
        assert (await judge.faithfulness(quoted.statements, [portion])).supported == (True, True)
        mixed = await judge.faithfulness([*quoted.statements, further], [portion])
        assert mixed.supported == (True, True, False)
        assert not mixed.faithful
        assert (await judge.faithfulness([known], [])).supported == (False,)
        assert not (await judge.faithfulness([], [portion])).faithful  # a declined answer is not faithful

    asyncio.run(every())


def test_the_local_guideline_leaves_out_what_says_nothing() -> None:
    assert guideline("Key Points\n- Yes.\nPinch the soft part of the nose for ten minutes.") == (HALF,)
    assert not asyncio.run(JudgeLocal(load_encoder("")).adherence(QUESTION, "Key Points", WHOLE)).score


def test_a_guideline_is_written_once_for_all_answers() -> None:
    names: list[str] = []

    def respond(request: Request) -> Scripted:
        names.append(schema_of(request)["title"])
        return in_form(request, json.dumps(reply(request)))

    async def twice(own: JudgeByModel) -> None:
        await own.adherence(QUESTION, GOLDEN, WHOLE)
        await own.adherence(QUESTION, GOLDEN, HALF)

    with serving_by(respond) as server:
        asyncio.run(twice(by_model(server.url)))
    assert names == ["GuidelineReply", "AdherenceReply", "AdherenceReply"]


def test_mini_cex_has_seven_items() -> None:
    with serving_by(lambda r: in_form(r, json.dumps(reply(r)))) as server:
        scores = asyncio.run(by_model(server.url).mini_cex("A case.", "A report."))
    assert list(scores.items()) == list(zip(ITEMS, range(2, 9), strict=True))


PORTION = piece(GOLDEN)
CALLS: dict[str, Callable[[JudgeByModel], Awaitable[Any]]] = {
    "adherence": lambda j: j.adherence(QUESTION, GOLDEN, WHOLE),
    "relevancy": lambda j: j.relevancy(QUESTION, WHOLE),
    "faithfulness": lambda j: j.faithfulness(quoting(PORTION, [PORTION]).statements, [PORTION]),
    "mini_cex": lambda j: j.mini_cex("A case.", "A report."),
}
BAD: dict[str, dict[str, Any]] = {
    "GuidelineReply": {"points": [" "]},
    "AdherenceReply": {"verdicts": [{"number": 2, "verdict": "full"}]},
    "RelevancyReply": {"score": 9},
    "FaithfulnessReply": {"verdicts": [{"number": 1, "verdict": "supported"}]},
    "MiniCexReply": {"items": [{"item": "overall", "score": 5}]},
}


@pytest.mark.parametrize(
    ("call", "bad"),
    [
        ("adherence", "GuidelineReply"),
        ("adherence", "AdherenceReply"),
        ("relevancy", "RelevancyReply"),
        ("faithfulness", "FaithfulnessReply"),
        ("mini_cex", "MiniCexReply"),
    ],
)
def test_a_reply_that_leaves_something_out_is_no_judgement(call: str, bad: str) -> None:
    def respond(request: Request) -> Scripted:
        own = BAD[bad] if schema_of(request)["title"] == bad else reply(request)
        return in_form(request, json.dumps(own))

    async def ask(own: JudgeByModel) -> None:
        with pytest.raises(InvalidReplyError):
            await CALLS[call](own)

    with serving_by(respond) as server:
        asyncio.run(ask(by_model(server.url)))


@pytest.mark.parametrize("call", CALLS)
def test_a_refusal_is_an_error_and_no_low_score(call: str) -> None:
    async def ask(own: JudgeByModel) -> None:
        with pytest.raises(ServiceError, match="declined"):
            await CALLS[call](own)

    with serving_by(lambda _: Scripted(refusal="I will not.")) as server:
        asyncio.run(ask(by_model(server.url)))


def test_what_is_not_judged_is_counted_and_told(tmp_path: Path) -> None:
    from agent.settings import Settings

    context = TaskContext(tmp_path, 1, 0, Settings(home=tmp_path))

    async def fails() -> int:
        raise ServiceError("The server is away.", "Wait.")

    async def works() -> int:
        return 3

    assert asyncio.run(ask_all([works, fails, works], "adherence", context, at_once=2)) == [3, None, 3]
    assert context.not_run["adherence"] == "1 of 3 could not be judged: The server is away."
    with pytest.raises(ServiceError):
        asyncio.run(ask_all([fails, fails], "adherence", context))


def test_a_declined_answer_has_no_text() -> None:
    assert GivenAnswer().declined
    assert GivenAnswer().text == ""
