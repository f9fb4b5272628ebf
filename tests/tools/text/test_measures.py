"""What numbers tell: by ranges, units, sex and age, and never of another fluid, time or person."""

from __future__ import annotations

import pytest

from tools.knowledge_graph.loader import STARTER, read_graph
from tools.text.demographics import read_person
from tools.text.measures import TAIL, measures, readings, values


def told(text: str) -> set[tuple[str, bool]]:
    return {(r.words, r.present) for r in readings(text, read_person(text)) if r.words}


@pytest.mark.parametrize(
    ("low", "normal", "high", "words"),
    [
        ("WCC 2.1", "WCC 6.1", "WCC 22", ("low white blood cell count", "raised white blood cell count")),
        ("TSH 0.02 mU/L", "TSH 2.1", "TSH 38", ("suppressed TSH", "high TSH")),
        ("BP 84/50", "BP 124/78", "BP 172/80", ("low blood pressure", "high blood pressure reading")),
        (
            "白细胞 2.0",
            "白细胞计数5.6×10⁹/L",
            "白细胞18.5",
            ("low white blood cell count", "raised white blood cell count"),
        ),
        ("MCV 70", "MCV 90", "MCV 108 fL", ("small red cells", "large red cells")),
    ],
)
def test_a_range_has_two_ends(low: str, normal: str, high: str, words: tuple[str, str]) -> None:
    assert told(low) == {(words[0], True)}
    assert told(normal) == {(words[0], False), (words[1], False)}
    assert told(high) == {(words[1], True)}


@pytest.mark.parametrize(
    ("abnormal", "normal", "words"),
    [
        ("Hb 84", "Hb 140", "low haemoglobin"),
        ("Hgb 7.9 g/dL", "haemoglobin was 13.8 g/dL", "low haemoglobin"),
        ("血红蛋白72g/L", "血红蛋白140g/L", "low haemoglobin"),
        ("plts 88 (150-400)", "platelets 250", "low platelet count"),
        ("CRP was 288 mg/L", "CRP <5", "raised CRP"),
        ("ESR 90", "ESR 5", "high ESR"),
        ("D-dimer 1.2 mg/L", "D-dimer 150 ng/mL", "raised D-dimer"),
        ("glucose 342 mg/dL", "glucose 5.4", "raised blood sugar"),
        ("HbA1c 9.1%", "HbA1c 36", "raised HbA1c"),
        ("uric acid 9.8", "urate 300", "raised uric acid"),
        ("NT-proBNP 2,340", "NT-proBNP 60", "NT-proBNP raised"),
        ("pCO2 62 mmHg", "PaCO2 5.1", "raised carbon dioxide in the blood"),
        ("EF 30%", "LVEF 60%", "reduced ejection fraction"),
        ("CSF: WCC 250", "LP - WCC 2", "white cells in the spinal fluid"),
        ("platelets 0.8 lakh", "platelets 2.5 lakh", "low platelet count"),
        ("ECG QTc 510 ms", "QTc 420", "long QT on the ECG"),
        ("血小板8万", "血小板21万", "low platelet count"),
        ("SpO2 86% RA", "SpO2 98% RA", "low oxygen saturation"),
    ],
)
def test_a_number_tells_whether_a_finding_is_there(abnormal: str, normal: str, words: str) -> None:
    assert told(abnormal) == {(words, True)}
    assert told(normal) == {(words, False)}


def test_a_limit_depends_on_the_sex_and_near_it_nothing_is_told() -> None:
    assert told("45M, Hb 122") == {("low haemoglobin", True)}
    assert told("45F, Hb 122") == {("low haemoglobin", False)}
    assert told("Hb 122") == set()
    assert told("CRP 8") == set()


def test_of_a_series_the_last_is_told() -> None:
    assert told("trop 8 -> 90") == {("raised troponin", True)}
    assert told("Hb 84 → 128 g/L, 60M") == {("low haemoglobin", True)}


@pytest.mark.parametrize(
    ("abnormal", "normal", "words"),
    [
        ("albumin 24 g/L", "albumin 41", "low albumin in the blood"),
        ("Alb 2.6 g/dL", "albumin 4.4 g/dL", "low albumin in the blood"),
        ("phosphate 2.1", "phos 3.4 mg/dL", "raised phosphate in the blood"),
        ("Cr 2.4 mg/dL", "Cr 0.8", "raised creatinine or reduced kidney function"),
        ("Cr 89 -> 142 -> 268", "Cr 71", "raised creatinine or reduced kidney function"),
        ("eGFR from 52 to 31", "eGFR 96", "raised creatinine or reduced kidney function"),
        ("HCO3 9", "CO2 26 mEq/L", "metabolic acidosis on a blood gas"),
        ("9am cortisol 62 nmol/L", "cortisol 420", "low cortisol"),
        ("CK 4,800", "CK 90", "raised creatine kinase"),
        ("PSA 22", "PSA 1.1", "raised PSA"),
        ("vitamin D 14 nmol/L", "vitamin D 68", "low vitamin D"),
        ("B12 96", "B12 412", "low vitamin B12"),
        ("MAP 56", "MAP 82", "low blood pressure"),
        ("UO 12 ml/hr", "UO 60 ml/h", "passing little or no urine"),
        ("lying 138/80, standing 104/62", "lying 138/80, standing 134/82", "fall of blood pressure on standing"),
        ("132/74 lying, 104/58 standing", "132/74 lying, 128/80 standing", "fall of blood pressure on standing"),
        (
            "R arm 188/100, L arm 132/80",
            "R arm 128/80, L arm 124/80",
            "different pulse or blood pressure in the two arms",
        ),
    ],
)
def test_a_normal_value_is_never_read_as_abnormal(abnormal: str, normal: str, words: str) -> None:
    assert (words, True) in told(abnormal)
    assert (words, False) in told(normal)
    assert all(not present for _, present in told(normal))


@pytest.mark.parametrize(
    "text", ["urea 4.8", "total protein 7.1", "Cl 101", "Mg 0.8", "chol 4.1", "anti-Xa 4 IU/mL", "lung ca 2.5 cm"]
)
def test_a_number_of_what_no_finding_tells_is_nothing_else(text: str) -> None:
    assert told(text) == set()


def test_values_of_one_that_are_high_by_the_tellers_word_alone_stay_words() -> None:
    assert readings("raised ALT 45") == []


@pytest.mark.parametrize(
    ("child", "told_of"),
    [
        ("18 month old boy, BP 84/50", {("low blood pressure", False), ("high blood pressure reading", False)}),
        ("18 month old boy, BP 64/40", {("low blood pressure", True)}),
        ("8-year-old, BP 134/88", {("high blood pressure reading", True)}),
        ("6 month old, HR 138, RR 36", {("fast heart rate", False), ("fast breathing", False)}),
        ("6 month old, HR 186, RR 64", {("fast heart rate", True), ("fast breathing", True)}),
        ("5-year-old, creat 88", {("raised creatinine or reduced kidney function", True)}),
        ("3-year-old, WCC 19.4", {("raised white blood cell count", True)}),
        ("newborn on day 3, HR 138", {("fast heart rate", False)}),
        ("3-year-old, BP 78/50", set()),
        ("9-year-old, BP 87/50", {("low blood pressure", True)}),
        ("14-year-old boy, BP 134/84", {("high blood pressure reading", True)}),
        ("13-year-old boy, Hb 125, ALP 320, BMI 17", {("low haemoglobin", False)}),
    ],
)
def test_children_have_ranges_of_their_own(child: str, told_of: set[tuple[str, bool]]) -> None:
    assert {t for t in told(child) if t[1]} == {t for t in told_of if t[1]}
    assert told_of <= told(child)


@pytest.mark.parametrize(
    ("series", "words"),
    [
        ("hs-cTnT 0h 18, 3h 96 ng/L", "raised troponin"),
        ("T0 trop 9, T3 trop 64", "raised troponin"),
        ("troponin 14 then 44", "raised troponin"),
        ("serial trops 12, 85", "raised troponin"),
        ("Trop <3 at 0h and 3h", "normal troponin"),
        ("hs-trop 0h 8, 3h 9", "normal troponin"),
    ],
)
def test_a_series_in_hours_is_read_to_its_end(series: str, words: str) -> None:
    assert told(series) == {(words, True)}


@pytest.mark.parametrize(
    "text",
    [
        "urine WCC 80",
        "joint aspirate: WCC 60,000",
        "Hb was 70 last March",
        "target HbA1c 53",
        "my mum's sugar is 22",
        "4-year-old, WCC 14, HR 130",
        "neutrophils 80%",
        "sats 96% on 2L O2",
        "troponin 0.4",
        "platelets for 4 weeks",
        "levothyroxine 50 mcg",
        "IOP R 14",
        "1 meter 70 tall",
        "room 3812, 120 people",
    ],
)
def test_what_is_of_another_fluid_time_person_or_unit_tells_nothing(text: str) -> None:
    assert told(text) == set()


@pytest.mark.parametrize(
    ("value", "told_of"),
    [
        ("PTH 45 pmol/L", {("raised parathyroid hormone", True)}),
        ("phosphate 2.9 mmol/L", {("raised phosphate in the blood", True)}),
        ("PaO2 45 kPa, FiO2 0.8", set()),
        ("pH 7.28, CO2 9", set()),
        ("overnight dexamethasone suppression, cortisol 32", set()),
        ("midnight cortisol 60", set()),
        ("9 am cortisol 60", {("low cortisol", True)}),
    ],
)
def test_a_unit_that_is_said_holds_and_a_test_of_its_own_is_no_plain_value(
    value: str, told_of: set[tuple[str, bool]]
) -> None:
    assert {t for t in told(value) if t[1]} == told_of


def test_the_unit_and_the_reference_range_belong_to_the_number() -> None:
    text = "Hb 84 g/L (115-165), WCC 12.3 x10^9/L"
    assert [text[v.start : v.end] for v in values(text)] == ["Hb 84 g/L (115-165)", "WCC 12.3 x10^9/L"]
    assert TAIL.match("") is not None


def test_every_measure_tells_findings_of_the_starter_graph_and_says_where_its_limits_come_from() -> None:
    named = {name for f in read_graph(STARTER).findings for name in (f.name, *f.say)}
    for measure in measures().values():
        for one in measure.get("tells", ()):
            assert any(name.startswith(one["words"]) for name in named), one
            assert one["origin"]
