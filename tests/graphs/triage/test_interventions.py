"""A question about what a treatment or test does is an evidence question, on whose behalf it is asked or not."""

from __future__ import annotations

import pytest

from graphs.triage.contract import Kind, SessionView
from graphs.triage.facts import facts_of
from graphs.triage.local import TriageLocal

TRIAGE = TriageLocal()


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("I'm 62 and smoked for thirty years. Would a yearly low-dose scan pick up cancer early?", Kind.EVIDENCE),
        ("My dad is 72 with AF. Would a blood thinner prevent a stroke?", Kind.EVIDENCE),
        ("I have had a chesty cough for ten days. Would amoxicillin make it go any quicker?", Kind.EVIDENCE),
        ("Do I need an X-ray for a sore back that started last week?", Kind.EVIDENCE),
        ("My son is 3 and has had a barking cough and fever since last night. Does he need steroids?", Kind.EVIDENCE),
        ("I've had burning when I pee for two days and my back hurts. Should I get antibiotics?", Kind.EVIDENCE),
        ("My calf is swollen and painful. Could it be a clot, and would a scan help?", Kind.CASE),
        ("My dad is 72 and has had crushing chest pain for an hour. Would aspirin help?", Kind.CASE),
    ],
)
def test_what_is_asked_decides(text: str, kind: Kind) -> None:
    assert TRIAGE.decide_now(text, SessionView()).kind is kind


def test_in_a_case_told_before_the_patient_stays_the_subject() -> None:
    session = SessionView(facts=facts_of("My son is 3 and has a barking cough."), kind=Kind.CASE)
    assert TRIAGE.decide_now("He is 3 and his cough is worse. Would an X-ray help?", session).kind is Kind.CASE
