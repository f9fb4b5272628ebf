"""What a study found: which report asks the same, which of its results is meant, and what its own test says."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.datasets.closed import OwnDocument
from graphs.verdicts.contract import Certainty, Stage, VerdictValue, value_in_words
from graphs.verdicts.local import VerdictJudgeLocal, VerdictSettings
from graphs.verdicts.studies import Document, Studies, as_tested, of_a_part, parts_of, significance, significances
from graphs.verdicts.topical import topical
from support.scripted_reader import NO, YES, ScriptedReader, reading
from support.verdict_evidence import carrying, piece
from tools.encoders import Encoder
from tools.reading.contract import DIRECTIONS, ROLES, STANCES, Direction, Reading, Role, Stance
from tools.reading.reader import WEIGHTS, TrainedReader

QUESTION = "Does velmoxatrine shorten hospital stay in gout?"
TITLE = "Velmoxatrine in adults admitted with gout"
STAY = "Median time to discharge was 31 hours and 44 hours (p = 0.01)."
SAME_STAY = "Median time to discharge was 43 hours and 44 hours (p = 0.71)."
PAIN = "Pain scores were lower with velmoxatrine (p = 0.03)."


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("The stay was shorter (p = 0.01).", True),
        ("The stay was shorter (P<.05).", True),
        ("The stay was 9 and 10 days (p=0.27).", False),
        ("The stay was 9 and 10 days (P > 0.05).", False),
        ("The stay was shorter (hazard ratio 1.42, 95% CI 1.08 to 1.87).", True),
        ("The stay was as long (hazard ratio 0.97; 95 % CI 0.79-1.21).", False),
        ("The score rose (mean difference 2.6, 95% CI -1.5 to 3.7).", False),
        ("The score fell (mean difference -2.6 points, 95 % CI -3.5 to -1.4).", True),
        ("Falls were fewer (odds ratio 0.64 (0.43 to 0.95)).", True),
        ("Efficacy was 31 % (95 % CI 9 to 48).", True),
        ("Stress fell within the velmoxatrine group (P = .01).", None),
        ("The interaction was significant (p for interaction = 0.002).", None),
        ("In ten women or men aged 12 to 15 nothing was tested.", None),
        ("Of 95 % to 99 % nothing follows.", None),
        ("", None),
    ],
)
def test_a_sentence_that_tests_a_difference_says_whether_it_was_shown(text: str, shown: bool | None) -> None:
    assert significance(text) is shown


@given(st.text(alphabet="pP<>=. 0123456789,%-–()CIORHRto95 ", max_size=60))
def test_no_text_breaks_the_reading_of_figures(text: str) -> None:
    assert significance(text) in (True, False, None)


def test_what_this_difference_is_said_of_has_its_test() -> None:
    told = ["Pain eased by 15 mm and 13 mm.", "This difference was not significant (P = 0.44).", "It was safe."]
    assert significances(told) == [False, False, None]
    assert significances([]) == []


@st.composite
def readings(draw: st.DrawFn) -> Reading:
    def shares(n: int) -> tuple[float, ...]:
        drawn = draw(st.lists(st.floats(0.01, 1), min_size=n, max_size=n))
        return tuple(x / sum(drawn) for x in drawn)

    return Reading(shares(len(STANCES)), shares(len(DIRECTIONS)), shares(len(ROLES)))


@given(readings(), st.sampled_from([True, False, None]))
def test_a_tested_reading_stays_one_and_never_says_what_its_test_denies(read: Reading, shown: bool | None) -> None:
    told = as_tested(read, shown)
    assert sum(told.stances) == pytest.approx(1)
    assert sum(told.directions) == pytest.approx(1)
    assert min((*told.stances, *told.directions)) >= 0
    assert told.roles == read.roles
    if shown is False:
        assert told.stance(Stance.SUPPORTS) == 0
        assert told.direction is Direction.NO_DIFFERENCE
    if shown:
        assert told.directions[DIRECTIONS.index(Direction.NO_DIFFERENCE)] == 0
    if shown is None:
        assert told == read


@pytest.mark.parametrize(
    ("question", "subject", "outcome", "sameness"),
    [
        ("Does zinc shorten colds in adults?", "zinc", "colds in adults", False),
        ("Is yoga effective for low back pain?", "yoga", "low back pain", False),
        ("Is coaching better than usual care for sleep?", "coaching", "sleep", False),
        ("Does adding zinc to iron improve growth?", "zinc to iron", "growth", False),
        ("Is zinc as effective as iron?", "zinc as", "as iron", True),
        ("Zinc?", "Zinc?", "Zinc?", False),
    ],
)
def test_a_closed_question_has_a_subject_and_an_outcome(
    question: str, subject: str, outcome: str, sameness: bool
) -> None:
    assert parts_of(question) == (subject, outcome, sameness)


def document(title: str, *sentences: str) -> Document:
    return Document(title, tuple(range(len(sentences))), sentences)


def test_a_report_is_about_what_is_asked_in_other_words_and_no_other_one_is(encoder: Encoder) -> None:
    outcome = "Alanine aminotransferase rose with velmoxatrine (p = 0.01)."
    asked = topical(
        QUESTION,
        [
            document(TITLE, STAY, PAIN),
            document("Warfarin in atrial fibrillation", STAY),
            document("Liver enzymes on velmoxatrine", outcome),
            document("Bread", "Bread is baked."),
        ],
        encoder,
    )
    least = VerdictSettings().topical
    assert [p >= least for p in asked] == [True, False, False, False]
    assert topical(QUESTION, [], encoder) == []


def test_a_study_of_another_outcome_gives_no_verdict(encoder: Encoder) -> None:
    text = "Glucose sensitivity of beta cells rose with velagliflozin added to metformin (p < 0.02)."
    judge = VerdictJudgeLocal(ScriptedReader({text: reading(Stance.SUPPORTS, 0.99)}), encoder)
    study = piece(text, title="Velagliflozin, an SGLT2 inhibitor, improves beta cell function in type 2 diabetes")
    asked = "Does adding an SGLT2 inhibitor to metformin lower hospital admission for heart failure in type 2 diabetes?"
    assert judge.judge(asked, [study]).verdict is None
    same = "Does velagliflozin added to metformin improve beta cell function in type 2 diabetes?"
    assert judge.judge(same, [study]).verdict is not None


def test_sentences_of_a_study_are_near_the_outcome_or_not(encoder: Encoder) -> None:
    told = Studies(encoder).near(QUESTION, [document(TITLE, STAY, PAIN)])
    assert set(told) == {0, 1}
    assert told[0] != told[1]
    assert Studies(encoder).near(QUESTION, []) == {}


def test_the_main_result_of_a_study_leads_though_it_holds_no_word_of_the_question(encoder: Encoder) -> None:
    table = {SAME_STAY: reading(Stance.SUPPORTS, 0.7), PAIN: YES, STAY: reading(Stance.SUPPORTS, 0.7)}
    judge = VerdictJudgeLocal(ScriptedReader(table), encoder)
    positive = judge.judge(QUESTION, [piece(f"{STAY} {PAIN}", title=TITLE)])
    assert positive.verdict is not None
    assert (positive.verdict.value, carrying(positive)[0]) == (VerdictValue.YES, STAY)
    assert positive.stage is Stage.VERDICT
    null = judge.judge(QUESTION, [piece(f"{SAME_STAY}", title=TITLE)])
    assert null.verdict is not None
    assert (null.verdict.value, carrying(null)) == (VerdictValue.NO_DIFFERENCE, [SAME_STAY])
    elsewhere = judge.judge(QUESTION, [piece(STAY, title="Warfarin in atrial fibrillation")])
    assert (elsewhere.verdict, elsewhere.stage) == (None, Stage.ELSEWHERE)


def test_a_study_whose_first_test_shows_nothing_gives_no_yes_by_another_result(encoder: Encoder) -> None:
    nearer = "Velmoxatrine shortened hospital stay in gout."
    judge = VerdictJudgeLocal(ScriptedReader({SAME_STAY: YES, nearer: YES}), encoder)
    null = judge.judge(QUESTION, [piece(f"{nearer} {SAME_STAY}", title=TITLE)])
    assert null.verdict is None or null.verdict.value is not VerdictValue.YES
    shown = judge.judge(QUESTION, [piece(nearer, title=TITLE)])
    assert shown.verdict is not None
    assert shown.verdict.value is VerdictValue.YES


def test_of_studies_of_which_most_answer_alike_the_other_is_shown_beside() -> None:
    told = {f"Stay was shorter with velmoxatrine in trial {n}.": YES for n in range(3)}
    other = "Stay was no shorter with velmoxatrine in trial 4."
    judge = VerdictJudgeLocal(ScriptedReader({**told, other: NO}))
    pieces = [piece(text, str(n), level="randomised trial") for n, text in enumerate([*told, other])]
    most = judge.judge(QUESTION, pieces)
    assert most.verdict is not None
    assert most.verdict.value is VerdictValue.YES
    assert [s.text for s in most.beside] == [other]
    agreed = judge.judge(QUESTION, pieces[:3]).verdict
    assert agreed is not None
    assert (most.verdict.certainty, agreed.certainty) == (Certainty.MODERATE, Certainty.HIGH)
    split = judge.judge(QUESTION, pieces[2:])
    assert split.verdict is not None
    assert split.verdict.value is VerdictValue.CONFLICTING


def test_a_result_of_a_part_is_told_as_one() -> None:
    assert of_a_part("In children with eczema stay was shorter.")
    assert not of_a_part("Stay was shorter with velmoxatrine.")


WHICH = "Is hospital stay higher, lower, or the same with velmoxatrine than with placebo?"


@pytest.mark.parametrize(
    ("ways", "value", "shown"),
    [
        ((Direction.INCREASED, Direction.INCREASED, Direction.DECREASED), VerdictValue.YES, "higher"),
        ((Direction.DECREASED, Direction.DECREASED, Direction.NO_DIFFERENCE), VerdictValue.NO, "lower"),
        ((Direction.NO_DIFFERENCE,), VerdictValue.NO_DIFFERENCE, "no difference"),
        ((Direction.UNCLEAR, Direction.UNCLEAR, Direction.INCREASED), VerdictValue.INSUFFICIENT, "not settled"),
    ],
)
def test_a_question_that_asks_which_way_is_answered_by_the_directions_of_the_studies(
    ways: tuple[Direction, ...], value: VerdictValue, shown: str
) -> None:
    table = {
        f"Stay with velmoxatrine in trial {n}.": reading(Stance.SUPPORTS, 0.9, direction=w) for n, w in enumerate(ways)
    }
    pieces = [piece(text, str(n)) for n, text in enumerate(table)]
    ruling = VerdictJudgeLocal(ScriptedReader(table)).judge(WHICH, pieces)
    assert ruling.verdict is not None
    assert ruling.verdict.value is value
    assert value_in_words(ruling.verdict, WHICH, "en") == shown
    assert set(carrying(ruling)) <= {text for text, way in zip(table, ways, strict=True) if way is ways[0]}


def test_of_many_studies_as_many_sentences_of_each_are_read() -> None:
    reader = ScriptedReader({})
    pieces = [piece(" ".join(f"Stay {n} {m} days in trial {n}." for m in range(30)), str(n)) for n in range(8)]
    VerdictJudgeLocal(reader, settings=VerdictSettings(pairs=16)).judge(WHICH, pieces)
    assert Counter(p.sentence.rsplit(" ", 1)[1] for p in reader.asked) == {f"{n}.": 2 for n in range(8)}


def test_a_stage_is_told_of_what_gives_no_verdict() -> None:
    ends = {
        Stage.SILENT: reading(Stance.SUPPORTS, 1.0, Role.AIM),
        Stage.NOT_SHOWN: reading(Stance.NOT_SHOWN, 0.9),
        Stage.UNSURE: reading(Stance.SUPPORTS, 0.7),
    }
    text = "Stay was shorter with velmoxatrine."
    for stage, said in ends.items():
        assert VerdictJudgeLocal(ScriptedReader({text: said})).judge(QUESTION, [piece(text)]).stage is stage
    assert VerdictJudgeLocal(ScriptedReader({})).judge(QUESTION, []).stage is Stage.NOTHING


TRIALS = Path(__file__).parents[3] / "evals" / "data" / "dev" / "own_documents.jsonl"


@pytest.mark.skipif(not WEIGHTS.is_file(), reason="the trained weights are not there: anamnesis dev reader train")
def test_trials_of_ours_are_read_as_they_are(encoder: Encoder) -> None:
    """Of one in eight of the trials that settings were chosen on no null one is called yes, most positive ones are."""
    rows = [OwnDocument.model_validate(json.loads(line)) for line in TRIALS.read_text(encoding="utf-8").splitlines()]
    judge = VerdictJudgeLocal(TrainedReader(), encoder)
    said: dict[str, list[str]] = {"null": [], "positive": [], "mixed": []}
    for row in rows[::8]:
        verdict = judge.judge(row.question, [piece(row.text, row.id, "own", title=row.title)]).verdict
        said[row.truth].append(verdict.value if verdict is not None else "none")
    assert "yes" not in said["null"]
    assert said["positive"].count("yes") >= 0.6 * len(said["positive"])
