"""What was made last is not made again, and what was used longest ago is forgotten."""

from __future__ import annotations

from collections.abc import Sequence

from tools.remembered import Remembered


class Made:
    """Doubles what it is asked, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[list[int]] = []

    def __call__(self, numbers: Sequence[int]) -> list[int]:
        self.asked.append(list(numbers))
        return [2 * n for n in numbers]


def test_only_what_is_not_known_is_made_and_all_of_it_at_once() -> None:
    made, known = Made(), Remembered[str, int](8)
    assert known.read({"a": 1, "b": 2}, made) == {"a": 2, "b": 4}
    assert known.read({"b": 2, "c": 3, "d": 4}, made) == {"b": 4, "c": 6, "d": 8}
    known.read({"a": 1}, made)
    assert made.asked == [[1, 2], [3, 4]]


def test_what_was_used_longest_ago_is_forgotten_first() -> None:
    made, known = Made(), Remembered[str, int](2)
    known.read({"a": 1, "b": 2}, made)
    known.read({"a": 1}, made)
    known.read({"c": 3}, made)  # forgets "b"
    known.read({"a": 1, "b": 2}, made)
    assert made.asked == [[1, 2], [3], [2]]


def test_more_than_is_kept_is_given_whole() -> None:
    known = Remembered[int, int](2)
    assert known.read({n: n for n in range(5)}, Made()) == {n: 2 * n for n in range(5)}
    assert len(known) == 2


def test_a_value_is_kept_as_asked() -> None:
    made, known = Made(), Remembered[str, int](2, kept=lambda value: value + 1)
    assert [known.read({"a": 1}, made)["a"] for _ in range(2)] == [2, 3]
