"""Emergencies by numbers: how they are written, from where they count, and what they do not count in."""

from __future__ import annotations

import pytest

from graphs.triage.emergency import _rules, by_numbers, emergencies, red_flags


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("BP 165/112 at 34 weeks", "pre_eclampsia"),
        ("BP 228/124, blurred vision and headache", "hypertensive_emergency"),
        ("BP 84/50", "shock"),
        ("glucose 29 ketones 5", "diabetic_ketoacidosis"),
        ("血糖32，血酮4.1", "diabetic_ketoacidosis"),
        ("CBG 29 with ketones", "diabetic_ketoacidosis"),
        ("glucose 18, ketones 2+", "diabetic_ketoacidosis"),
        ("血糖 29，酮体阳性", "diabetic_ketoacidosis"),
        ("glucose 29, no ketones", "none"),
        ("glucose 29, ketones 0.4", "none"),
        ("BM 2.4", "severe_hypoglycaemia"),
        ("glucose 41 mg/dL", "severe_hypoglycaemia"),
        ("Na 114", "severe_hyponatraemia"),
        ("Na 126, K 5.9", "adrenal_crisis"),
        ("K 7.1", "hyperkalaemia"),
        ("sats 86% RA", "breathing_failure"),
        ("known COPD, sats 86%", "breathing_failure"),
        ("known COPD, sats 90%", "none"),
        ("lactate 5.2", "sepsis"),
        ("GCS 9", "unconscious"),
        ("GCS 15 -> 13", "unconscious"),
        ("GCS 14 after a fall", "head_injury"),
        ("GCS 14", "none"),
        ("HR 148", "pulse"),
        ("4-year-old, HR 140", "none"),
        ("RR 32", "breathing_failure"),
        ("6 week old, temp 38.4", "infant"),
        ("neuts 0.2, temp 38.9", "neutropenic_sepsis"),
        ("Hb 61", "severe_anaemia"),
        ("Hb 6.1 g/dL", "severe_anaemia"),
        ("BP 128/80, HR 72, sats 98%, RR 14, K 4.2, Na 139, GCS 15, Hb 132, glucose 5.4", "none"),
        ("HbA1c 61", "none"),
        ("BP 74/palp", "shock"),
        ("systolic pressure of 78", "shock"),
        ("BP 96/50, HR 118", "shock"),
        ("BP 96/60, HR 74", "none"),
        ("complete heart block, ventricular rate 28.", "pulse"),
        ("HR 152.", "pulse"),
        ("RR 7", "breathing_failure"),
        ("pH 7.22, PaCO2 9.4", "breathing_failure"),
        ("pH 7.04", "acidosis"),
        ("urine pH 6.5", "none"),
        ("pH 7.40, PaCO2 5.2", "none"),
        ("corrected calcium 3.8", "severe_hypercalcaemia"),
        ("Ca 3.9", "severe_hypercalcaemia"),
        ("corrected calcium 1.6", "hypocalcaemia"),
        ("ionised Ca 1.2, calcium 1000 mg daily", "none"),
        ("K 1.9", "hypokalaemia"),
        ("glucose 44", "severe_hyperglycaemia"),
        ("core temperature 29.6", "hypothermia"),
        ("COHb 24%", "poisoning"),
        ("took 24 g of paracetamol", "poisoning"),
        ("paracetamol 1 g four times a day", "none"),
        ("lithium 3.1 mmol/L", "poisoning"),
        ("lithium 0.7 mmol/L", "none"),
        ("estimated blood loss 1.8 litres", "severe_bleeding"),
        ("asthma, PEF 30% of best", "severe_asthma"),
        ("22% TBSA burns", "burns"),
        ("a rash on 65% BSA", "none"),
        ("melaena, BP 124/70, HR 106", "severe_bleeding"),
        ("melaena, BP 124/70, HR 76, Hb 128", "none"),
        ("NIHSS 14", "stroke"),
        ("NEWS2 9", "emergency"),
        ("NEWS 2", "none"),
        ("IOP 56", "eye"),
        ("呕血约1200ml", "severe_bleeding"),
        ("动脉血气pH 7.05", "acidosis"),
        ("vitamin K 7 mg", "none"),
    ],
)
def test_numbers_raise_their_flag(text: str, code: str) -> None:
    codes = {flag.code for flag in by_numbers(text, "zh" if text[0] > "一" else "en")}
    assert (code in codes) if code != "none" else not codes


@pytest.mark.parametrize(
    "text", ["Is a blood pressure of 84/50 dangerous?", "K was 7.1 two years ago, normal since", "What if K is 7.1?"]
)
def test_numbers_of_no_patient_of_now_raise_none(text: str) -> None:
    assert by_numbers(text, "en") == ()


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("RR 28", "very fast breathing"),
        ("RR 7", "very slow breathing"),
        ("sats 86% RA", "very low oxygen in the blood"),
    ],
)
def test_an_emergency_of_numbers_is_called_by_what_they_show(text: str, seen: str) -> None:
    assert [flag.seen.split(":")[0] for flag in by_numbers(text, "en")] == [seen]


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("34F, tired for months, alert and drinking. Lying BP 112/70, standing 86/58. Na 128, K 5.7", set()),
        ("34F, vomiting, Na 128, K 5.7", {"adrenal_crisis"}),
        ("34F, BP 78/44, Na 128, K 5.7", {"adrenal_crisis", "shock"}),
        ("standing BP 82/54", {"shock"}),
        ("lying BP 128/76, standing BP 82/54", set()),
        ("18 month old boy, BP 84/50", set()),
        ("18 month old boy, BP 64/40", {"shock"}),
    ],
)
def test_stable_numbers_are_no_crisis(text: str, codes: set[str]) -> None:
    assert {flag.code for flag in by_numbers(text, "en")} == codes


def test_every_threshold_has_its_origin_and_its_name() -> None:
    for flag in _rules()["flags"]:
        assert flag["origin"]
        assert flag["code"] in emergencies().named


def test_a_known_disease_on_its_usual_course_raises_nothing_and_what_is_new_does() -> None:
    usual = "Known Bell's palsy, forehead involved, day 3. Face still drooping, can't close eye, on prednisolone."
    new = "Known Bell's palsy, forehead involved, and now sudden weakness of the right arm and slurred speech."

    def beside_known(text: str) -> str:
        return text.replace("Known Bell's palsy", "").replace("Face still drooping", "").replace("can't close eye", "")

    assert red_flags(usual, "en")
    assert red_flags(usual, "en", beside_known=beside_known) == ()
    assert [flag.code for flag in red_flags(new, "en", beside_known=beside_known)] == ["stroke"]


@pytest.mark.parametrize(
    "text",
    [
        "Known T1DM on his usual insulin, vomiting, ketones high, deep breathing.",
        "Known heart failure, stable weight, breathless lying flat, coughing pink froth.",
        "Known sickle cell disease, typical pain crisis with chest pain and breathlessness.",
    ],
)
def test_a_usual_medicine_or_a_dangerous_sign_is_no_usual_course(text: str) -> None:
    def grave(_: str) -> float:
        return 1.0

    assert red_flags(text, "en", grave=grave, beside_known=lambda _: "") == red_flags(text, "en", grave=grave) != ()
