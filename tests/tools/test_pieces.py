"""Pieces of one document overlap; what a model is shown of them has each sentence once."""

from __future__ import annotations

from tools.evidence import Evidence, Origin
from tools.text.numbered import each_once

TEXT = "Croup is common. Steroids help. They act within hours. Ask again."


def piece(start: int, end: int, name: str = "croup") -> Evidence:
    text = TEXT[start:end]
    return Evidence(id=f"library:{name}@{start}-{end}", text=text, kind="section", origin=Origin.RETRIEVED)


def test_a_sentence_is_shown_of_the_first_piece_that_shows_it() -> None:
    whole, half = piece(0, len(TEXT)), piece(TEXT.index("Steroids"), TEXT.index(" Ask"))
    everything = [1, 2, 3, 4]
    assert each_once([whole, half], [everything, [1, 2]]) == [(1, 2, 3, 4), ()]
    assert each_once([half, whole], [[1, 2], everything]) == [(1, 2), (1, 4)]
    assert each_once([whole, half], [[2], [1, 2]]) == [(2,), (2,)], "one that is not shown is not known"


def test_the_same_words_of_another_document_or_place_are_shown_again() -> None:
    assert each_once([piece(0, 16), piece(0, 16, "gout")], [[1], [1]]) == [(1,), (1,)]
    cut = piece(TEXT.index("help"), TEXT.index(" They"))
    assert each_once([piece(0, len(TEXT)), cut], [[1, 2], [1]]) == [(1, 2), (1,)], "a sentence that is cut is another"
