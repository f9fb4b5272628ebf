"""Regular expressions kept as data: lists, names within them, and the letters they match."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.yaml_files import read_patterns


def test_lists_are_alternatives_and_names_stand_for_what_is_above(tmp_path: Path) -> None:
    file = tmp_path / "forms.yaml"
    file.write_text("who: (?:she|he)\nill:\n  - '^<who> is ill'\n  - '^(?P<who><who>) has(?<=has)'\n", encoding="utf-8")
    forms = read_patterns(file)
    assert forms["ill"].match("She is ill")
    match = forms["ill"].match("he has a cold")
    assert match is not None
    assert match["who"] == "he"
    assert forms["ill"].match("they are ill") is None


def test_a_name_that_is_not_above_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "forms.yaml"
    file.write_text("ill: '<who> is ill'\nwho: she\n", encoding="utf-8")
    with pytest.raises(KeyError, match="who"):
        read_patterns(file)
