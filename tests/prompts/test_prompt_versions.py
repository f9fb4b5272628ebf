"""One version of a prompt means one text: a changed text needs a higher version, and the list says which it was."""

from __future__ import annotations

import pytest

from prompts.versions import Listed, current, faults, listed

OLD = {"plan": Listed(version=2, hash="a")}


def test_every_prompt_stands_in_the_list_as_it_is() -> None:
    wrong = faults(current(), listed())
    assert not wrong, "\n".join(wrong)
    assert current() == listed(), "Run `python -m prompts.versions` and keep the changed versions.json."


@pytest.mark.parametrize(
    ("version", "hash", "told"), [(2, "b", True), (1, "b", True), (3, "b", False), (2, "a", False)]
)
def test_a_changed_text_needs_a_higher_version(version: int, hash: str, told: bool) -> None:
    wrong = faults({"plan": Listed(version=version, hash=hash)}, OLD)
    assert bool(wrong) is told
    assert not told or "version: 3" in wrong[0]
