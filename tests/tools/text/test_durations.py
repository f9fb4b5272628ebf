"""How long something has lasted: what a text says, and what a finding's name asks for."""

from __future__ import annotations

import pytest

from tools.knowledge_graph.loader import read_graph
from tools.knowledge_graph.matching import least_days, only_when, told_days
from tools.text.clauses import clauses


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("fever for 3 days", 3),
        ("a 3-day history of fever", 3),
        ("fever for 2-3 weeks", 21),
        ("for two or three weeks", 21),
        ("a couple of weeks", 14),
        ("fever since yesterday", 1),
        ("cough for 3 months and a fever for 2 days", 90),
        ("发热3天", 3),
        ("发热半年", 182.5),
        ("昨天起发热", 1),
        ("a 30-year-old woman with fever", None),
        ("fever for weeks", None),
        ("fever on 2 days each week for months", None),
        ("3月发热", None),
        ("fever", None),
    ],
)
def test_the_longest_stretch_is_read(text: str, days: float | None) -> None:
    assert told_days(text) == days


def test_names_of_findings_that_ask_for_a_time() -> None:
    asked = {f.id: least_days(f.name) for f in read_graph().findings if least_days(f.name)}
    assert asked["prolonged-fever"] == 14
    assert asked["chronic-cough"] == 56
    assert least_days("gave birth in the last few weeks") == 0


@pytest.mark.parametrize(
    ("text", "present"),
    [
        ("No change in vision", False),
        ("no changes in her bowel habit", False),
        ("No increased thirst", False),
        ("no increase in body weight", False),
        ("No change in the cough", True),  # it is still there
        ("no increase in the pain", True),
    ],
)
def test_no_change_denies_what_is_a_finding_only_when_it_changes(text: str, present: bool) -> None:
    assert [c.present for c in clauses(text)] == [present]


@pytest.mark.parametrize(
    ("text", "alone"),
    [
        ("started half an hour ago", True),
        ("it has been going on for about two weeks", True),
        ("chest pain for two hours", False),
        ("it hurts since yesterday", False),
        ("came on suddenly", False),
        ("", False),
    ],
)
def test_a_clause_may_tell_only_when(text: str, alone: bool) -> None:
    assert only_when(text) == alone
