"""A yes before another finding, and what is added without anything being put right."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from graphs.triage.contract import AskedQuestion
from graphs.triage.facts import facts_of, revise, text_of
from graphs.triage.follow_up import read_reply

ASKED = AskedQuestion(finding="anxiety", text="Do you feel anxious?")
NAMES = {"rash": "rash", "worries": "anxiety", "weight": "weight-loss"}


def findings(text: str) -> Collection[str]:
    return {name for word, name in NAMES.items() if word in text}


@pytest.mark.parametrize(
    ("reply", "present"),
    [
        ("yes", True), ("yes, he worries a lot", True), ("yes, for two months", True), ("yes and he has a rash", True),
        ("yes, also a rash", True), ("yes, he has a rash", None), ("Yes. He lost weight.", None),
        ("no, he has a rash", False),
    ],
)  # fmt: skip
def test_a_yes_before_another_finding_is_none(reply: str, present: bool | None) -> None:
    read = read_reply(reply, ASKED, findings)
    assert read is not None
    assert read.finding.present is present
    assert read_reply("yes, he has a rash", ASKED).finding.present  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("message", "kept"),
    [
        ("He's on lisinopril and amiloride too", True), ("He's on amlodipine", True),
        ("He takes warfarin as well", True),        ("He also takes apixaban", True),
        ("I meant metformin", False), ("He takes metformin, not gliclazide", False),
        ("It's metformin instead", False),
    ],
)  # fmt: skip
def test_a_medicine_told_beside_another_replaces_nothing(message: str, kept: bool) -> None:
    case = text_of(revise(facts_of("A 60-year-old man takes gliclazide and has been shaky."), message, 2))
    assert ("gliclazide" in case) is kept
