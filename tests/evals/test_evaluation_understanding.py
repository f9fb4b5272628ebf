"""The task `understanding` on made-up rows: what counts as refused, declined, found and falsely flagged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent.settings import Settings
from evals.contract import TaskContext
from evals.datasets.messages import KIND_OF, Message, Told, mild_conditions, read_questions
from evals.datasets.rows import read_jsonl
from evals.tasks import understanding
from evals.tasks.understanding import Marked, Note, emergency_figures, message_figures, question_figures
from graphs.triage.contract import Kind, RedFlag, TriageDecision
from tools.contract import Finding
from tools.reading import corpus

FLAG = RedFlag(code="stroke", seen="possible stroke", advice="Call.")


def decision(kind: Kind, *flags: RedFlag) -> TriageDecision:
    return TriageDecision(kind=kind, language="en", question="q", red_flags=flags, reason="r")


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_what_counts_as_refused_and_as_a_case() -> None:
    read = [decision(Kind.EVIDENCE), decision(Kind.OUT_OF_SCOPE), decision(Kind.ASSISTANT), decision(Kind.CASE, FLAG)]
    values = {f.name: f.value for f in question_figures("kinds.toy", read)}
    assert values == {"kinds.toy.refused": 50, "kinds.toy.as_case": 25, "kinds.toy.as_emergency": 25}
    assert question_figures("kinds.toy", []) == []


def test_kinds_are_counted_by_language_and_other_fields_apart() -> None:
    rows = [Message(text="a b", kind="question"), Message(text="c d", kind="other"), Message(text="天气", kind="other")]
    read = [decision(Kind.EVIDENCE), decision(Kind.EVIDENCE), decision(Kind.OUT_OF_SCOPE)]
    values = {f.name: f.value for f in message_figures("toy", rows, read, seed=0)}
    assert values["kinds.toy_en.right"] == 50
    assert values["kinds.toy_zh.right"] == 100
    assert (values["other.toy_en.declined"], values["other.toy.declined"]) == (0, 50)


def test_emergencies_are_counted_with_the_head_and_without() -> None:
    rows = [Marked(True, True, False, 0.6), Marked(True, False, False, 0.04), Marked(False, True, True, 0.9)]
    values = {f.name: f.value for f in emergency_figures("toy", rows)}
    assert values["emergencies.toy.found"] == 50
    assert values["emergencies.toy.found_by_numbers"] == 0
    assert values["emergencies.toy.found_from_70"] == 0
    assert values["emergencies.toy.found_from_50"] == 50
    assert values["emergencies.toy.look_alikes_flagged"] == 100


def test_rows_of_every_source_are_read(tmp_path: Path) -> None:
    rows = [{"text": "x", "label": "look_alike"}, {"text": "y", "emergency": True}]
    assert [row.emergency for row in read_jsonl(write(tmp_path / "e.jsonl", rows), Told)] == [False, True]
    for name in ("question", "Question", "message"):
        assert read_questions(write(tmp_path / f"{name}.jsonl", [{name: "why?"}])) == ["why?"]
    conditions = {"a": {"condition_name": "Bad", "severity": 1}, "b": {"condition_name": "Cold", "severity": 5}}
    path = tmp_path / "ddxplus" / "release_conditions.json"
    path.parent.mkdir()
    path.write_text(json.dumps(conditions))
    assert mild_conditions(tmp_path) == {"Cold"}
    assert set(KIND_OF.values()) <= set(Kind)
    assert Told(text="x", label="emergency").emergency  # type: ignore[call-arg]


def test_questions_that_were_trained_on_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus, "division", lambda: {"bioasq": frozenset({"j"}), "pubmedqa": frozenset()})
    write(tmp_path / understanding.BIOASQ, [{"id": "j", "question": "Judged?"}, {"id": "f", "question": "Fitted?"}])
    context = TaskContext(tmp_path, 10, 0, Settings(home=tmp_path / "home"))
    assert understanding.question_sets(context) == {"bioasq": ["Judged?"]}


def test_findings_of_a_text_are_counted_with_their_assertions_and_without(monkeypatch: pytest.MonkeyPatch) -> None:
    notes = [
        Note(text="a", language="en", style="lay", findings=(("fever", "absent"), ("cough", "past")), unlisted=("x",)),
        Note(text="b", language="en", style="lay", findings=(("rash", "present"),)),
    ]
    said = {"a": {("fever", "absent"), ("cough", "present")}, "b": {("rash", "present"), ("itch", "present")}}
    read = [(note, said[note.text]) for note in notes]
    values = {f.name: f.value for f in understanding.note_figures(read, seed=0)}
    assert values["findings.lay.precision"] == 50
    assert values["findings.lay.recall"] == pytest.approx(200 / 3)
    assert values["findings.lay.ids.f1"] == pytest.approx(600 / 7)
    assert values["findings.lay.unlisted"] == 1
    assert not any(name.startswith("findings.zh") for name in values)


@pytest.mark.parametrize(
    ("present", "told"),
    [(True, "present"), (False, "absent"), (None, "possible")],
)
def test_how_a_finding_is_stated(present: bool | None, told: str) -> None:
    assert understanding.assertion(Finding(name="n", clause="c", present=present)) == told
