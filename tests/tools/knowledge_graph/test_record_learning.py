"""What records say for each diagnosis: the sum by hand, its bounds, and that it stays silent where it must."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.word_encoder import WordEncoder
from tools.knowledge_graph.matching import Match
from tools.knowledge_graph.ranking import LEAST, MOST
from tools.knowledge_graph.record_ranking import BY_FINDING, Agreement, BestFinding, RecordLearning, RecordStatements
from tools.text.clauses import clauses

TEXTS = ("I am a 40-year-old man. My throat burns. I smoke.", "I smoke. No fever.", "My knee is hot.")
READ: list[list[BestFinding | None]] = [
    [None, BestFinding(5, False, 0.8), None],
    [None, BestFinding(7, True, 0.9)],
    [BestFinding(3, False, 1.0)],
]


@pytest.fixture
def statements() -> RecordStatements:
    return RecordStatements([clauses(t) for t in TEXTS], READ, WordEncoder())


def learning(statements: RecordStatements) -> RecordLearning:
    return RecordLearning(statements, diagnosis=[0, 0, 2], diagnoses=4)


def agreed(statements: RecordStatements, text: str, *matches: Match) -> Agreement:
    return statements.agreement(clauses(text), matches)


def test_a_clause_agrees_by_its_words_and_by_its_finding_only_where_no_record_has_its_words(
    statements: RecordStatements,
) -> None:
    read_too = Match(0, 3, 1.0, 1.0, True)  # as the third record's knee
    by_words = agreed(statements, "I smoke.", read_too)
    assert by_words.records.tolist() == [[1.0, 1.0, 0.0]]
    assert by_words.by_wording.tolist() == [True]
    by_finding = agreed(statements, "Zzz qqq vvv.", Match(0, 5, 0.5, 0.5, True), Match(0, 3, 0.46, 0.5, True))
    assert by_finding.records == pytest.approx(np.array([[0.5 * 0.8, 0, 0]]))
    assert by_finding.by_wording.tolist() == [False]


def test_what_is_denied_is_not_what_is_stated_and_age_is_no_statement(statements: RecordStatements) -> None:
    assert not agreed(statements, "I have a fever.").records.any()
    assert agreed(statements, "No fever.").records.tolist() == [[0.0, 1.0, 0.0]]
    assert not agreed(statements, "Zzz.", Match(0, 7, 0.9, 0.9, True)).records.any()
    assert not agreed(statements, "I am a 40-year-old man.").records.any()


def test_the_sum_is_the_one_written_down(statements: RecordStatements) -> None:
    learned = learning(statements).learn(agreed(statements, "I smoke."))
    among_all = (2 + 0.5) / (3 + 1)
    for_first = np.log((2 + 0.5 * among_all) / (2 + 0.5) / among_all)
    against_third = np.log(0.5 / (1 + 0.5))
    assert learned.log_ratios == pytest.approx([for_first, 0, against_third, 0])
    support = learning(statements).support(learned, 0)
    assert (support.records, support.clauses) == ((0, 1), (0,))
    assert learning(statements).support(learned, 2) == ((), ())


def test_a_clause_known_by_its_finding_weighs_less(statements: RecordStatements) -> None:
    told = np.array([[1.0, 0.0, 0.0]])
    sure = learning(statements).learn(Agreement(told, np.array([True])))
    unsure = learning(statements).learn(Agreement(told, np.array([False])))
    assert unsure.log_ratios == pytest.approx(BY_FINDING * sure.log_ratios)


def test_a_record_that_is_left_out_says_nothing(statements: RecordStatements) -> None:
    case = clauses("My throat burns. I smoke.")
    left = learning(statements).learn(statements.agreement(case, [], without=0), without=0)
    fewer = RecordStatements([clauses(t) for t in TEXTS[1:]], READ[1:], WordEncoder())
    never = RecordLearning(fewer, diagnosis=[0, 2], diagnoses=4).learn(fewer.agreement(case, []))
    assert left.log_ratios == pytest.approx(never.log_ratios)


@given(
    stated=st.lists(st.lists(st.floats(0, 1), min_size=3, max_size=3), min_size=1, max_size=6),
    diagnosis=st.lists(st.integers(0, 3), min_size=3, max_size=3),
)
def test_each_statement_is_bounded_and_what_has_no_record_is_untouched(
    stated: list[list[float]], diagnosis: list[int]
) -> None:
    statements = RecordStatements([[], [], []], [[], [], []], WordEncoder())
    learned = RecordLearning(statements, diagnosis, 4).learn(Agreement(np.array(stated), np.ones(len(stated), bool)))
    assert np.isfinite(learned.log_ratios).all()
    assert learned.gains.min() >= LEAST
    assert learned.gains.max() <= MOST
    assert not learned.log_ratios[[d for d in range(4) if d not in diagnosis]].any()
    if not np.array(stated).any():
        assert not learned.log_ratios.any()


@given(stated=st.lists(st.lists(st.floats(0, 1), min_size=4, max_size=4), min_size=1, max_size=5), at=st.integers(0, 3))
def test_more_agreement_never_speaks_less_for_the_records_own_diagnosis(stated: list[list[float]], at: int) -> None:
    statements = RecordStatements([[]] * 4, [[]] * 4, WordEncoder())
    learning_ = RecordLearning(statements, [0, 0, 1, 2], 3)
    wording = np.ones(len(stated), dtype=bool)
    before = np.array(stated) + 1e-6
    after = before.copy()
    after[0, at] = 1 + 1e-6
    own = [0, 0, 1, 2][at]
    less, more = (learning_.learn(Agreement(s, wording)).log_ratios[own] for s in (before, after))
    assert more >= less - 1e-9
