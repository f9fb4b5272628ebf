"""The case as facts: what was told is never lost, and each fact says which message told it and which superseded it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.agent import Agent
from agent.loop import run
from agent.settings import Settings
from graphs.context import TurnContext, case_facts
from graphs.state import State
from graphs.triage.contract import SessionView
from graphs.triage.facts import Edit, Fact, changes_in, extend, fact_of, facts_of, join, supersede, text_of
from graphs.triage.local import TriageLocal
from support.machine_parts import parts
from tools.store import ContentStore

TRIAGE = TriageLocal()
SAID = "45F with pain in the right knee for 2 weeks."


def facts_after(*messages: str) -> tuple[Fact, ...]:
    view = SessionView()
    for turn, text in enumerate(messages, start=1):
        told = TRIAGE.decide_now(text, view)
        facts = told.facts or view.facts
        view = SessionView(messages=(*view.messages, text), turn=turn + 1, facts=facts, kind=told.kind.value)
    return view.facts


def test_a_fact_put_right_twice_tells_every_message_that_did() -> None:
    said = (
        "A man of 60 has pain in the right knee for two days.",
        "sorry, the left knee",
        "no, it was the right knee after all",
    )
    facts = facts_after(*said)
    assert text_of(facts).startswith(said[0])
    assert [(f.text, f.turn, f.by, f.now) for f in facts if f.by] == [("right", 1, 2, "left"), ("left", 2, 3, "right")]
    assert all(said[f.turn - 1][slice(*f.span)] == f.text for f in facts if f.span and f.turn in (1, 2))
    assert [(f.text, f.now) for f in changes_in(facts, 3)] == [("left knee", "right knee")]


def test_a_denial_supersedes_what_was_told_and_leaves_it_on_record() -> None:
    facts = facts_after("45F fever, cough for 3 days.", "she doesn't have a fever")
    assert text_of(facts) == "45F, cough for 3 days. She doesn't have a fever."
    (gone,) = changes_in(facts)
    assert (gone.text.strip(), gone.turn, gone.by, gone.now) == ("fever", 1, 2, "she doesn't have a fever")


def test_what_is_told_beside_a_question_or_an_answer_keeps_its_place_in_the_message() -> None:
    asked = "Can she have ibuprofen? My mother is 82 and takes warfarin."
    (fact,) = TRIAGE.decide_now(asked, SessionView()).facts
    assert asked[slice(*fact.span or (0, 0))] == fact.text == "My mother is 82 and takes warfarin."
    assert fact_of("nope", 4, "Denies fever.").span == (0, 4)


@given(
    st.text(max_size=30), st.lists(st.tuples(st.integers(0, 30), st.integers(0, 8), st.text(max_size=4)), max_size=6)
)
def test_whatever_is_superseded_the_message_can_be_read_from_its_facts(
    message: str, edits: list[tuple[int, int, str]]
) -> None:
    facts = facts_of(message, 1)
    for turn, (start, length, put) in enumerate(edits, start=2):
        text = text_of(facts)
        start = min(start, len(text))
        end = min(start + length, len(text))
        if start == end:
            continue
        facts = supersede(facts, [Edit((start, end), Fact(text=put, turn=turn, span=(0, len(put))))], turn)
        assert text_of(facts) == text[:start] + put + text[end:]
        assert "".join(f.text for f in facts if f.turn == 1) == message
        assert all(message[slice(*f.span)] == f.text for f in facts if f.turn == 1 and f.span)


def test_further_statements_stand_behind_each_other() -> None:
    facts = extend(facts_of("Cough", 1), [fact_of("and fever. also chills", 2, "fever."), fact_of("also chills", 2)])
    assert text_of(facts) == "Cough. Fever. also chills."
    assert join("发热", "咳嗽") == "发热。咳嗽。"
    assert extend((), facts_of("Cough", 1)) == facts_of("Cough", 1)


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("A man of 39 asks about a vasectomy.", "His wife is 37 and is tired of the pill."),
        ("My girl is 7 and wets the bed.", "She was dry for two years from age 4."),
        ("Community nurse: lady, 85, venous ulcer left leg.", "Swab sent, chart was mixed up with next patient."),
        ("My dad has myasthenia, he's 72.", "He takes pyridostigmine."),
        ("BP 150/90 at the pharmacy, 46m, no meds.", "138/84 at home tonight"),
    ],
)
def test_what_is_told_of_others_of_other_times_and_after_an_answer_loses_nothing(first: str, then: str) -> None:
    facts = facts_after(first, then)
    assert text_of(facts).rstrip(".") == f"{first} {then}".rstrip(".")
    assert changes_in(facts) == ()


def test_an_answer_and_an_export_show_what_superseded_what(tmp_path: Path) -> None:
    with Agent(Settings(home=tmp_path), parts=replace(parts(), triage=TRIAGE)) as agent:
        agent.ask(SAID, session="knee")
        told = agent.ask("no, the left knee", session="knee")
        again = agent.ask("It is swollen too.", session="knee")
        turns = json.loads(run(agent.records.export("knee", "json")))["turns"]
    expected = {
        "text": "right knee",
        "turn": 1,
        "span": [SAID.index("right"), SAID.index(" knee")],
        "by": 2,
        "now": "left knee",
    }
    assert [n.code for n in told.notices if n.code == "case_corrected"]
    assert [n.code for n in again.notices if n.code == "case_corrected"] == []
    assert [t["answer"]["superseded"] for t in turns] == [[], [expected], [expected]]
    assert turns[0]["asked"] == SAID


def test_a_session_stored_without_facts_goes_on_from_its_text(tmp_path: Path) -> None:
    context = TurnContext(session="s", run="s/2", store=ContentStore(tmp_path / "texts.sqlite"))
    state = State(case_key=context.store.put("s", "45F with a cough."))
    assert case_facts(state, context) == (Fact(text="45F with a cough."),)
    state["facts_key"] = context.keep_list(Fact, facts_of("an earlier case", 1))
    assert text_of(case_facts(state, context)) == "45F with a cough."
    state["facts_key"] = context.keep_list(Fact, facts_of("45F with a cough.", 1))
    assert case_facts(state, context) == facts_of("45F with a cough.", 1)
