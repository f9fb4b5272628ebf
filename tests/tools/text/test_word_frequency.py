"""Frequencies of English words are those of wordfreq."""

from __future__ import annotations

import pytest
from wordfreq import zipf_frequency

from tools.text.frequency import zipf

WORDS = ["the", "Croup", "stroke", "dexamethasone", "xqzzy", "heart-lung", "childhood-onset", "xqzzy-like", "post-"]
WORDS += ["-", "covid19", "naïve", "crohn's", "type 2", "", "12"]


@pytest.mark.parametrize("word", WORDS)
def test_a_word_is_as_frequent_as_wordfreq_says(word: str) -> None:
    assert zipf(word) == zipf_frequency(word, "en")
