"""What is told with an answer once it is verified: what rests on generated text, and that nothing useful was found."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agent.agent import Agent
from agent.settings import Settings
from graphs.answering.contract import Answer, AnswerView, Diagnosis, Draft, Patient, patient_of
from graphs.triage.contract import RedFlag
from graphs.triage.local import TriageLocal
from support.machine_parts import Query, Scripted, SearchTool, parts
from tools.contract import AnsweredQuestion, FollowUpQuestion, Notice, ToolArtifact, ToolContext
from tools.evidence import Origin, Statement, cite

FIRST, SECOND, LOST = "Cool air may help.", "Steam may help.", "A fact that is lost."


class Answering(Scripted):
    """Answers with what it found and two statements on background; its verifier drops one statement."""

    async def answer(self, view: AnswerView) -> Draft:
        told = [Statement(text=LOST, origin=Origin.PARAMETRIC)]
        told += [Statement(text=e.text, origin=e.origin, citations=(cite(e, 0, 6),)) for e in view.evidence]
        told += [Statement(text=t, origin=Origin.PARAMETRIC) for t in (FIRST, SECOND)]
        generated = {FIRST: ("generated:a",), SECOND: ("generated:a", "generated:b")}
        return Draft(statements=tuple(told), generated=generated)

    async def verify(self, draft: Draft, evidence: object) -> Draft:
        kept = tuple(s for s in draft.statements if s.text != LOST)
        return draft.model_copy(update={"statements": kept})


def asked(home: Path, script: Scripted) -> Answer:
    with Agent(Settings(home=home), parts=parts(script)) as agent:
        return agent.ask("croup?")


def test_what_rests_on_generated_background_is_listed_by_its_place_in_the_verified_answer(tmp_path: Path) -> None:
    answer = asked(tmp_path / "home", Answering(plan_of={1: ["croup"]}))
    (told,) = [n.text for n in answer.notices if n.code == "rests_on_generated"]
    assert [s.text for s in answer.statements][1:] == [FIRST, SECOND]
    assert told.endswith(": 2 (generated:a); 3 (generated:a, generated:b).")


class ByModel(Answering):
    """A model's answer to a case: its diagnoses, an emergency that it sees, and the points that it leaves open."""

    left: tuple[str, ...] = ("recurrence",)

    async def answer(self, view: AnswerView) -> Draft:
        draft = await super().answer(view)
        seen = RedFlag(code="named_by_model", seen="cold and grey", advice="Call for help.")
        asked = FollowUpQuestion(finding="fever", text="Do you have a fever?", gain=1.0)
        return draft.model_copy(
            update={
                "diagnoses": (Diagnosis(name="Sepsis", known=False),),
                "emergency": (seen,),
                "left_open": self.left,
                "follow_up_questions": (asked,),
            }
        )


class Calm(Answering):
    """A model's answer to a case in which it sees no emergency."""

    async def answer(self, view: AnswerView) -> Draft:
        return (await super().answer(view)).model_copy(update={"calm": True})


@pytest.mark.parametrize(
    ("case", "stands"),
    [
        ("my tongue went black overnight after the pink stomach syrup", []),
        ("61-year-old man, crushing pain behind the breastbone for an hour, sweating and grey.", ["heart_attack"]),
    ],
)
def test_what_only_the_head_hears_faintly_is_a_warning_where_a_model_sees_no_emergency(
    tmp_path: Path, case: str, stands: list[str]
) -> None:
    told: dict[str, tuple[list[str], list[str]]] = {}
    for name, script in (("local", Answering(plan_of={1: ["x"]})), ("model", Calm(plan_of={1: ["x"]}))):
        machine = replace(parts(script), triage=TriageLocal())
        with Agent(Settings(home=tmp_path / name), parts=machine) as agent:
            answer = agent.ask(case)
        doubts = [n.text for n in answer.notices if n.code == "emergency_doubted"]
        told[name] = ([f.code for f in answer.emergency], doubts)
    assert told["local"] == (stands or ["emergency"], [])
    assert told["model"][0] == stands
    assert [case in text for text in told["model"][1]] == ([] if stands else [True])


class GapTool(SearchTool):
    """Finds a text, and leaves two points open."""

    async def run(self, arguments: Query, context: ToolContext) -> ToolArtifact:
        found = await super().run(arguments, context)
        told = Notice(code="gaps_left_open", text="Not covered by the evidence found: recurrence; costs.")
        return found.model_copy(update={"notices": [told]})


@pytest.mark.parametrize("left", [("recurrence",), ()])
def test_a_models_emergency_heads_the_answer_and_a_point_that_it_covers_is_not_told_as_open(
    tmp_path: Path, left: tuple[str, ...]
) -> None:
    script = ByModel(plan_of={1: ["sepsis"]})
    script.left = left
    with Agent(Settings(home=tmp_path / "home"), parts=parts(script, GapTool())) as agent:
        answer = agent.ask("case: cold and grey")
    assert [f.code for f in answer.emergency] == ["named_by_model"]
    assert answer.follow_up_questions == [], "nothing is asked as a routine beside an emergency"
    assert [d.name for d in answer.diagnoses] == ["Sepsis"]
    texts = [n.text for n in answer.notices if n.code == "gaps_left_open"]
    assert texts == [f"Not covered by the evidence found: {need}." for need in left]


class Questions(SearchTool):
    """Of one question the library has the same, of any other a near one."""

    async def run(self, arguments: Query, context: ToolContext) -> ToolArtifact:
        found = await super().run(arguments, context)
        if arguments.query != "croup":
            return found.model_copy(update={"notices": [Notice(code="near_question_only", text="Only a near one.")]})
        (item,) = found.evidence
        same = AnsweredQuestion(question="croup?", similarity=1.0, evidence=item, start=0, end=6)
        return found.model_copy(update={"answered": [same]})


@pytest.mark.parametrize(("queries", "told"), [(["steam", "croup"], False), (["steam", "cold air"], True)])
def test_that_a_question_is_only_near_is_told_where_no_call_found_the_same(
    tmp_path: Path, queries: list[str], told: bool
) -> None:
    with Agent(Settings(home=tmp_path / "home"), parts=parts(Scripted(plan_of={1: queries}), Questions())) as agent:
        answer = agent.ask("croup?")
    assert ("near_question_only" in [n.code for n in answer.notices]) is told


def test_an_answer_for_which_nothing_useful_was_retrieved_says_so(tmp_path: Path) -> None:
    without = asked(tmp_path / "one", Answering(plan_of={}))
    with_text = asked(tmp_path / "two", Answering(plan_of={1: ["croup"]}))
    assert "nothing_useful_retrieved" in [n.code for n in without.notices]
    assert "nothing_useful_retrieved" not in [n.code for n in with_text.notices]


def test_what_an_earlier_turn_tells_of_the_patient_holds_for_a_question_of_evidence(tmp_path: Path) -> None:
    with Agent(Settings(home=tmp_path / "home"), parts=parts(Scripted(plan_of={}))) as agent:
        told = agent.ask("case: a child who is allergic to penicillin has otitis.")
        answer = agent.ask("Is amoxicillin safe?", session=told.session)
    assert answer.kind == "evidence"
    assert answer.notices[0].code == "barred_medicine"
    assert "penicillin" in answer.notices[0].text
    assert answer.patient is not None
    assert answer.patient.allergies == ("penicillin",)


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (
            "A 34-year-old woman, 20 weeks pregnant, takes metformin and is allergic to penicillin. She has a cough.",
            Patient(age=34, sex="female", pregnant=True, allergies=("penicillin",), medicines=("metformin",)),
        ),
        ("女，30岁，怀孕20周，对青霉素过敏。", Patient(age=30, sex="female", pregnant=True, allergies=("青霉素",))),
        ("A 50-year-old woman. She is not pregnant.", Patient(age=50, sex="female", pregnant=False)),
        ("Can I take amoxicillin if I am allergic to penicillin?", Patient(allergies=("penicillin",))),
        ("I'm 40 on ramipril, can I take ibuprofen?", Patient(age=40, medicines=("ramipril",))),
        ("My son is 4. I gave him Calpol.", Patient(age=4, sex="male", medicines=("Calpol",))),
        ("Is metformin safe in pregnant women?", None),
        ("", None),
    ],
)
def test_what_is_read_of_the_patient(told: str, expected: Patient | None) -> None:
    assert patient_of(told) == expected
