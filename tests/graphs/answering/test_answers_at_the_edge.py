"""An answer says where its knowledge ends, in every way of showing it; and what the case bars is not chosen."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from agent.cli.render import show_answer
from graphs.answering.constrained import constrained
from graphs.answering.contract import Answer, Choice, Draft
from graphs.answering.notices import notice
from graphs.verdicts.contract import Verdict, VerdictValue
from tools.contract import RankedDisease
from tools.evidence import Origin, Statement

HEADS = {
    "en": ("No disease that I know explains these findings well.", "Closest of those I know", "Left unexplained"),
    "zh": ("没有一种能很好地解释这些表现", "我所知的疾病中最接近的", "仍未得到解释"),
}
NONE = {"en": ": none", "zh": "：无"}
ALLERGIC = "She is allergic to penicillin. Which is the best treatment?"
OPTIONS = {"A": "Amoxicillin", "B": "Azithromycin"}


def case_answer(language: str, *, outside: bool) -> Answer:
    gout = RankedDisease(
        disease="gout", name="Gout", icd10="M10", l2="a", l1="b", score=0.4, severity="routine",
        findings_for=("swollen toe",), evidence_id="graph:starter/gout",
    )  # fmt: skip
    return Answer(
        question="q", kind="case", language=language, differential=[gout], outside=outside,
        unexplained=["a blue tongue"] if outside else [],
    )  # fmt: skip


def terminal(answer: Answer) -> str:
    out = io.StringIO()
    show_answer(Console(file=out, width=200), answer)
    return out.getvalue()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_view_tells_the_edge(language: str) -> None:
    answer = case_answer(language, outside=True)
    for shown in (answer.to_markdown(), answer._repr_html_(), terminal(answer)):
        for words in (*HEADS[language], "a blue tongue"):
            assert words in shown


@pytest.mark.parametrize("language", ["en", "zh"])
def test_inside_nothing_of_it_is_said(language: str) -> None:
    answer = case_answer(language, outside=False)
    for shown in (answer.to_markdown(), answer._repr_html_(), terminal(answer)):
        assert not any(words in shown for words in HEADS[language][:2])
        assert f"{HEADS[language][2]}{NONE[language]}" in shown, "that nothing is left is told"


def test_what_was_not_looked_at_is_not_told_to_be_explained() -> None:
    answer = case_answer("en", outside=False).model_copy(update={"unexplained": None})
    assert HEADS["en"][2] not in answer.to_markdown()


def test_answers_of_before_are_still_read() -> None:
    stored = case_answer("en", outside=False).model_dump(mode="json")
    del stored["outside"], stored["unexplained"]
    assert Answer.model_validate(stored).outside is False


def test_a_barred_choice_is_taken_back() -> None:
    chosen = Choice(label="A", text="Amoxicillin", reason="r")
    held = constrained(Draft(choice=chosen), ALLERGIC, "", OPTIONS, "en")
    assert held.choice is None
    assert [n.code for n in held.notices] == ["choice_breaks_constraint"]
    allowed = Choice(label="B", text="Azithromycin", reason="r")
    kept = constrained(Draft(choice=allowed), ALLERGIC, "", OPTIONS, "zh")
    assert kept.choice == allowed
    assert "Amoxicillin（对penicillin过敏）" in kept.notices[0].text


def test_a_recommendation_that_the_case_bars_gets_a_notice() -> None:
    said = Statement(text="Amoxicillin is the first choice.", origin=Origin.PARAMETRIC)
    warned = Statement(text="Avoid amoxicillin in penicillin allergy.", origin=Origin.PARAMETRIC)
    case = "A child with otitis, allergic to penicillin."
    assert [n.code for n in constrained(Draft(statements=(said,)), "How is it treated?", case, {}, "en").notices] == [
        "breaks_constraint"
    ]
    assert not constrained(Draft(statements=(warned,)), "How is it treated?", case, {}, "en").notices


@pytest.mark.parametrize(("language", "detail"), [("en", "Naproxen (kidney disease)"), ("zh", "Naproxen（肾病）")])
def test_a_medicine_that_the_patients_state_bars_is_named(language: str, detail: str) -> None:
    said = Statement(text="Naproxen eases gout.", origin=Origin.PARAMETRIC)
    (told,) = constrained(Draft(statements=(said,)), "How is gout treated?", "He is 70; eGFR 19.", {}, language).notices
    assert (told.code, detail in told.text) == ("breaks_constraint", True)
    assert not constrained(
        Draft(statements=(said,)), "How is gout treated?", "He is 70; eGFR 90.", {}, language
    ).notices
    assert not constrained(Draft(statements=(said,)), "How is it treated?", "", {}, "en").notices


@pytest.mark.parametrize("value", list(VerdictValue))
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_question_about_a_medicine_that_an_allergy_bars_is_led_by_it_and_never_affirmed(
    value: VerdictValue, language: str
) -> None:
    draft = Draft(
        verdict=Verdict(value=value, statements=("s",)),
        choice=Choice(label="yes", text="yes", reason="s", parametric=True),
        notices=(notice("no_figure", language),),
    )
    held = constrained(draft, "Is amoxicillin safe for me?", "I am allergic to penicillin.", {}, language)
    assert [n.code for n in held.notices] == ["barred_medicine", "no_figure"]
    assert "amoxicillin" in held.notices[0].text
    assert (held.verdict is not None, held.choice) == (value is VerdictValue.NO, None)
    harm = constrained(draft, "Is amoxicillin dangerous for me?", "I am allergic to penicillin.", {}, language)
    assert harm.verdict is None
    elsewhere = constrained(draft, "Is cefalexin safe for me?", "I am allergic to penicillin.", {}, language)
    assert elsewhere == draft


def test_what_must_not_be_given_heads_every_view_of_an_answer() -> None:
    told = notice("barred_medicine", "en", "THIS")
    said = Statement(text="A sentence.", origin=Origin.PARAMETRIC)
    answer = Answer(question="q", kind="evidence", language="en", statements=[said], notices=[told])
    for shown in (answer.to_markdown(), answer._repr_html_(), terminal(answer)):
        assert shown.index("THIS") < shown.index("A sentence")
