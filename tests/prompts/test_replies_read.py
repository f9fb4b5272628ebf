"""What a model says is read through thinking, prose and nonsense; what cannot be used is mended once, then an error."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompts.errors import ServiceError
from prompts.language_model import InvalidReplyError
from prompts.replies import without_thinking
from support.asking_model import GOOD, model_of, plan_once
from support.scripted_model import Scripted, serving

pytestmark = pytest.mark.usefixtures("direct")

READ = {
    "closed": f"<think>Is it {{croup}}?</think>{GOOD}",
    "closed by the answer only": f"I wonder about {{croup}}.</think>\n{GOOD}",
    "other words for it": f"<Reasoning>no</Reasoning>\n\n{GOOD}",
    "twice": f"<think>a</think><think>b</think>{GOOD}",
    "fenced": f"Gladly.\n```json\n{GOOD}\n```\nAnything else?",
}
MENDED = {
    "thinking without end": "<think>Is it {croup}? I go on and on",
    "empty": "",
    "white space": " \n ",
    "malformed": GOOD[:-3],
    "wrong schema": '{"answer": "croup"}',
    "nested without end": '{"terms": ' + "[" * 50_000,
    "200 KB": GOOD[:-1] + " " * 200_000 + "}",
    "200 KB of open thinking": "<think>" * 30_000,
}


@pytest.mark.parametrize("name", READ)
def test_thinking_and_prose_around_a_reply_are_passed_over(name: str) -> None:
    with serving(Scripted(READ[name])) as server:
        assert plan_once(model_of(server)) == "croup"
    assert len(server.requests) == 1


def test_thinking_in_a_field_of_its_own_is_not_read() -> None:
    with serving(Scripted(GOOD, reasoning='{"terms": []}')) as server:
        assert plan_once(model_of(server)) == "croup"


@pytest.mark.parametrize("name", MENDED)
def test_a_reply_that_cannot_be_used_is_mended_once(name: str) -> None:
    with serving(Scripted(MENDED[name]), Scripted(GOOD)) as server:
        started = time.monotonic()
        assert plan_once(model_of(server)) == "croup"
        assert time.monotonic() - started < 3
    assert len(server.requests) == 2
    shown, told = server.requests[1]["messages"][-2:]
    assert len(shown["content"]) <= 4000
    assert "cannot be used" in told["content"]


@pytest.mark.parametrize("name", MENDED)
def test_twice_such_a_reply_is_an_error(name: str) -> None:
    with serving(Scripted(MENDED[name])) as server, pytest.raises(InvalidReplyError):
        plan_once(model_of(server))
    assert len(server.requests) == 2


def test_a_refusal_is_an_error_at_once() -> None:
    with serving(Scripted(refusal="I cannot help with that.")) as server, pytest.raises(ServiceError, match="declined"):
        plan_once(model_of(server))
    assert len(server.requests) == 1


@given(st.lists(st.sampled_from(["<think>", "</think>", "<analysis>", "</analysis>", "{", "a", " "]), max_size=12))
def test_no_closed_thinking_is_left_and_nothing_is_added(parts: list[str]) -> None:
    text = "".join(parts)
    kept = without_thinking(text)
    assert "</think>" not in kept or "<analysis>" in text
    assert kept in text or len(kept) < len(text)
    if "<" not in text:
        assert kept == text.strip()
