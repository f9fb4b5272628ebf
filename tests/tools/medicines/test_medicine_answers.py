"""What a record answers to the question that was asked; the trained head on questions of this file alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from prompts.errors import DataError
from support.scripted_reader import BESIDE, YES, ScriptedReader
from tools.medicines import answering
from tools.medicines.answering import ASKS, SAID, Bars, answer_of, decided, probabilities, see, unnamed
from tools.medicines.checks import Answer, check
from tools.reading.contract import Reader
from tools.reading.reader import TrainedReader


@pytest.fixture(name="reader", scope="module")
def _reader() -> Reader:
    return TrainedReader()


def answer(question: str, reader: Reader, told: str = "") -> Answer:
    return answer_of(question, told, check(question, told), reader)


@pytest.mark.parametrize(
    ("question", "wrong"),
    [
        ("Do corticosteroids make a torn tendon likelier in people on levofloxacin?", "no"),
        ("Does dolutegravir make metformin levels rise?", "no"),
        ("Must low potassium be put right before domperidone is given?", "no"),
        ("Can procainamide bring on lupus?", "no"),
        ("Does warfarin need its INR looked at sooner when cefalexin is added?", "no"),
    ],
)
def test_a_question_of_an_effect_is_not_answered_as_one_for_leave(question: str, wrong: str, reader: Reader) -> None:
    found = check(question)
    assert found.checks, "a record speaks of it"
    assert answer(question, reader) != wrong


@pytest.mark.parametrize(
    ("question", "told", "right"),
    [
        ("Can I take ibuprofen with my warfarin?", "", "no"),
        ("Is it dangerous to take sildenafil with a GTN spray?", "", "yes"),
        ("ok to give her ramipril?", "She is 14 weeks pregnant.", "no"),
        ("She takes simvastatin and needs clarithromycin for a chest infection. Is that a problem?", "", "yes"),
        ("He takes lithium. I want to add naproxen. Is there an issue with that?", "", "yes"),
    ],
)
def test_a_danger_is_told(question: str, told: str, right: str, reader: Reader) -> None:
    assert answer(question, reader, told) == right


def test_where_nothing_is_found_and_of_what_is_asked_openly_there_is_no_answer(reader: Reader) -> None:
    assert answer("Is the weather fine?", reader) == ""
    assert answer("Why is ibuprofen avoided with warfarin?", reader) == ""
    assert answer("Metal valve, warfarin or dabigatran?", reader) == ""
    assert answer("Can I take ibuprofen or naproxen with warfarin?", reader) == "no"


@pytest.mark.parametrize("heading", ["ibuprofen with warfarin: bleeding", "warfarin + ibuprofen"])
def test_of_two_medicines_in_a_heading_the_interaction_is_told_without_an_answer(reader: Reader, heading: str) -> None:
    assert check(heading).checks
    assert answer(heading, reader) == ""
    assert not check("Takes warfarin and ibuprofen.").checks


def test_to_other_languages_the_rules_answer() -> None:
    question = "华法林和布洛芬可以一起吃吗？"
    found = check(question)
    assert found.checks
    assert answer_of(question, "", found, ScriptedReader({})) == found.answer(found.checks[0])


def test_what_is_not_sure_is_not_told_and_a_warning_needs_less() -> None:
    found = check("Can I take ibuprofen with my warfarin?")
    assert found.warns
    assert decided(found, [0.05, 0.7, 0.2, 0.05], Bars()) == "no"
    assert decided(found, [0.7, 0.05, 0.2, 0.05], Bars()) == ""
    assert decided(found, [0.85, 0.05, 0.05, 0.05], Bars()) == ""
    assert decided(found, [0.95, 0.02, 0.02, 0.01], Bars()) == "yes"
    patient = check("Can I take ibuprofen?", "I am on warfarin.")
    assert not patient.general
    assert decided(patient, [0.05, 0.3, 0.2, 0.45], Bars()) == "no"


def test_probabilities_sum_to_one_and_hang_on_what_the_reader_sees() -> None:
    question = "Does ibuprofen raise lithium levels?"
    found = check(question)
    rows = [see([(question, "", found)], ScriptedReader(table))[0] for table in ({}, dict.fromkeys(_said(found), YES))]
    told = [probabilities(row) for row in rows]
    assert all(len(p) == len(SAID) and sum(p) == pytest.approx(1.0) for p in told)
    assert told[1][SAID.index("yes")] > told[0][SAID.index("yes")]
    assert BESIDE.stances != YES.stances


def _said(found: object) -> list[str]:
    from tools.medicines.checks import Checked
    from tools.text.sentences import sentences

    assert isinstance(found, Checked)
    return [text for c in found.checks for text in (c.says, *(s.of(c.says) for s in sentences(c.says)))]


def test_names_of_medicines_do_not_count() -> None:
    assert unnamed("Does ibuprofen raise lithium levels?") == "Does drug raise drug levels?"
    assert len(ASKS) == 4


def test_damaged_weights_are_told(tmp_path: Path) -> None:
    damaged = tmp_path / "answering.safetensors"
    damaged.write_bytes(answering.WEIGHTS.read_bytes()[:-1])
    damaged.with_suffix(".sha256").write_bytes(answering.WEIGHTS.with_suffix(".sha256").read_bytes())
    with pytest.raises(DataError, match="damaged"):
        answering.trained.__wrapped__(damaged)
