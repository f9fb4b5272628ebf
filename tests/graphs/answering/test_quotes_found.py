"""A model's quote is found whatever became of its form, and nothing else is."""

from __future__ import annotations

import re
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from graphs.answering.quoting import locate

TEXT = (
    "A single dose – 0.15 mg/kg – of “dexamethasone” relieves croup.\nThere is no evidence that it helps adults. "
    "It’s given once by mouth;\u00a0vomited doses are repeated. 地塞米松可以缓解喉炎的症状。一次口服即可。"
)
FORMS = st.sampled_from(
    [
        str.upper,
        str.lower,
        lambda t: t.replace(" ", "  \n"),
        lambda t: t.replace("’", "'").replace("–", "-"),
        lambda t: f'"{t}"',
    ]
)


WORDS = [m.span() for m in re.finditer(r"\w\S*\w|\w", TEXT)]
LEAST = 4  # words of a quote here: enough to stand in one place only


@given(first=st.integers(0, len(WORDS) - LEAST), more=st.integers(LEAST - 1, 14), forms=st.lists(FORMS, max_size=3))
def test_any_stretch_of_words_is_found_in_any_form(first: int, more: int, forms: list[Callable[[str], str]]) -> None:
    start, end = WORDS[first][0], WORDS[min(first + more, len(WORDS) - 1)][1]
    quote = TEXT[start:end]
    for form in forms:
        quote = form(quote)
    (span,) = locate(quote, TEXT)
    assert span.start <= start
    assert span.end >= end


def test_a_stretch_is_widened_to_its_sentence_so_that_no_denial_is_lost() -> None:
    (span,) = locate("it helps adults", TEXT)
    assert span.of(TEXT) == "There is no evidence that it helps adults."


def test_what_is_left_out_stands_between_pieces_that_are_both_there() -> None:
    assert len(locate("A single dose ... relieves croup", TEXT)) == 1
    assert locate("A single dose ... cures asthma", TEXT) == ()


def test_what_does_not_stand_there_or_is_one_word_is_not_found() -> None:
    assert locate("A double dose of dexamethasone", TEXT) == ()
    assert locate("croup", TEXT) == ()
    assert locate("", TEXT) == ()
