"""What a model says is read through thinking, prose and nonsense; what cannot be used is mended once, then an error."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompts.language_model import InvalidReplyError
from prompts.replies import json_objects, without_thinking
from support.asking_model import GOOD, model_of, plan_once
from support.scripted_model import Scripted, serving

READ = {
    "closed": f"<think>Is it {{croup}}?</think>{GOOD}",
    "closed by the answer only": f"I wonder about {{croup}}.</think>\n{GOOD}",
    "other words for it": f"<Reasoning>no</Reasoning>\n\n{GOOD}",
    "twice": f"<think>a</think><think>b</think>{GOOD}",
    "fenced": f"Gladly.\n```json\n{GOOD}\n```\nAnything else?",
    "fenced without a word": f"```\n{GOOD}\n```",
    "a fence after an example": f'For example {{"terms": "..."}} gives:\n```json\n{GOOD}\n```',
    "braces before it": f"The set {{croup, cough}} and {{}} mean: {GOOD}",
    "braces after it": f"{GOOD} This covers {{croup}}; see also {{cough}}.",
    "another object before it": f'{{"thought": "croup"}} {GOOD}',
    "two of them": f"{GOOD}\n{GOOD.replace('croup', 'gout')}",
    "a line break within a text": GOOD.replace('"broader": ""', "").replace("}]", ', "broader": "a\nb"}]'),
    "thinking in square brackets": f"[THINK]Is it {{croup}}?[/THINK]{GOOD}",
}
MENDED = {
    "thinking without end": "<think>Is it {croup}? I go on and on",
    "empty": "",
    "white space": " \n ",
    "malformed": GOOD[:-3],
    "a part of it alone": '{"text": "croup", "group": "P"}',
    "braces alone": "{croup} {}",
    "braces without end": "{" * 90_000,
    "objects that begin without end": '{"terms":' * 9_000,
    "a fence without end": "```" + " " * 90_000,
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


@given(st.text(alphabet='{}"[],:a `\\', max_size=60))
def test_objects_are_found_in_any_text_and_each_stands_in_it(text: str) -> None:
    for found in json_objects(text):
        assert isinstance(found, dict)
    for found in json_objects(f"{text} ```json {GOOD}```"):
        if found == json.loads(GOOD):
            break
    else:
        pytest.fail("the fenced object is not found")


@given(st.lists(st.sampled_from(["<think>", "</think>", "<analysis>", "</analysis>", "{", "a", " "]), max_size=12))
def test_no_closed_thinking_is_left_and_nothing_is_added(parts: list[str]) -> None:
    text = "".join(parts)
    kept = without_thinking(text)
    assert "</think>" not in kept or "<analysis>" in text
    assert kept in text or len(kept) < len(text)
    if "<" not in text:
        assert kept == text.strip()
