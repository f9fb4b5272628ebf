"""What a message asks of what was said before, and how a question about the leading disease stands alone."""

from __future__ import annotations

import pytest

from graphs.triage.asked import explained, of_leading, read_asked
from graphs.triage.contract import Aspect, Kind, SessionView
from graphs.triage.facts import facts_of
from graphs.triage.local import TriageLocal
from tools.reading.messages import MEANINGS, Meaning, meant

CASE = "A 2-year-old girl has had a barking cough since last night."
TOLD = SessionView(facts=facts_of(CASE), kind="case", question=CASE, leading="croup", leading_en="croup")
CHINESE = TOLD.model_copy(update={"facts": facts_of("两岁女孩，犬吠样咳嗽。"), "leading": "喉炎"})
ANSWERED = SessionView(kind="evidence", question="Do statins prevent stroke?")


@pytest.mark.parametrize(
    ("meaning", "text", "view", "whole"),
    [
        (Meaning.TESTS, "any bloods?", TOLD, "How is croup diagnosed and which tests are needed?"),
        (Meaning.DISEASE, "Is it catching", TOLD, "Is croup catching?"),
        (Meaning.DISEASE, "hereditary?", TOLD, "Croup: hereditary?"),
        (Meaning.DOSE, "How much paracetamol can I give her", TOLD,
         "How much paracetamol can I give a 2-year-old girl with croup?"),
        (Meaning.DOSE, "how often", TOLD, "How often for croup?"),
        (Meaning.DISEASE, "会传染吗", CHINESE, "Is croup contagious?"),
        (Meaning.PROGNOSIS, "多久能好", CHINESE, "How long does croup last and how do people recover?"),
        (Meaning.DISEASE, "它危险吗？", CHINESE.model_copy(update={"leading_en": ""}), "喉炎危险吗？"),
        (Meaning.TREATMENT, "怎么治", CHINESE.model_copy(update={"leading_en": ""}), "喉炎怎么治疗？"),
    ],
)  # fmt: skip
def test_a_question_about_the_leading_disease_names_it(
    meaning: Meaning, text: str, view: SessionView, whole: str
) -> None:
    assert of_leading(text, meaning, view) == whole


def test_a_meaning_is_one_of_what_was_asked_last() -> None:
    assert read_asked("what else could it be?", TOLD).of_case
    assert not read_asked("how sure are you?", TOLD.model_copy(update={"kind": "evidence"})).of_case
    assert read_asked("back to my patient: how sure are you?", TOLD.model_copy(update={"kind": "evidence"})).of_case
    assert read_asked("and in children?", ANSWERED).meaning is Meaning.LEANS
    assert read_asked("why? " * 41, TOLD).meaning is Meaning.ALONE


def test_a_question_that_tells_of_an_emergency_raises_it() -> None:
    triage = TriageLocal()
    calm = triage.decide_now("how sure are you?", TOLD)
    urgent = triage.decide_now("how sure are you? she has stopped breathing and is going blue", TOLD)
    assert (calm.kind, calm.red_flags) == (Kind.EXPLAIN, ())
    assert (urgent.kind, bool(urgent.red_flags)) == (Kind.CASE, True)
    assert urgent.case.startswith(CASE)


def test_what_else_there_is_goes_on_from_a_question_of_evidence() -> None:
    asked = read_asked("what else?", ANSWERED)
    assert explained("what else?", asked, ANSWERED) is None
    told = explained("what else?", asked._replace(meaning=Meaning.ELSE), TOLD)
    assert told is not None
    assert (told.aspect, told.of_case) == (Aspect.ELSE, True)


@pytest.mark.parametrize("text", ["", "是" * 50_000, "\x00", "🙂", "a" * 100_000])
def test_every_message_has_a_meaning(text: str) -> None:
    shares = meant(text, of_case=True)
    assert tuple(shares) == MEANINGS
    assert sum(shares.values()) == pytest.approx(1.0, abs=1e-4)
