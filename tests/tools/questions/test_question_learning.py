"""Questions learnt from use: never a person's, only what was accepted, and nothing is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from prompts.errors import DataError
from tools.questions.contract import Answer
from tools.questions.learning import Noted, accepted, note, read, refusal

PUBLIC = {"crohn", "gout", "parkinson"}


@pytest.mark.parametrize(
    "question",
    [
        "Does allopurinol prevent gout?",
        "Is mesalazine useful in mild Crohn disease?",
        "How long does a cough last in adults?",
        "Which statin for people over 75?",
    ],
)
def test_a_question_of_evidence_may_be_noted(question: str) -> None:
    assert refusal(question, "evidence", PUBLIC.__contains__) == ""


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
    ],
)
def test_a_case_and_whatever_may_speak_of_a_person_is_refused(question: str, kind: str) -> None:
    assert refusal(question, kind, PUBLIC.__contains__)


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
    assert sum(n.asked for n in read(file)) == 4


def test_a_damaged_review_file_is_told_and_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "learnt.yaml"
    file.write_text("- question: [")
    with pytest.raises(DataError, match="cannot be read"):
        note(file, [noted("Why gout?")])
    assert file.read_text() == "- question: ["
    assert read(tmp_path / "none.yaml") == []
