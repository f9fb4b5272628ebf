"""Hybrid search over a collection: what each part adds, in what order, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompts.errors import InputError
from tools.indexes.lexical import Lexicon
from tools.literature.adapt_e.contract import PlannedTerm, SearchPlan
from tools.literature.hybrid import HybridCollection, HybridWeights, best, weights_of

TEXTS = [
    "Aspirin after a stroke",
    "Football for juniors at Easter",
    "Acetylsalicylic acid and bleeding",
    "Asthma in winter",
]
VECTORS = np.eye(4, dtype=np.float32)
PLAN = SearchPlan(
    terms=(
        PlannedTerm(text="aspirin", synonyms=("acetylsalicylic acid",), weight=4.0),
        PlannedTerm(text="stroke", weight=2.0),
    )
)


def collection(weights: HybridWeights | None = None) -> HybridCollection:
    return HybridCollection(["1", "2", "3", "4"], Lexicon(TEXTS), VECTORS, weights)


def test_a_terms_words_weigh_by_the_heaviest_term_and_synonyms_half() -> None:
    assert weights_of(PLAN) == {"aspirin": 1.0, "stroke": 0.5, "acetylsalicyl": 0.5, "acid": 0.5}
    assert weights_of(SearchPlan()) == {}


def test_the_plans_terms_find_in_a_narrative_what_its_own_words_bury() -> None:
    story = "My junior plays football, at Easter he fell; football is all he wants. Is aspirin right after a stroke?"
    nothing = np.zeros(4, dtype=np.float32)
    words_only = collection(HybridWeights(dense=0, question=1, terms=0)).rank(story, PLAN, nothing, 4)
    both = collection(HybridWeights(dense=0, question=0.5, terms=0.5)).rank(story, PLAN, nothing, 4)
    assert words_only[0].id == "2"
    assert both[0].id == "1"


def test_a_synonym_alone_finds_a_document_and_each_part_is_told() -> None:
    ranked = collection().rank("aspirin", PLAN, VECTORS[3], 4)
    by_id = {r.id: r for r in ranked}
    assert by_id["3"].parts["terms"] > by_id["2"].parts["terms"] == 0
    assert by_id["3"].parts["question"] == 0
    assert by_id["4"].parts == pytest.approx({"dense": 0.6, "question": 0.0, "terms": 0.0})
    assert all(r.score == pytest.approx(sum(r.parts.values())) for r in ranked)


def test_a_question_without_terms_or_known_words_is_ranked_by_meaning() -> None:
    ranked = collection().rank("qwerty", SearchPlan(), VECTORS[1], 2)
    assert [r.id for r in ranked] == ["2", "1"]


def test_parts_of_different_lengths_are_refused() -> None:
    with pytest.raises(InputError, match="2 ids, 4 texts and 4 vectors"):
        HybridCollection(["1", "2"], Lexicon(TEXTS), VECTORS)


def test_nothing_is_asked_of_an_empty_collection() -> None:
    empty = HybridCollection([], Lexicon([]), np.zeros((0, 4), dtype=np.float32))
    assert empty.rank("aspirin", PLAN, VECTORS[0], 3) == []


@given(st.lists(st.integers(0, 5), min_size=1, max_size=40), st.integers(1, 50))
def test_the_best_are_those_of_a_stable_sort(values: list[int], limit: int) -> None:
    scores = np.array(values, dtype=np.float32)
    expected = sorted(range(len(values)), key=lambda i: -values[i])[:limit]
    assert best(scores, limit) == expected
