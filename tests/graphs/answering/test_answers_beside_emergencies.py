"""Beside a red flag an answer tells what may be that emergency, and asks nothing as a routine."""

from __future__ import annotations

from graphs.answering.constrained import beside_flags
from graphs.triage.contract import Kind, RedFlag
from tools.contract import Differential, FollowUpQuestion, RankedDisease

FLAG = RedFlag(code="heart_attack", seen="possible heart attack", advice="Call.")
WISH = RedFlag(code="suicide", seen="danger of suicide", advice="Call.", diagnosed=False)


def disease(name: str, severity: str, score: float, *, fits: bool = True) -> RankedDisease:
    return RankedDisease(
        disease=name, name=name, icd10="", l2="a", l1="b", score=score, severity=severity,
        evidence_id=f"graph:starter/{name}", findings_for=("chest pain",) if fits else (),
    )  # fmt: skip


def differential(*, outside: bool = False) -> Differential:
    return Differential(
        outside=outside,
        ranking=(
            disease("infarction", "emergency", 0.4),
            disease("panic", "routine", 0.3),
            disease("dissection", "emergency", 0.05),
            disease("burns", "urgent", 0.05, fits=False),
            disease("abscess", "urgent", 0.01),
        ),
        questions=(FollowUpQuestion(finding="fever", text="Have you had a fever?", gain=1.0),),
    )


def named(found: Differential | None) -> list[str]:
    assert found is not None
    return [d.disease for d in found.ranking]


def test_the_leader_and_severe_diseases_that_fit_are_told_and_nothing_is_asked() -> None:
    told = beside_flags(differential(), [FLAG], Kind.CASE)
    assert named(told) == ["infarction", "dissection"]
    assert told is not None
    assert told.questions == ()


def test_a_leader_that_is_not_severe_stays_first() -> None:
    whole = differential()
    panic_first = whole.model_copy(update={"ranking": (whole.ranking[1], whole.ranking[0], *whole.ranking[2:])})
    assert named(beside_flags(panic_first, [FLAG], Kind.CASE)) == ["panic", "infarction", "dissection"]


def test_behind_a_leader_that_is_not_severe_the_next_are_told_severe_or_not() -> None:
    gout = (
        disease("gout", "routine", 0.4),
        disease("psoriasis", "routine", 0.3),
        disease("bunion", "routine", 0.3, fits=False),
        disease("sprain", "routine", 0.3),
        disease("sepsis", "emergency", 0.1),
    )
    whole = differential().model_copy(update={"ranking": gout})
    assert named(beside_flags(whole, [FLAG], Kind.CASE)) == ["gout", "psoriasis", "sepsis"]


def test_beside_a_wish_to_die_only_an_emergency_that_leads_is_told_with_what_is_severe() -> None:
    whole = differential()
    calm = whole.model_copy(update={"ranking": (whole.ranking[1], whole.ranking[0])})
    assert named(beside_flags(whole, [WISH], Kind.CASE)) == ["infarction", "dissection"]
    assert named(beside_flags(calm, [WISH], Kind.CASE)) == []


def test_a_wish_to_die_does_not_hide_what_another_emergency_may_be() -> None:
    whole, before = differential(), WISH.model_copy(update={"earlier": True})
    calm = whole.model_copy(update={"ranking": (whole.ranking[1], whole.ranking[0])})
    for flags in ([FLAG, WISH], [FLAG, before], [before]):
        assert named(beside_flags(calm, flags, Kind.CASE)) == ["panic", "infarction"]
    assert named(beside_flags(calm, [WISH, FLAG.model_copy(update={"earlier": True})], Kind.CASE)) == []


def test_no_disease_is_told_where_none_explains_the_case() -> None:
    assert named(beside_flags(differential(outside=True), [FLAG], Kind.CASE)) == []


def test_without_a_flag_and_to_a_question_about_what_was_said_all_is_told() -> None:
    whole = differential()
    assert beside_flags(whole, [], Kind.CASE) == whole
    assert beside_flags(whole, [FLAG], Kind.EXPLAIN) == whole


def test_after_a_reply_to_our_question_the_interview_goes_on() -> None:
    told = beside_flags(differential(), [FLAG], Kind.CASE, replied=True)
    assert named(told) == ["infarction", "dissection"]
    assert told is not None
    assert told.questions == differential().questions
