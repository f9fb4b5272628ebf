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
