"""No run of white space and no repeated fragment holds a processor for long, at the door or behind it."""

from __future__ import annotations

import time

import pytest

from agent.messages import check_message
from graphs.triage.revisions import TIDY
from support.search_words import starter_vocabulary
from tools.literature.privacy import begin
from tools.reading.replacing import side_of
from tools.text.abbreviations import IN_CONTEXT, expand
from tools.text.spaces import GAP

MOST = 20_000
SECONDS = 2.0
FRAGMENTS = [
    " ",
    "SOB HTN DM2 ",
    "a",
    "(",
    "( ",
    "- ",
    "我胸口疼，",
    "a-",
    "@a",
    "\n ",
    ", and ",
    "I was wrong  ",
    "\t",
]


@pytest.mark.parametrize("fragment", FRAGMENTS)
def test_twenty_thousand_characters_take_less_than_two_seconds(fragment: str) -> None:
    text = ("pain" + fragment * MOST)[: MOST - 5] + " pain"
    begin("warm", starter_vocabulary())
    side_of("warm", end=True)
    started = time.process_time()
    check_message(text, MOST)
    side_of(text, end=True)
    side_of(text, end=False)
    for pattern, into in (*TIDY, *IN_CONTEXT):
        pattern.sub(into, text)
    expand(text)
    begin(text, starter_vocabulary())
    assert time.process_time() - started < SECONDS


def test_runs_of_white_space_become_short_and_a_table_keeps_its_columns() -> None:
    said = check_message(f"pain{' ' * 9_000}pain\n{' ' * 500}\n\n\n\n\nNa    140\nK     4.1", MOST)
    assert said == f"pain{' ' * GAP}pain\n\n\nNa    140\nK     4.1"
