"""Replies that are a place or a measurement, in English and Chinese, and questions about the question."""

from __future__ import annotations

import pytest

from graphs.triage.contract import AskedQuestion, Aspect, Kind, SessionView
from graphs.triage.facts import facts_of
from graphs.triage.follow_up import read_reply
from graphs.triage.local import TriageLocal
from tools.knowledge_graph.loader import read_graph
from tools.knowledge_graph.questions import FEWEST, PLACE, PlaceOutcomes, askable, elsewhere, places
from tools.knowledge_graph.ranking import Ranker, frequencies
from tools.text.demographics import Person

WHERE = AskedQuestion(finding="pain-place", text="Where do you have pain, if anywhere?")
WHERE_ZH = AskedQuestion(finding="pain-place", text="您哪里疼痛？（没有疼痛请回答“没有”）")
OXYGEN = AskedQuestion(finding="low-oxygen", text="Has your oxygen level been measured as low?")
PRESSURE = AskedQuestion(finding="high-blood-pressure-reading", text="Has your blood pressure been measured as high?")
PULSE = AskedQuestion(finding="fast-heart-rate", text="Is your pulse fast at rest, above 100 a minute?")
SLOW = AskedQuestion(finding="slow-heart-rate", text="Is your pulse unusually slow?")


@pytest.mark.parametrize(
    ("text", "asked", "present", "statement"),
    [
        ("in my chest", WHERE, True, "Pain in my chest."),
        ("yes, my chest and left arm", WHERE, True, "Pain in my chest. Pain in left arm."),
        ("I have a headache", WHERE, True, "I have a headache."),
        ("nowhere", WHERE, False, ""), ("no", WHERE, False, ""), ("no pain at all", WHERE, False, ""),
        ("I don't know", WHERE, None, ""),
        ("胸口和左臂", WHERE_ZH, True, "胸口疼痛。左臂疼痛。"), ("头痛", WHERE_ZH, True, "头痛。"),
        ("没有", WHERE_ZH, False, ""), ("不知道", WHERE_ZH, None, ""),
        ("91%", OXYGEN, True, "SpO2 91."), ("it was 98", OXYGEN, False, "SpO2 98."),
        ("150/95", PRESSURE, True, "BP 150/95."), ("118 / 76", PRESSURE, False, "BP 118/76."),
        ("120", PULSE, True, "HR 120."), ("80 bpm", PULSE, False, "HR 80."),
        ("45", SLOW, True, "HR 45."), ("80", SLOW, False, "HR 80."),
    ],
)  # fmt: skip
def test_a_value_settles_what_was_asked(text: str, asked: AskedQuestion, present: bool | None, statement: str) -> None:
    reply = read_reply(text, asked)
    assert reply is not None
    assert (reply.finding.id, reply.finding.present, reply.statement) == (asked.finding, present, statement)


@pytest.mark.parametrize(("language", "asked"), [("en", WHERE), ("zh", WHERE_ZH)])
def test_every_place_that_a_question_offers_is_read_as_its_answer(language: str, asked: AskedQuestion) -> None:
    graph = read_graph()
    ranker = Ranker(graph, frequencies(graph))
    positions = places(graph, [i for i, f in enumerate(graph.findings) if askable(f)])
    names = {f.zh if language == "zh" else f"{f.name[:1].upper()}{f.name[1:]}" for f in graph.findings}
    offered = set()
    for at in range(len(positions) - FEWEST):
        few = positions[at : at + FEWEST]
        offered |= set(
            PlaceOutcomes(ranker, [], Person(), few, elsewhere(graph, few)).question(graph, language, False).replies
        )
    assert len(offered) > 20
    assert offered <= names
    for text in offered:
        reply = read_reply(text, asked)
        assert reply is not None
        assert (reply.finding.id, reply.finding.present) == (PLACE, True)
        assert reply.statement.rstrip(".。") == text


@pytest.mark.parametrize(
    ("text", "asked"),
    [("I have a fever", WHERE), ("thanks", WHERE), ("where do you mean?", WHERE), ("left", PULSE), ("2 weeks", OXYGEN)],
)
def test_what_gives_no_place_and_no_measurement_is_no_reply(text: str, asked: AskedQuestion) -> None:
    assert read_reply(text, asked) is None


@pytest.mark.parametrize(
    ("text", "aspect"),
    [
        ("why do you ask?", Aspect.QUESTION), ("Why are you asking me that?", Aspect.QUESTION),
        ("why does that matter?", Aspect.QUESTION), ("为什么问这个？", Aspect.QUESTION),
        ("why?", Aspect.WHY), ("为什么？", Aspect.WHY),
    ],
)  # fmt: skip
def test_why_a_question_is_asked_is_another_why(text: str, aspect: Aspect) -> None:
    view = SessionView(facts=facts_of("I have a cough."), kind="case", question="I have a cough.", asked=OXYGEN)
    decision = TriageLocal().decide_now(text, view)
    assert decision.kind is Kind.EXPLAIN
    assert decision.explain is not None
    assert decision.explain.aspect is aspect
    assert decision.answered is None


def test_a_place_of_which_something_is_told_is_no_place_of_pain() -> None:
    assert read_reply("my back is sore and my left hand went numb", WHERE) is None
    assert read_reply("my chest and my lips are turning blue", WHERE) is None
