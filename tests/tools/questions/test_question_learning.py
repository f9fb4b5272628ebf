"""Questions learnt from use: never a person's, only what was accepted, and nothing is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from prompts.errors import DataError
from tools.files import locked
from tools.questions import learning
from tools.questions.contract import Answer, QuotedAnswer
from tools.questions.learning import Noted, accepted, note, read, refusal
from tools.text.tokens import STOP

PUBLIC = frozenset(
    "after allopurinol an and are as attack baker bad be blood brown can colchicine cough crohn cyst disease does dose "
    "found from gout have help helps hiv how in is it last long man mesalazine mild need of old one over people for "
    "result safe should statin surgery tablet take test the to treated treatment type useful warfarin was were what "
    "which who with women adults against prevent when".split()
)


@pytest.mark.parametrize(
    "question",
    [
        "Does allopurinol prevent gout?",
        "Is mesalazine useful in mild Crohn disease?",
        "How long does a cough last in adults?",
        "Which statin for people over 75?",
        "How is a Baker cyst treated?",
        "Can Crohn's disease last in HIV?",
    ],
)
def test_a_question_of_evidence_may_be_noted(question: str) -> None:
    stored = "Is a Baker cyst found in Crohn disease with HIV?"
    assert refusal(question, "evidence", PUBLIC.__contains__, stored) == ""


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Does allopurinol prevent gout?", "case"),
        ("Does allopurinol prevent gout?", "follow_up"),
        ("Can I take colchicine with my tablets?", "evidence"),
        ("What should a 62-year-old with gout take?", "evidence"),
        ("Does Mr Miller need allopurinol?", "evidence"),
        ("What helps against gout as in Johanna Miller?", "evidence"),
        ("Is the result 4711023 of gout bad?", "evidence"),
        ("Was the attack of 12.03.2024 gout?", "evidence"),
        ("Which tablet for the patient in bed three?", "evidence"),
        ("Does her son need a test?", "evidence"),
        ("患者可以吃别嘌醇吗？", "evidence"),
        (" ".join(["gout"] * 41), "evidence"),
        ("Is warfarin safe after surgery on 3 March 2024?", "evidence"),
        ("Is warfarin safe after surgery in May 2024?", "evidence"),
        ("Garcia, gout: which allopurinol dose?", "evidence"),
        ("Brown, gout: which allopurinol dose?", "evidence"),
        ("Smith with gout: which dose?", "evidence"),
        ("Which dose in JOHN SMITH with gout?", "evidence"),
        ("Which dose for john smith?", "evidence"),
        ("Which dose for gout (Smith, room 12)?", "evidence"),
        ("Does Émilie need allopurinol?", "evidence"),
        ("Does E\u0301milie need allopurinol?", "evidence"),
        ("Which dose in 62F with gout?", "evidence"),
        ("Which dose for a 62 y.o. man?", "evidence"),
        ("Which dose for a man of 62?", "evidence"),
        ("Is gout treated in MRN 4821?", "evidence"),
        ("张三的痛风怎么治?", "evidence"),
        ("Treatment of gout in Baker", "evidence"),
        ("Is allopurinol safe for BAKER?", "evidence"),
    ],
)
def test_a_case_and_whatever_may_speak_of_a_person_is_refused(question: str, kind: str) -> None:
    assert refusal(question, kind, (PUBLIC | {"mrn", "room"}).__contains__, "How is a Baker cyst treated?")


@given(st.text(st.characters(categories=["L"], exclude_characters="aA"), min_size=1, max_size=8), st.integers(0, 5))
def test_no_word_that_is_not_public_is_noted_wherever_it_stands(name: str, at: int) -> None:
    assume(name.lower() not in STOP)
    words = "does warfarin help in gout".split()
    asked = " ".join([*words[:at], name, *words[at:]])
    assert (refusal(asked, "evidence", PUBLIC.__contains__) == "") == (name in PUBLIC)


def noted(question: str, accept: bool = False) -> Noted:
    answer = Answer(document="own:gout", start=0, end=4)
    return Noted(question=question, like="What is gout?", answer=answer, quote="Gout", accept=accept)


def test_a_question_asked_again_is_counted_and_a_review_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "learnt.yaml"
    assert note(file, [noted("Why gout?"), noted("How is gout?")]) == 2
    rows = yaml.safe_load(file.read_text())
    rows[0]["accept"] = True
    file.write_text(yaml.safe_dump(rows))
    assert note(file, [noted("why GOUT?"), noted("Where is gout?")]) == 1
    assert {n.question: (n.asked, n.accept) for n in read(file)}[rows[1]["question"]][1] is False
    assert [q.text for q in accepted(file)] == [rows[0]["question"]]
    assert [q.writer for q in accepted(file)] == ["learnt"]
    assert [q.answers for q in accepted(file)] == [(QuotedAnswer(document="own:gout", start=0, end=4, quote="Gout"),)]
    assert sum(n.asked for n in read(file)) == 4


def test_a_damaged_review_file_is_told_and_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "learnt.yaml"
    file.write_text("- question: [")
    with pytest.raises(DataError, match="cannot be read"):
        note(file, [noted("Why gout?")])
    assert file.read_text() == "- question: ["
    assert read(tmp_path / "none.yaml") == []
    file.write_bytes("- question: gout é".encode("latin-1"))
    with pytest.raises(DataError, match="cannot be read"):
        note(file, [noted("Why gout?")])


def test_a_turn_waits_but_shortly_for_notes_that_another_process_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert learning.WAIT <= 5
    monkeypatch.setattr(learning, "WAIT", 0.05)
    file = tmp_path / "learnt.yaml"
    with locked(file), pytest.raises(DataError, match="Another process"):
        note(file, [noted("Why gout?")])
