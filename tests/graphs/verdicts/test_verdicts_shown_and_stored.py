"""A verdict in every view and in the stored form, and answers that were stored before there were verdicts."""

from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from graphs.answering.contract import ANSWER_SCHEMA, Answer
from graphs.verdicts.contract import Certainty, Verdict, VerdictValue, facts, headed
from tools.messages import LANGUAGES, messages

VERDICT = Verdict(
    value=VerdictValue.NO_DIFFERENCE,
    statements=("Pain was the same.",),
    effect="p = 0.41",
    population="412 adults with gout",
    certainty=Certainty.LOW,
    reason="A trial <b> (clinical trial)",
)


def answer(language: str = "en") -> Answer:
    return Answer(question="Does it help?", kind="evidence", language=language, verdict=VERDICT)


def test_no_two_values_are_told_in_the_same_words() -> None:
    for language in LANGUAGES:
        told = messages(language).group("verdict.values")
        assert len(set(told.values())) == len(told) == len(VerdictValue)


def test_what_is_not_known_has_no_line() -> None:
    bare = Verdict(value=VerdictValue.YES, statements=("It helps.",))
    assert facts(bare, "en") == ["Certainty: not assessed"]
    assert facts(bare, "zh") == ["确定性：未评估"]
    assert headed(bare, "fr") == "Verdict: yes"


@pytest.mark.parametrize(("language", "head"), [("en", "No difference."), ("zh", "没有差别。")])
def test_notebooks_and_markdown_show_it_as_text(language: str, head: str) -> None:
    page, text = answer(language)._repr_html_(), answer(language).to_markdown()
    for shown in (page, text):
        assert head in shown
        assert "412 adults with gout" in shown
        assert shown.index(head) < shown.index("412 adults with gout")


def test_an_answer_with_a_verdict_is_read_again() -> None:
    stored = answer().to_json()
    assert json.loads(stored)["schema_version"] == ANSWER_SCHEMA == 2
    assert Answer.model_validate_json(stored) == answer()
    assert Answer.model_validate(json.loads(stored)) == answer()


def test_an_answer_stored_before_verdicts_is_read() -> None:
    old = json.loads(answer().to_json()) | {"schema_version": 1}
    del old["verdict"]
    old["choice"] = {"label": "yes", "text": "yes", "confidence": 0.8, "reason": "r", "evidence_ids": ["library:a@0-1"]}
    for read in (Answer.model_validate(old), Answer.model_validate_json(json.dumps(old))):
        assert (read.schema_version, read.verdict) == (ANSWER_SCHEMA, None)
        assert read.choice is not None
        assert (read.choice.label, read.choice.evidence_ids) == ("yes", ("library:a@0-1",))
    assert Answer.model_validate(old | {"choice": None}).choice is None
    assert old["choice"]["confidence"] == 0.8, "what was given is not changed"


def test_a_share_of_sentences_is_no_confidence_any_more() -> None:
    new = json.loads(answer().to_json())
    new["choice"] = {"label": "yes", "text": "yes", "confidence": 0.8, "reason": "r"}
    with pytest.raises(ValidationError):
        Answer.model_validate(new)
