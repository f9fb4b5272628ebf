"""What a study that was given answers in all: which of its sentences are results, and which one carries a verdict."""

from __future__ import annotations

import pytest

from graphs.verdicts.contract import VerdictValue
from graphs.verdicts.local import VerdictJudgeLocal, parts_of
from graphs.verdicts.overall import OUTCOMES, WEIGHTS, features, overall, results_of, weights
from support.scripted_reader import ScriptedReader, reading
from support.verdict_evidence import carrying, piece
from tools.encoders import Encoder
from tools.evidence import Origin
from tools.reading.contract import Direction, Role, Stance
from tools.text.sentences import Span

QUESTION = "Does velmoxatrine prevent gout attacks?"
OPEN = "Whether velmoxatrine prevents attacks of gout is not known."
AIM = "We asked whether velmoxatrine prevents attacks of gout."
DONE = "In a randomised trial 412 adults took velmoxatrine or placebo."
FEWER = "Gout attacks were fewer with velmoxatrine (p = 0.01)."
LATER = "The first attack came later with velmoxatrine (p = 0.02)."
AS_MANY = "Gout attacks did not differ between velmoxatrine and placebo (p = 0.61)."
SAFE = "Adverse events did not differ between the groups (p = 0.71)."
READ = {
    OPEN: reading(Stance.UNSETTLED, 0.99),
    AIM: reading(Stance.NOT_SHOWN, role=Role.AIM),
    DONE: reading(Stance.NOT_SHOWN, role=Role.METHOD),
    FEWER: reading(Stance.SUPPORTS, 0.9, direction=Direction.DECREASED),
    LATER: reading(Stance.SUPPORTS, 0.8, direction=Direction.DECREASED),
    AS_MANY: reading(Stance.REFUTES, 0.9, direction=Direction.NO_DIFFERENCE),
    SAFE: reading(Stance.REFUTES, 0.97, direction=Direction.NO_DIFFERENCE),
}


def parts(*lines: str) -> list[str]:
    """The texts of what is taken for results of a text of these lines, a sentence each behind a heading or not."""
    text = "\n".join(lines)
    spans, begin = [], 0
    for line in lines:
        told = line.rpartition(": ")[2]
        spans.append(Span(begin + len(line) - len(told), begin + len(line)))
        begin += len(line) + 1
    found = parts_of([(text, s) for s in spans], [READ[s.of(text)] for s in spans])
    return [found[at].text for at in results_of(found)]


def test_results_stand_under_their_heading() -> None:
    lines = (f"Background: {OPEN}", f"Materials and methods: {DONE}", f"Results: {FEWER}", f"Limitations: {SAFE}")
    assert parts(*lines) == [FEWER, SAFE]


def test_without_headings_results_stand_behind_the_last_aim_or_method() -> None:
    assert parts(OPEN, AIM, DONE, FEWER, SAFE) == [FEWER, SAFE]
    assert parts(FEWER, SAFE, AIM) == [FEWER, SAFE]  # nothing behind it


def test_what_holds_no_result_is_weighed_whole() -> None:
    assert parts(AIM, DONE) == [AIM, DONE]


def given(encoder: Encoder, *told: str) -> VerdictValue | None:
    item = piece(" ".join(told), "a", "given", origin=Origin.CASE)
    ruling = VerdictJudgeLocal(ScriptedReader(READ), encoder).judge(QUESTION, [item])
    return ruling.verdict.value if ruling.verdict is not None else None


def test_what_was_open_before_a_study_is_not_its_answer(encoder: Encoder) -> None:
    assert given(encoder, OPEN, AIM, DONE, FEWER, LATER) is VerdictValue.YES
    assert given(encoder, OPEN, AIM, DONE, AS_MANY) is VerdictValue.NO_DIFFERENCE


def test_a_further_outcome_does_not_outweigh_the_main_ones(encoder: Encoder) -> None:
    """The reader is surer of it than of any other sentence."""
    assert given(encoder, AIM, DONE, FEWER, LATER, SAFE) is VerdictValue.YES


def test_a_sentence_that_says_what_the_study_answers_is_quoted(encoder: Encoder) -> None:
    item = piece(f"{OPEN} {AIM} {DONE} {FEWER} {LATER} {SAFE}", "a", "given", origin=Origin.CASE)
    assert carrying(VerdictJudgeLocal(ScriptedReader(READ), encoder).judge(QUESTION, [item])) == [FEWER]


def test_a_study_without_a_result_on_the_question_answers_nothing(encoder: Encoder) -> None:
    assert given(encoder, AIM, DONE, "The weather was fine.") is None


def test_the_chances_are_shares_of_one(encoder: Encoder) -> None:
    told = parts_of([(FEWER, Span(0, len(FEWER)))], [READ[FEWER]])
    found = overall(QUESTION, told, encoder)
    assert tuple(found.chances) == OUTCOMES
    assert sum(found.chances.values()) == pytest.approx(1.0)
    assert max(found.chances, key=lambda a: found.chances[a]) is Stance.SUPPORTS
    assert len(features(QUESTION, told, results_of(told), encoder)) == len(weights(WEIGHTS).mean)
