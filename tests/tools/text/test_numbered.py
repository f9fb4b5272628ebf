"""Sentences under numbers: a number names the sentence that the splitter finds, and what is left out is marked."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.text.numbered import numbered, within
from tools.text.sentences import sentences

ABSTRACT = (
    "BACKGROUND: Croup is common. It frightens. METHODS: We took 100 children. They were followed for a week. "
    "RESULTS: The score fell by 2 points. Fewer came back. CONCLUSION: Dexamethasone helps. Give one dose."
)
SHOWN = re.compile(r"\[7\.(\d+)\] (.*?)(?= \[7\.\d+\]| \[…|$)")


def test_sentences_that_are_left_out_are_counted_where_they_stood() -> None:
    assert numbered(7, ABSTRACT, [2, 5, 6]) == (
        "[… 1 left out] [7.2] It frightens. [… 2 left out] [7.5] RESULTS: The score fell by 2 points. "
        "[7.6] Fewer came back. [… 2 left out]"
    )


@pytest.mark.parametrize(
    ("room", "kept"), [(1000, [*range(1, 9)]), (150, [4, 5, 6, 7, 8]), (100, [5, 6, 7, 8]), (60, [7, 8]), (1, [7, 8])]
)
def test_background_goes_first_then_methods_then_results_and_the_conclusions_never(room: int, kept: list[int]) -> None:
    assert within(ABSTRACT, room) == kept


def test_the_last_sentence_of_a_text_without_headings_stays() -> None:
    text = "Croup is common. It frightens. One dose helps."
    assert within(text, 20) == [3]
    assert within("结果：评分下降。结论：地塞米松有效。", 1) == [2]


@given(
    text=st.lists(st.sampled_from([*ABSTRACT.split(". "), "Results: x", "a\nb", ""]), max_size=8).map(". ".join),
    room=st.integers(0, 200),
)
def test_a_number_names_the_same_sentence_whatever_is_shown(text: str, room: int) -> None:
    spans = [" ".join(span.of(text).split()) for span in sentences(text)]
    kept = within(text, room)
    assert [(int(n), said) for n, said in SHOWN.findall(numbered(7, text, kept))] == [(n, spans[n - 1]) for n in kept]
    assert kept == sorted(set(kept))
    assert not spans or len(spans) in kept
