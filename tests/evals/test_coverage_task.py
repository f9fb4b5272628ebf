"""What counts as held: a diagnosis by its names, a statement by a sentence that the reader finds to say it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from evals.tasks.coverage import is_named, is_said
from tools.encoders import Encoder
from tools.library.build import build_library
from tools.library.collection import Library
from tools.reading.contract import Direction, Pair, Reading, Role, Stance

STARTER = Path(__file__).parents[2] / "tools" / "library" / "starter"


class SaysIfItHolds:
    """A reader for which a sentence says a statement when it holds a word."""

    def __init__(self, word: str) -> None:
        self.word, self.read_so_far = word, 0

    def read(self, pairs: Sequence[Pair]) -> list[Reading]:
        """Supports with 0.9, or not at all."""
        self.read_so_far += len(pairs)
        even = (1 / len(Direction),) * len(Direction), (1 / len(Role),) * len(Role)
        return [
            Reading(tuple(0.9 if s is Stance.SUPPORTS and self.word in p.sentence else 0.0 for s in Stance), *even)
            for p in pairs
        ]


@pytest.mark.parametrize(
    ("diagnosis", "name", "held"),
    [
        ("Acute gout of the big toe", "Gout", True),
        ("Crohn disease", "Crohn's disease", True),
        ("Haemophilia", "hemophilia", True),
        ("Gouty", "Gout", False),
        ("Coronary artery disease", "Car", False),
    ],
)
def test_a_diagnosis_is_held_where_one_name_stands_in_the_other(diagnosis: str, name: str, held: bool) -> None:
    assert is_named(diagnosis, ["Measles", name]) is held


def test_a_statement_is_held_where_a_near_sentence_says_it(tmp_path: Path, encoder: Encoder) -> None:
    source = tmp_path / "pages"
    source.mkdir()
    (source / "gout.md").write_bytes((STARTER / "gout.md").read_bytes())
    build_library(source, tmp_path / "library", encoder)
    library = Library.open(tmp_path / "library", encoder)
    reader = SaysIfItHolds("urate crystals")
    assert is_said(library, encoder, reader, "Gout comes from crystals of urate in the joints.")
    assert 0 < reader.read_so_far <= 8
    assert not is_said(library, encoder, SaysIfItHolds("xylophone"), "Gout comes from crystals of urate in the joints.")
