"""Frequencies of English words are those of wordfreq."""

from __future__ import annotations

import pytest
from wordfreq import zipf_frequency

from tools.medicines.records import starter_records
from tools.text.frequency import zipf

WORDS = ["the", "Croup", "stroke", "dexamethasone", "xqzzy", "heart-lung", "childhood-onset", "xqzzy-like", "post-"]
WORDS += ["vitamin d", "of the", "xqzzy the", "low-dose  aspirin ", " ", "a - b", "tab\tnew\nline", "a\u00a0b"]
WORDS += ["-", "covid19", "naïve", "crohn's", "type 2", "", "12"]


@pytest.mark.parametrize("word", WORDS)
def test_a_word_is_as_frequent_as_wordfreq_says(word: str) -> None:
    assert zipf(word) == zipf_frequency(word, "en")


def test_so_is_the_name_of_every_medicine() -> None:
    names = {name for record in starter_records() for name in (record.name, *record.names)}
    assert {n: zipf(n) for n in names} == {n: zipf_frequency(n, "en") for n in names}
