"""Pairs of medicines that pharmacology texts name as dangerous: each stands in a record, whoever is asked about."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from tools.medicines.checks import check
from tools.medicines.records import Record, starter_records
from tools.yaml_files import read_yaml

GRAVEST = ("severe", "moderate", "mild")
BARS = read_yaml(Path(__file__).with_name("bars.yaml"))
ROWS = read_yaml(Path(__file__).with_name("dangers.yaml"))


def _own() -> dict[str, Record]:
    return {n.lower(): r for r in starter_records() for n in (*r.names, r.name)}


def _held(own: dict[str, Record], one: str, other: str) -> list[str]:
    """The severities with which the records of two medicines speak of each other."""
    out = []
    for of, beside in ((one, other), (other, one)):
        record = own.get(beside.lower())
        names = {
            beside.lower(),
            *(n.lower() for n in ((record.name, *record.names, *record.classes) if record else ())),
        }
        told = own[of.lower()].interactions if of.lower() in own else ()
        out += [i.severity.value for i in told if names & {o.lower() for o in i.others}]
    return out


def test_every_pair_stands_in_a_record_at_least_so_grave() -> None:
    own = _own()
    assert len(ROWS) > 100
    missing = [
        (one, other)
        for row in ROWS
        for one, other in product(row["one"], row["other"])
        if one != other and not set(GRAVEST[: GRAVEST.index(row["severity"]) + 1]) & set(_held(own, one, other))
    ]
    assert missing == []


def test_what_a_condition_bars_is_advised_against() -> None:
    assert sum(len(row["barred"]) for row in BARS) > 400
    missing = [
        (row["told"], medicine)
        for row in BARS
        for medicine in row["barred"]
        if not check(f"The patient {row['told']}. Can they take {medicine}?").warns
    ]
    assert missing == []


@pytest.mark.parametrize(
    ("question", "case", "answer"),
    [
        ("Levitra, thoughts?", "On nicorandil for angina.", "no"),
        ("Any reason not to give tadalafil to a man who uses a GTN spray?", "", "yes"),
        ("Pen allergic (anaphylaxis). Tazocin?", "", "no"),
        ("Aspirin makes me wheeze badly. Voltarol for my back?", "", "no"),
        ("simva 40 and itraconazole for nails. fine to run both?", "", "no"),
        ("eye clinic gave timolol drops. he's asthmatic, on Seretide. is that ok", "", "no"),
        ("eGFR has dropped to 24, does she need to stop metformin?", "", "yes"),
        ("K 5.9. Start spironolactone?", "", "no"),
        ("Had two stents last year. Imigran?", "", "no"),
        ("I'm on Humira. yellow fever jab?", "", "no"),
        ("Does it raise digoxin levels?", "She takes amiodarone.", "yes"),
        ("Burkitt's, G6PD deficient. Rasburicase?", "", "no"),
    ],
)
def test_a_danger_is_heard_in_whatever_words_it_is_asked(question: str, case: str, answer: str) -> None:
    found = check(question, case)
    assert found.checks
    assert found.answer(found.checks[0]) == answer


@pytest.mark.parametrize(
    ("question", "case"),
    [
        ("does an antibiotic stop it working", "I take Microgynon"),  # one antibiotic of many does
        ("Is ibuprofen the cause of her ulcer?", "She takes ibuprofen."),
        ("CKD 3, can I use paracetamol for my knee?", ""),  # of severe disease alone the page speaks
        ("glaucoma in asthmatic, can we use latanoprost?", ""),
        ("not pregnant. ibuprofen for period pain?", ""),
        ("Microgynon and a hepatitis A jab?", ""),
        ("eGFR 55. apixaban for AF?", ""),  # its page asks for care from 29 down
    ],
)
def test_what_is_harmless_is_not_warned_of(question: str, case: str) -> None:
    assert [c for c in check(question, case).checks if c.advice.value != "usual"] == []


def test_weeks_after_a_birth_are_no_pregnancy() -> None:
    assert {c.beside for c in check("breastfeeding at 8 weeks. Cerazette?").checks} == {"breastfeeding"}
