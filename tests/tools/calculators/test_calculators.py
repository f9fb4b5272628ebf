"""Calculators: formulas and scores against worked examples, units, what is missing, and what cannot be."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompts.errors import InputError
from tools.calculators import (
    anion_gap,
    asked_for,
    bmi,
    calculate,
    calculate_from,
    calculators,
    corrected_calcium,
    egfr,
    gestational_age,
    read,
)
from tools.calculators.formulas import UMOL, quantities
from tools.text.measures import converted, measures

# worked by hand from the coefficients of the paper (mg/dL, age, sex): 142 · min(r, 1)^α · max(r, 1)^-1.2 · 0.9938^age
RATES = [(0.9, 50, "male", 104.05), (0.7, 50, "female", 105.30), (1.8, 50, "male", 45.29), (0.35, 20, "female", 149.97)]


@pytest.mark.parametrize(("creatinine", "age", "sex", "rate"), RATES)
def test_filtration_is_that_of_the_paper(creatinine: float, age: int, sex: str, rate: float) -> None:
    assert egfr(creatinine * UMOL, age, sex) == pytest.approx(rate, abs=0.02)  # type: ignore[arg-type]


def test_the_other_formulas() -> None:
    assert corrected_calcium(2.10, 28) == pytest.approx(2.34)
    assert anion_gap(140, 104, 24) == 12
    assert bmi(80, 1.75) == pytest.approx(26.12, abs=0.01)
    assert gestational_age(date(2026, 3, 4), date(2026, 6, 1)) == 89


@given(st.floats(0.2, 20), st.integers(18, 100), st.sampled_from(["male", "female"]))
def test_a_unit_makes_no_difference(creatinine: float, age: int, sex: str) -> None:
    told = calculate("egfr", {"creatinine": f"{creatinine:.4f} mg/dL", "age": age, "sex": sex})
    same = calculate("egfr", {"creatinine": f"{creatinine * UMOL:.4f} µmol/L", "age": age, "sex": sex})
    assert told.value == pytest.approx(same.value, rel=1e-2)
    assert told.value == pytest.approx(egfr(creatinine * UMOL, age, sex), rel=1e-2)  # type: ignore[arg-type]


@given(st.floats(1, 4))
def test_calcium_is_converted_both_ways(calcium: float) -> None:
    in_mg = calculate("corrected-calcium", {"calcium": f"{calcium / 0.2495:.4f} mg/dL", "albumin": "3.0 g/dL"})
    assert in_mg.value == pytest.approx(corrected_calcium(calcium, 30), abs=1e-3)


def test_every_unit_of_a_quantity_is_known_to_its_measures() -> None:
    for kind in quantities().values():
        for name in kind.measures:
            if measures()[name].get("quiet"):
                assert converted(1.0, kind.unit, name) is not None or kind.unit == "m", (kind, name)
    assert converted(25, "mg/dL", "urea_nitrogen") == pytest.approx(8.93, abs=0.01)
    assert converted(1, "furlongs", "creatinine") is None


THROAT = "fever, tonsillar exudate, tender cervical nodes and no cough"
CASES = [
    ("What is the CHA2DS2-VASc of a 76-year-old woman with hypertension and diabetes?", "cha2ds2-vasc", 5, (5, 9)),
    ("76F with AF, HTN, T2DM, previous stroke, no heart failure, no vascular disease. What is her CHA₂DS₂-VASc?",
     "cha2ds2-vasc", 7, (7, 7)),
    ("Calculate CURB-65 for a confused 70-year-old man, urea 9 mmol/L, RR 32, BP 85/50.", "curb-65", 5, (5, 5)),
    ("CURB-65: 70M, not confused, BUN 25 mg/dL, RR 18, BP 125/80", "curb-65", 2, (2, 2)),
    ("qSOFA for a 70-year-old man, RR 24, GCS 14, BP 95/60?", "qsofa", 3, (3, 3)),
    (f"Centor score for a 20-year-old with {THROAT}?", "centor", 4, (4, 4)),
    (f"McIsaac score for a 50-year-old with {THROAT}?", "mcisaac", 3, (3, 3)),
    ("Wells score for PE: 50M, HR 110, haemoptysis, surgery two weeks ago, no previous DVT, no cancer, no leg swelling",
     "wells-pe", 4, (4, 7)),
    ("Wells DVT score for a 60-year-old man with active cancer, pitting oedema and no previous DVT?",
     "wells-dvt", 2, (0, 8)),
    ("eGFR for a 60-year-old man, creatinine 140 µmol/L?", "egfr", 49.63, None),
    ("60岁男性，肌酐140 µmol/L，eGFR是多少？", "egfr", 49.63, None),
    ("What is my BMI? I weigh 80 kg and I am 1.75 m tall. I lost 10 kg.", "bmi", 26.12, None),
    ("What is the anion gap with Na 140, Cl 104, HCO3 24?", "anion-gap", 12, None),
    ("Corrected calcium: Ca 8.4 mg/dL, albumin 2.8 g/dL?", "corrected-calcium", 2.336, None),
    ("How many weeks pregnant is she? LMP 4 March 2026", "gestational-age", 89, None),
]  # fmt: skip


@pytest.mark.parametrize(("text", "name", "value", "bounds"), CASES)
def test_a_question_is_read(text: str, name: str, value: float, bounds: tuple[float, float] | None) -> None:
    assert asked_for(text) == [name]
    found = calculate_from(name, text, date(2026, 6, 1))
    assert found.value == pytest.approx(value, abs=0.01)
    assert bounds is None or (found.least, found.most) == bounds
    assert all(u.quote in text or u.quote == "today" for u in found.used)


NOT_ASKED = """Should a 70-year-old with a CHA2DS2-VASc of 3 be anticoagulated?
What does a CURB-65 of 3 mean in a 70-year-old?
How is eGFR calculated?
What is a normal anion gap?
Is the CHA2DS2-VASc validated in Asian patients over 65 years old?
A 60-year-old woman, 95 kg. Her BMI is 34 kg/m2. Which treatment is best?
Body mass index for six men of 70 kg shifted to the normal range.
60M, eGFR 25, creatinine 240 µmol/L, tired and breathless
A 70-year-old man with pneumonia. Should we use CURB-65?""".splitlines()


@pytest.mark.parametrize("text", NOT_ASKED)
def test_another_question_is_left_alone(text: str) -> None:
    assert asked_for(text) == []


def test_several_are_asked_for_at_once_and_for_somebody_else() -> None:
    two = "What is the CHA2DS2-VASc and eGFR of a 76-year-old woman with hypertension, creatinine 1.2 mg/dL?"
    assert asked_for(two) == ["egfr", "cha2ds2-vasc"]
    assert asked_for("what's my mom's CHA2DS2-VASc score, she's 81 and has heart failure") == ["cha2ds2-vasc"]
    assert asked_for("请计算76岁女性的CHA2DS2-VASc评分，高血压，糖尿病") == ["cha2ds2-vasc"]


def test_the_case_gives_what_the_message_does_not() -> None:
    case = "A 76-year-old woman with hypertension. Her mother had a stroke."
    assert asked_for("What is the CHA2DS2-VASc?") == []
    assert asked_for("What is her CHA2DS2-VASc?", case) == ["cha2ds2-vasc"]
    found = calculate_from("cha2ds2-vasc", f"{case}\nWhat is her CHA2DS2-VASc?")
    assert found.value == 4
    assert "stroke, TIA or thromboembolism" in found.missing


def test_what_is_missing_is_named_and_nothing_is_guessed() -> None:
    found = calculate("egfr", {"creatinine": 140.0})
    assert (found.value, found.missing) == (None, ("age", "sex"))
    assert found.lines[0] == "eGFR (CKD-EPI 2021) cannot be calculated."
    assert found.lines[-1] == "Missing: age; sex."
    score = calculate("curb-65", {"age": 70, "systolic": 120})
    assert (score.value, score.least, score.most) == (1, 1, 5)
    assert "blood pressure" in score.missing  # a diastolic pressure is not known
    assert calculate("curb-65", {"systolic": 85}).value == 1


def test_uncertain_and_past_findings_are_not_counted() -> None:
    found = read(
        "cha2ds2-vasc", "70-year-old man with pulmonary hypertension, possible diabetes, asks for his stroke risk"
    )
    assert found.keys() == {"age", "sex"}
    others = read("cha2ds2-vasc", "70-year-old man with CVA tenderness, previous VTE and collagen vascular disease")
    assert others.keys() == {"age", "sex"}
    assert "confusion" not in read("curb-65", "70-year-old man with a cough. PMH: confusion.")
    swelling = read("wells-pe", "50-year-old man with a swollen calf")
    assert "leg_signs" not in swelling  # swelling alone is not what the item asks
    assert read("wells-pe", "50-year-old man without leg swelling")["leg_signs"].value is False


WRONG = [
    ("egfr", {"creatinine": "140", "age": 60, "sex": "male"}, "no unit is given"),
    ("egfr", {"creatinine": "140 ng/mL"}, "unit 'ng/mL' is not known"),
    ("egfr", {"creatinine": "14000 µmol/L"}, "cannot be"),
    ("egfr", {"creatinine": 140.0, "age": 10, "sex": "male"}, "not for an age of 10 years"),
    ("egfr", {"age": 160}, "cannot be"),
    ("egfr", {"sex": "tall"}, "Say female or male"),
    ("egfr", {"weight": 80}, "takes no 'weight'"),
    ("curb-65", {"urea": "25 mg/dL"}, "may be of two measures"),
    ("curb-65", {"confusion": "perhaps"}, "Say yes or no"),
    ("bmi", {"height": "175 m"}, "cannot be"),
    ("gestational-age", {"last_period": "2026-03-04", "day": "2026-03-01"}, "no gestational age"),
    ("gestational-age", {"last_period": "03/04/2026"}, "is no date"),
    ("apgar", {}, "There is no calculator 'apgar'"),
]


@pytest.mark.parametrize(("name", "inputs", "told"), WRONG)
def test_what_cannot_be_is_refused_with_advice(name: str, inputs: dict[str, object], told: str) -> None:
    with pytest.raises(InputError, match=told) as refused:
        calculate(name, inputs)  # type: ignore[arg-type]
    assert refused.value.advice


def test_an_unknown_unit_in_a_text_is_refused() -> None:
    text = "eGFR for a 60-year-old man, creatinine 140 ng/mL?"
    assert asked_for(text) == ["egfr"]
    with pytest.raises(InputError, match="not known"):
        calculate_from("egfr", text)


def test_a_calculator_says_its_formula_what_results_mean_and_its_source() -> None:
    for name, made in calculators().items():
        assert made.needs or made.items, name
        about = calculate(name, {}).about
        assert made.formula in about[0]
        assert about[-1].startswith("Source: ")
        assert all(line.endswith(".") for line in about), about
