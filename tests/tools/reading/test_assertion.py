"""How statements are made: what the trained head turns against the rules, and what it must leave."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from prompts.errors import DataError
from tools.reading import assertion
from tools.reading.assertion import Assertion, asserted, assertions, contexts
from tools.text.clauses import clauses


def told(text: str) -> dict[str, tuple[bool | None, bool, bool]]:
    return {c.text: (c.present, c.past, c.other) for c in asserted(text, clauses(text))}


def test_chances_of_a_clause_sum_to_one() -> None:
    text = "Chest pain since noon. No fever."
    found = assertions(contexts(text, clauses(text)))
    assert found.shape == (2, len(Assertion))
    assert found.sum(axis=1) == pytest.approx(np.ones(2), abs=1e-5)


@pytest.mark.parametrize(
    "text",
    [
        "I have had a dry cough for days",
        "My eyes are itchy",
        "She can't smell anything",
        "咳嗽三天",
        "no appetite at all",
    ],
)
def test_a_plain_statement_stays_as_the_rules_read_it(text: str) -> None:
    read = clauses(text)
    assert asserted(text, read) == read


@pytest.mark.parametrize(
    ("text", "clause", "expected"),
    [
        ("Denies fever, cough or chest pain.", "chest pain", (False, False, False)),
        ("My brother had diarrhoea last week. I feel fine.", "My brother had diarrhoea last week", (True, False, True)),
        ("Had a bad cough as a teenager, none since.", "Had a bad cough as a teenager", (True, True, False)),
    ],
)
def test_denials_the_past_and_other_people(text: str, clause: str, expected: tuple[bool | None, bool, bool]) -> None:
    assert next(v for k, v in told(text).items() if clause in k) == expected


def test_numbers_stay_as_they_are() -> None:
    text = "T 38.6, BP 84/50, CRP 2"
    assert asserted(text, clauses(text)) == clauses(text)


def test_damaged_weights_are_told(tmp_path: Path) -> None:
    copy = Path(shutil.copy(assertion.WEIGHTS, tmp_path))
    copy.with_suffix(".sha256").write_text("0" * 64)
    with pytest.raises(DataError, match="assertion head are damaged"):
        assertion.weights.__wrapped__(copy)


@pytest.mark.parametrize(
    "text",
    [
        "My daughter has a fever, her neck is stiff.",
        "My mum is 74. Her voice is hoarse.",
        "My wife is 34 weeks pregnant and has a headache.",
        "My son has a fever. I have given him Calpol.",
        "My mum is drowsy. I have noticed she is more confused.",
    ],
)
def test_the_patient_of_whom_somebody_tells_is_nobody_else(text: str) -> None:
    assert not any(other for _, _, other in told(text).values())


@pytest.mark.parametrize(
    "text",
    [
        "My sister has lupus. Lost my voice.",
        "My dad has gout and my toe is red.",
        "My nephew has eczema. I have an itch.",
        "Her brother was diagnosed with schizophrenia. She has a headache.",
    ],
)
def test_who_tells_of_oneself_or_of_her_is_the_patient_beside_a_relative(text: str) -> None:
    assert [other for _, _, other in told(text).values()] == [True, False]


def test_a_third_beside_the_patient_is_somebody_else() -> None:
    read = told("My daughter has a fever. Her brother had chickenpox last week.")
    assert [other for _, _, other in read.values()] == [False, True]


@pytest.mark.parametrize(
    "frame",
    [
        "She has {}.",
        "The patient also has {}.",
        "A 40-year-old woman has {}.",
        "The child has {}.",
        "Also {}.",
        "It is not that bad, the {}.",
    ],
)
@pytest.mark.parametrize("name", ["a headache", "fever", "a rash", "facial pain", "diarrhoea"])
def test_what_a_plain_sentence_says_is_of_the_patient_and_of_now(frame: str, name: str) -> None:
    assert [*told(frame.format(name)).values()][-1] == (True, False, False)
