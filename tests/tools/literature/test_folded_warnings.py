"""Warnings folded for display: every kind once, its count true, none lost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tools.literature.report import SHOWN, folded


def test_many_phrases_that_are_not_held_are_one_line() -> None:
    phrases = [f'PhraseNotFound: "word{n}"' for n in range(7)]
    lines = folded([*phrases[:4], "OutputMessage: No items found.", *phrases[4:], "Odd"])
    assert lines == [
        'PhraseNotFound, 7 in all: "word0"; "word1"; "word2" and 4 more',
        "OutputMessage: No items found.",
        "Odd",
    ]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9))))
def test_every_kind_is_one_line_with_its_count(told: list[tuple[str, int]]) -> None:
    lines = folded(f"{kind}: {n}" for kind, n in told)
    assert len(lines) == len({kind for kind, _ in told})
    for line in lines:
        of_kind = [n for kind, n in told if kind == line[0]]
        assert (f"{len(of_kind)} in all" in line) == (len(of_kind) > SHOWN)
