"""Traces are read back whole; answers are shown so that a reader finds emergency, source and quote."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from agent.cli.ask import parse_options
from agent.cli.render import show_answer
from agent.cli.trace import outcome_of, tree_of
from agent.trace import TraceRecorder, list_runs
from graphs.answering.contract import Answer, Choice
from graphs.triage.contract import RedFlag
from prompts.errors import InputError
from support.ranked import ranked
from support.traces import read_trace
from tools.contract import FollowUpQuestion, Notice
from tools.evidence import Evidence, Origin, Statement, cite

TEXT = "Dexamethasone shortens croup. [It] is given once."


def answer(**changes: object) -> Answer:
    source = Evidence(
        id=f"library:croup@0-{len(TEXT)}", text=TEXT, title="Croup", kind="monograph", origin=Origin.RETRIEVED
    )
    statement = Statement(text="Dexamethasone shortens croup.", origin=source.origin, citations=(cite(source, 0, 29),))
    disease = ranked(
        "croup", 0.75, name="Croup", name_zh="急性喉炎", icd10="J05.0", severity="urgent",
        findings_for=("barking cough",), findings_against=("no stridor",),
    )  # fmt: skip
    fields: dict[str, object] = {
        "question": "q",
        "kind": "case",
        "language": "en",
        "statements": [statement],
        "evidence": [source],
        "differential": [disease],
        "follow_up_questions": [FollowUpQuestion(finding="stridor", text="Is breathing noisy?", gain=0.4)],
        "notices": [Notice(code="x", text="A [bold]notice[/bold].")],
        "emergency": [RedFlag(code="airway", seen="drooling", advice="Call 112 now.")],
        "run": "s/1",
    }
    return Answer.model_validate({**fields, **changes})


def shown(item: Answer) -> str:
    out = io.StringIO()
    show_answer(Console(file=out, width=120, highlight=False), item)
    return out.getvalue()


def test_an_answer_shows_emergency_first_then_statement_source_and_table() -> None:
    text = shown(answer())
    order = ["EMERGENCY", "Croup fits best", "J05.0", "Dexamethasone shortens croup. [1]", "Is breathing noisy?"]
    order += ["Retrieved", "[bold]"]
    places = [text.index(part) for part in order]
    assert places == sorted(places)
    assert "\x1b[" not in text, "colour where there is no terminal"
    for part in ("75%", "barking cough", "no stridor", "library:croup"):
        assert part in text


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_a_study_was_compared_with_stands_in_its_row_wherever_it_is_shown(language: str) -> None:
    text = "In 3730 adults, it lowered admissions compared with placebo (hazard ratio 0.75)."
    trial = Evidence(
        id=f"pubmed:1@0-{len(text)}", text=text, kind="abstract", level="randomised trial", origin=Origin.RETRIEVED
    )
    said = Statement(text=text, origin=trial.origin, citations=(cite(trial, 0, len(text)),))
    item = answer(kind="evidence", statements=[said], evidence=[trial], differential=[], language=language)
    head = {"en": "Compared with", "zh": "对照"}[language]
    for told in (shown(item), item.to_markdown(), item._repr_html_()):
        assert head in told
        assert re.search(rf"(?:[|│>]|{head}:) *placebo *(?:[|│<]|$)", told, re.MULTILINE), told


def test_a_statement_without_source_is_marked() -> None:
    parametric = Statement(text="Known by heart.", origin=Origin.PARAMETRIC)
    assert "Known by heart. (not retrieved, not verified)" in shown(answer(statements=[parametric]))


def test_a_choice_and_an_abstention_are_said() -> None:
    choice = Choice(label="B", text="Dexamethasone", reason="one source supports it")
    assert "B: Dexamethasone" in shown(answer(choice=choice))
    assert "No answer is given." in shown(answer(statements=[], abstained=True))


def test_a_chinese_answer_uses_chinese_names() -> None:
    assert "急性喉炎" in shown(answer(language="zh"))


def test_a_trace_survives_a_kill_and_odd_characters(tmp_path: Path) -> None:
    recorder = TraceRecorder(tmp_path, "s1/1")
    recorder.event("step_started", step="triage")
    recorder.event("step_finished", step="triage", seconds=0.01, summary="胸痛 [case] \u2028 end")
    recorder.close()
    with recorder.path.open("ab") as file:
        file.write('{"kind": "cut 胸'.encode()[:-1])
    again = TraceRecorder(tmp_path, "s1/1")
    again.event("answered")
    again.close()
    events = read_trace(tmp_path, "s1/1")
    assert [e["kind"] for e in events] == ["run", "step_started", "step_finished", "damaged_line", "run", "answered"]
    out = io.StringIO()
    Console(file=out, width=100).print(tree_of("s1/1", events))
    assert "triage  10 ms  胸痛 [case]" in out.getvalue()
    assert "damaged" in out.getvalue()
    assert list_runs(tmp_path) == ["s1/1"]


def test_an_unknown_run_is_an_input_error(tmp_path: Path) -> None:
    for run in ("s1/2", "s1", "../x/1", "s1/one"):
        with pytest.raises(InputError):
            read_trace(tmp_path, run)


def test_options_are_read_and_slips_are_named() -> None:
    assert parse_options(["A=yes", "B = no"]) == {"A": "yes", "B": "no"}
    assert parse_options([]) is None
    for slip in (["A"], ["=x"], ["A="], ["A=x", "A=y"]):
        with pytest.raises(InputError):
            parse_options(slip)


def test_the_outcome_of_a_turn_is_told_in_a_few_words() -> None:
    assert outcome_of(None) == "not finished"
    assert outcome_of(answer()) == "emergency, Croup"
    assert outcome_of(answer(emergency=[], outside=True)) == "outside the graph, near Croup"
    assert outcome_of(answer(emergency=[], differential=[])) == "answered"
    assert outcome_of(answer(statements=[], abstained=True, emergency=[])) == "no answer"
    choice = Choice(label="B", text="Dexamethasone", reason="one source supports it")
    assert outcome_of(answer(emergency=[], choice=choice)) == "option B"
