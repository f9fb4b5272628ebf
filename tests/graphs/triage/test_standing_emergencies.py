"""Emergencies of a session's patient stand until a new case or a correction ends them, and the newest message leads."""

from __future__ import annotations

import pytest

from graphs.triage.contract import RedFlag, SessionView, TriageDecision
from graphs.triage.emergency import QUIET, agreeing, doubted, merged, red_flags, with_open
from graphs.triage.local import TriageLocal

TRIAGE = TriageLocal()
CHEST = "61-year-old man, crushing pain behind the breastbone for an hour, sweating and grey."
CHEST_ZH = "61岁男性，胸骨后压榨样剧痛一小时，出冷汗"


def talk(*messages: str) -> list[TriageDecision]:
    """The decisions of a conversation, each with what stands."""
    told: list[TriageDecision] = []
    view = SessionView()
    for turn, message in enumerate(messages, 1):
        view = view.model_copy(update={"turn": turn})
        decision = with_open(TRIAGE.decide_now(message, view), message, view)
        told.append(decision)
        view = view.model_copy(
            update={
                "messages": (*view.messages, message),
                "facts": decision.facts or view.facts,
                "kind": decision.kind.value,
                "question": decision.question,
                "open_flags": view.open_flags if decision.kind in QUIET else decision.red_flags,
            }
        )
    return told


def codes(decision: TriageDecision) -> list[str]:
    return [flag.code for flag in decision.red_flags]


@pytest.mark.parametrize(
    ("case", "message"),
    [
        (CHEST, "Could I give him an antacid for it?"),
        (CHEST, "which blood test comes first?"),
        (CHEST, "surely that is only a pulled muscle?"),
        (CHEST, "it has eased off a bit now, shall we stay at home?"),
        (CHEST, "Does zinc shorten a cold?"),
        (CHEST_ZH, "可以给他吃阿司匹林吗？"),
        (CHEST_ZH, "只是肌肉拉伤吧？"),
    ],
)
def test_an_emergency_of_the_case_stands_at_the_next_question(case: str, message: str) -> None:
    first, thanks, then = talk(case, "谢谢" if case == CHEST_ZH else "thanks", message)
    assert codes(first) == codes(then) == ["heart_attack"]
    assert codes(thanks) == []
    assert then.red_flags[0].earlier


def test_it_is_told_in_the_language_of_the_turn() -> None:
    then = talk(CHEST, "可以吃阿司匹林吗？")[1].red_flags[0]
    assert then.seen.startswith("可能是心肌梗死：“crushing pain")
    assert "120" in then.advice


@pytest.mark.parametrize(
    "message", ["New patient: a girl of 9 with an itchy scalp", "Next patient. 30F with a sprained ankle since Friday."]
)
def test_a_new_case_ends_it(message: str) -> None:
    assert codes(talk(CHEST, message, "what helps?")[2]) == []


def test_a_correction_of_what_raised_it_ends_it_and_another_does_not() -> None:
    case = "40-year-old man, backache, no feeling in the saddle since last night"
    assert codes(talk(case, "He is 41, not 40.")[1]) == ["cauda_equina"]
    assert codes(talk(f"{case}.", "Sorry, scrap the no feeling in the saddle since last night", "which scan?")[2]) == []


def test_what_the_newest_message_tells_leads_and_the_older_stands_behind_it() -> None:
    flags = talk("33M, low for months, wants to end his life", "he swallowed 60 tablets of paracetamol an hour ago")[1]
    assert codes(flags)[0] == "poisoning"
    assert [(f.code, f.earlier) for f in flags.red_flags if f.code == "suicide"] == [("suicide", True)]
    flags = talk(CHEST, "He says he can't go on living")[1]
    assert codes(flags) == ["suicide", "heart_attack"]


def test_one_without_a_name_gives_way_to_the_name_that_the_same_words_have_in_the_case() -> None:
    plain = RedFlag(code="emergency", seen="this may be an emergency: “his arm is weak”", advice="Call.")
    stroke = RedFlag(code="stroke", seen="possible stroke: “face drops”; “his arm is weak”", advice="Call.")
    other = RedFlag(code="sepsis", seen="possible sepsis: “shivering”", advice="Call.")
    assert merged([plain], [stroke]) == (stroke,)
    assert merged([plain], [other]) == (plain, other)
    assert merged([stroke], [plain]) == (stroke,)


@pytest.mark.parametrize(("language", "word"), [("en", "gone again"), ("zh", "消失")])
def test_a_stroke_whose_signs_have_gone_needs_help_all_the_same(language: str, word: str) -> None:
    text = {"en": "Her face drooped and her speech was slurred this morning", "zh": "今早突然口角歪斜，说话不清"}[
        language
    ]
    (flag,) = red_flags(text, language)
    assert flag.code == "stroke"
    assert word in flag.advice


def test_what_the_head_alone_heard_elsewhere_gives_way_to_what_a_model_names() -> None:
    message = "Muddled speech since this morning, platelets 9. LDH 1,480 U/L, troponin raised. BP 82/40."
    named = RedFlag(code="named_by_model", seen="muddled speech with platelets of 9", advice="Call.")
    told = {
        "meningitis": "“LDH 1,480 U/L”",
        "shock": "“BP 82/40”",
        "stroke": "“Muddled speech since this morning”",
        "sepsis": "“fever of yesterday”",  # of a turn before
    }
    flags = [RedFlag(code=code, seen=seen, advice="Call.") for code, seen in told.items()]
    assert [flag.code for flag in agreeing(flags, [named], message)] == ["shock", "stroke", "sepsis"]
    assert agreeing(flags, [], message) == flags


def test_a_model_speaks_only_against_what_the_head_alone_hears_and_not_plainly() -> None:
    unsure = "my tongue went black overnight after the pink stomach syrup"
    assert [f.code for f in doubted(red_flags(unsure, "en"), unsure)] == ["emergency"]
    plainly = "58-year-old man, pain in the upper belly through to the back since yesterday, now much less."
    for told in (plainly, CHEST, "I want to end my life", "He is drowsy, pulse 134, BP 78/40."):
        flags = red_flags(told, "en")
        assert flags
        assert doubted(flags, told) == []


@pytest.mark.parametrize(
    ("case", "replies"),
    [
        ("My son is 3, ear ache and temperature since last night.", ["no stiff neck, no rash", "He is still in pain"]),
        (
            "Baby 8 months with a runny nose and a cough for 3 days.",
            ["he was sick only once", "He is tired and grumpy"],
        ),
        ("68 year old man with a bladder infection on trimethoprim.", ["not confused", "he still has burning"]),
    ],
)
def test_what_is_told_calmly_within_a_calm_conversation_raises_nothing(case: str, replies: list[str]) -> None:
    assert [codes(decision) for decision in talk(case, *replies)] == [[]] * 3


@pytest.mark.parametrize(
    "news",
    ["now I can't wake him properly", "his lips have gone blue", "his tongue swells and he cannot breathe"],
)
def test_an_emergency_that_comes_later_is_raised(news: str) -> None:
    *before, last = talk("My son is 3, ear ache and temperature since last night.", "no rash", news)
    assert [codes(decision) for decision in before] == [[], []]
    assert last.red_flags


@pytest.mark.parametrize("plan", ["I have the pills ready", "I bought a rope", "I've said goodbye to the kids"])
def test_a_plan_to_die_is_heard_in_few_words_of_a_conversation(plan: str) -> None:
    assert codes(talk("I feel low.", plan)[-1]) == ["suicide"]
    assert codes(talk("I feel low.", "I bought a cake")[-1]) == []


@pytest.mark.parametrize(
    ("note", "code"),
    [
        ("She is 7 centimetres dilated, pulse 150, RR 30, BP 84/40.", "shock"),
        ("He's 3 post op, pulse 150, BP 82/40.", "shock"),
        ("Usually BP 130/80. Today standing BP 72/40 and fainted.", "shock"),
        ("Na 127, K 5.9, not eating, not drinking, weak.", "adrenal_crisis"),
        ("Na 127, K 5.9, stopped eating and drinking.", "adrenal_crisis"),
    ],
)
def test_no_count_of_other_things_and_no_denied_ease_hides_what_numbers_tell(note: str, code: str) -> None:
    assert code in [flag.code for flag in red_flags(note, "en")]
