"""A model's quote is found whatever became of its form, and nothing else is."""

from __future__ import annotations

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


@given(start=st.integers(0, len(TEXT) - 12), length=st.integers(12, 120), forms=st.lists(FORMS, max_size=3))
def test_any_stretch_of_the_text_is_found_in_any_form(start: int, length: int, forms: list) -> None:  # type: ignore[type-arg]
    words = TEXT[start : start + length].strip()
    quote = words
    for form in forms:
        quote = form(quote)
    spans = locate(quote, TEXT)
    if not spans:
        assert len(words.split()) < 4, f"{quote!r} was not found"
    assert all(0 <= s.start < s.end <= len(TEXT) for s in spans)
    if spans:
        assert spans[0].start <= start + 1 + (
            len(TEXT[start : start + length]) - len(TEXT[start : start + length].lstrip())
        )


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
