"""Pieces of a long text: none is longer than asked, and nothing is lost."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tools.text.within_tokens import within_tokens

TEXT = st.text(st.sampled_from("ab ,.;:!?\n()é中，。 "), max_size=200)


def letters(texts: list[str]) -> list[int]:
    """A tokeniser of the worst kind: a token a character that is not white space."""
    return [sum(not c.isspace() for c in text) for text in texts]


@given(TEXT, st.integers(1, 30))
def test_no_piece_is_too_long_and_no_character_is_lost(text: str, limit: int) -> None:
    spans = within_tokens(text, limit, letters)
    assert all(0 < n <= limit for n in letters([s.of(text) for s in spans]))
    assert "".join("".join(s.of(text).split()) for s in spans) == "".join(text.split())
    assert all(a.end <= b.start for a, b in pairwise(spans))


def test_sentences_stay_whole_then_clauses_then_words() -> None:
    def pieces(text: str, limit: int) -> list[str]:
        return [s.of(text) for s in within_tokens(text, limit, lambda ts: [len(t.split()) for t in ts])]

    text = "He is old. He has pain, fever and a cough. He is ill."
    assert pieces(text, 20) == [text]
    assert pieces(text, 8) == ["He is old.", "He has pain, fever and a cough.", "He is ill."]
    assert pieces(text, 5) == ["He is old.", "He has pain, fever", "and a cough.", "He is ill."]
    assert pieces("one two three four five", 2) == ["one two", "three four", "five"]
