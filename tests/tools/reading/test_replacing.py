"""Which words of a message take the place of which of the case: the trained network, its weights and its examples."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from evals.training.revision_head import EXAMPLES
from prompts.errors import DataError
from tools.reading import replacing
from tools.reading.replacing import MOST, pairs_of, replaced, seen, side_of, words_of

CASE = "62M, pain in the left knee for 3 days. On ramipril. No fever."


def shown(case: str, message: str) -> dict[str, str]:
    return {case[slice(*p.old)]: message[slice(*p.new)] if p.new else "" for p in replaced(case, message)}


@pytest.mark.parametrize(
    ("message", "old", "new"),
    [
        ("sorry, it's the right knee", "left", "right"),
        ("not ramipril, I looked at the box: bisoprolol", "ramipril", "bisoprolol"),
        ("it was 5 days in fact", "3 days", "5 days"),
    ],
)
def test_what_is_put_in_the_place_of_what(message: str, old: str, new: str) -> None:
    assert shown(CASE, message) == {old: new}


def test_what_changes_in_two_places_changes_in_both() -> None:
    case = "62M with pain in the left knee. The left knee is swollen."
    found = replaced(case, "sorry, it is the right knee")
    assert sorted(case[slice(*p.old)] for p in found) == ["left", "left"]


@pytest.mark.parametrize("message", ["He is allergic to penicillin.", "It swells in the evening.", "What could it be?"])
def test_what_only_adds_or_asks_replaces_nothing(message: str) -> None:
    assert replaced(CASE, message) == []


@pytest.mark.parametrize("case", ["", "?!", "62M", CASE])
@pytest.mark.parametrize("message", ["", "...", "it is", "有", "no"])
def test_a_text_that_says_little_is_no_error(case: str, message: str) -> None:
    assert all(case[slice(*pair.old)] for pair in replaced(case, message))


def test_words_are_cut_where_one_may_give_way() -> None:
    assert [w.text for w in words_of("62M L 3/7")] == ["62", "m", "l", "3/7"]
    assert [w.text for w in words_of("左膝疼两天")][:2] == ["左", "膝"]


def test_stretches_cross_no_stop_and_of_a_long_case_the_end_is_read() -> None:
    side = side_of("Cough, fever. " * 200 + "Pain in the left knee.", end=True)
    texts = [" ".join(w.text for w in side.words[a:b]) for a, b in side.spans.tolist()]
    assert "left knee" in texts
    assert "cough fever" not in texts
    assert max(b - a for a, b in side.spans.tolist()) <= MOST
    assert len(side.words) == replacing.CASE_READ


def test_features_are_numbers_for_every_pair() -> None:
    case, message = side_of(CASE, end=True), side_of("the right knee", end=False)
    pairs = pairs_of(case, message)
    assert (pairs[:, 1] == -1).sum() == len(case.spans)  # each may be taken back
    assert np.isfinite(seen(case, message, pairs, 0.0)).all()


def test_damaged_weights_are_told(tmp_path: Path) -> None:
    for name in ("replacing.safetensors", "replacing.sha256"):
        shutil.copy(replacing.WEIGHTS.with_name(name), tmp_path / name)
    path = tmp_path / "replacing.safetensors"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(DataError, match="damaged"):
        replacing.network.__wrapped__(path)


def test_every_example_names_words_that_are_there() -> None:
    for line in EXAMPLES.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        for change in row["changes"]:
            assert change["old"] in "\n".join(row["messages"][: change["message"]])
            assert change["new"] is None or change["new"] in row["messages"][change["message"]]
