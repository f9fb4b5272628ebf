"""Abbreviations that depend on the text, that the text defines, and where the written-out words come from."""

from __future__ import annotations

import pytest

from tools.text.abbreviations import ANY_CASE, CAPITALS, CHINESE, SENSES, expand
from tools.text.clauses import clauses
from tools.text.definitions import definitions


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("CP radiating to the arm", "chest pain"),
        ("CP since birth, wheelchair user", "cerebral palsy"),
        ("PE: chest clear", "physical examination"),
        ("? PE after flight", "pulmonary embolism"),
        ("sats 95% RA", "on air"),
        ("known RA on methotrexate, swollen joints", "rheumatoid arthritis"),
        ("RA", "RA"),
        ("MS with optic neuritis", "multiple sclerosis"),
        ("CP 40/60", "40 minutes"),
        ("swelling x3d", "for 3 days"),
        ("纳差，既往房颤", "心房颤动"),
    ],
)
def test_a_sense_is_taken_from_the_text_or_left(text: str, holds: str) -> None:
    assert holds in expand(text)


def test_the_whole_case_decides_the_sense_of_a_clause() -> None:
    told = [c.told for c in clauses("Wheelchair user with CP. Now has a cough.")]
    assert any("cerebral palsy" in t for t in told)


def test_what_the_text_defines_counts_before_the_table() -> None:
    text = "Seen for motion sickness (MS). MS is worse in cars."
    assert definitions(text) == {"MS": "motion sickness"}
    assert "motion sickness is worse" in expand(text)
    assert definitions("a scan (CT) and the wrong words (XYZ)") == {}


def test_bracketed_signs_deny_and_state() -> None:
    told = {c.text.split("(")[0]: c.present for c in clauses("右下腹压痛(+)，反跳痛(-)。")}
    assert told["反跳痛"] is False
    assert [v for k, v in told.items() if "压痛" in k] == [True]


def test_the_table_is_large_and_no_entry_stands_twice() -> None:
    assert len(ANY_CASE) + len(CAPITALS) + len(SENSES) + len(CHINESE) >= 250
    assert not set(CAPITALS) & set(SENSES)
