"""Diagnosis texts cut into phrases."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tools.icd10.linking import phrases

NAMES = {"hand, foot and mouth disease", "copd with acute exacerbation"}
# what diagnosis texts are made of, so that random texts reach the rules
PIECES = st.sampled_from(
    "pneumonia|no|without|history of|s/p|?|(|)|（|）|1.|2)|;|,|and| |\n|型|肺炎|否认|、|待排|诊断：|type "
    "2|/|[|likely|ruled out|①|。|.|"
    "with|not|-|é".split("|")
)
TEXTS = st.one_of(
    st.text(max_size=60), st.lists(PIECES, max_size=14).map(" ".join), st.lists(PIECES, max_size=14).map("".join)
)


def known(words: str) -> bool:
    return words.lower() in NAMES


def told(text: str) -> list[str]:
    return [("?" * p.suspected) + ("<" * p.past) + p.text for p in phrases(text, known)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1. Pneumonia; 2. hypertension, gout and asthma", ["Pneumonia", "hypertension", "gout", "asthma"]),
        ("Hand, foot and mouth disease and asthma", ["Hand, foot and mouth disease", "asthma"]),
        ("Diabetes mellitus, type 2. Hypertension.", ["Diabetes mellitus, type 2", "Hypertension"]),
        ("Pneumonia. No evidence of PE, DVT or MI, but sepsis", ["Pneumonia", "sepsis"]),
        ("asthma, PE ruled out", ["asthma"]),
        ("acute MI. No evidence of PE. s/p stroke", ["acute MI", "<stroke"]),
        ("suspected appendicitis; s/p stroke; h/o gout", ["?appendicitis", "<stroke", "<gout"]),
        ("Family history of breast cancer; contact with tuberculosis; gout", ["gout"]),
        ("Progressive multifocal encephalopathy (PML)", ["Progressive multifocal encephalopathy"]),
        ("Hypertension (?), asthma (mild)", ["?Hypertension", "asthma"]),
        ("Final diagnosis: myasthenia gravis.", ["myasthenia gravis"]),
        ("The patient most likely has acute appendicitis", ["acute appendicitis"]),
        ("Pneumonia without effusion", ["Pneumonia"]),
        ("初步诊断：1、肺炎待排 2、2型糖尿病，不伴并发症；否认高血压、痛风", ["?肺炎", "2型糖尿病"]),
        ("诊断：①急性阑尾炎②腹膜炎", ["急性阑尾炎", "腹膜炎"]),
        ("冠心病 陈旧性心肌梗死 重症肌无力", ["冠心病", "<心肌梗死", "重症肌无力"]),
        ("(", []),
        ("no", []),
    ],
)
def test_phrases(text: str, expected: list[str]) -> None:
    assert told(text) == expected


@given(TEXTS)
@example("gout (acute pain) of the foot")
def test_any_text_gives_phrases_that_are_slices_in_order_without_overlap(text: str) -> None:
    found = phrases(text, known)
    assert all(text[p.start : p.end] == p.text and p.text.strip() for p in found)
    assert all(a.end <= b.start for a, b in pairwise(found))


@given(
    st.permutations(
        ["gout", "type 2 diabetes", "no asthma", "suspected sepsis", "肺炎", "hand, foot and mouth disease"]
    )
)
def test_the_order_of_a_list_changes_nothing_but_the_order(items: list[str]) -> None:
    expected = {"gout", "type 2 diabetes", "?sepsis", "肺炎", "hand, foot and mouth disease"}
    assert set(told("; ".join(items))) == expected
    assert set(told("\n".join(f"{n}. {item}" for n, item in enumerate(items, start=1)))) == expected
